//===- mixing/model.mlir - Samples of one batch beside each other -*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Written by integration_test/oracles/generate_op_goldens.py.
//
//===----------------------------------------------------------------------===//

module @mixing {
  nn.record @sample {
    nn.field @x1_field : tensor<?x5xf32>
    nn.field @x3_field : tensor<?x5xf32>
    nn.field @correction : tensor<?x1xf32>
    nn.field @ids : tensor<?x1xi64>
    nn.field @weight1 : tensor<?x1xf32>
    nn.field @weight2 : tensor<?x1xf32>
    nn.field @weight3 : tensor<?x1xf32>
    nn.field @weight4 : tensor<?x1xf32>
    nn.field @weight5 : tensor<?x5xf32>
    nn.field @weight6 : tensor<?x5xf32>
    nn.field @weight7 : tensor<?x5xf32>
    nn.field @weight8 : tensor<?x5xf32>
    nn.field @weight9 : tensor<?x5xf32>
    nn.field @x14_field : tensor<?x6xf32>
    nn.field @weight10 : tensor<?x6xf32>
    nn.field @weight11 : tensor<?x1xf32>
  }
  nn.group @descent rule(@sgd) rate(1.0)
  nn.param @x1_shift : tensor<5xf32> in @descent init(#nn.zeros)
  nn.param @x3_shift : tensor<5xf32> in @descent init(#nn.zeros)
  nn.param @x14_shift : tensor<6xf32> in @descent init(#nn.zeros)
  nn.table @item_rows : i64 -> tensor<5xf32> in @descent init(#nn.zeros)

  nn.func private @compute(%x1_field: tensor<?x5xf32>, %x3_field: tensor<?x5xf32>, %correction: tensor<?x1xf32>, %ids: tensor<?x1xi64>, %weight1: tensor<?x1xf32>, %weight2: tensor<?x1xf32>, %weight3: tensor<?x1xf32>, %weight4: tensor<?x1xf32>, %weight5: tensor<?x5xf32>, %weight6: tensor<?x5xf32>, %weight7: tensor<?x5xf32>, %weight8: tensor<?x5xf32>, %weight9: tensor<?x5xf32>, %x14_field: tensor<?x6xf32>, %weight10: tensor<?x6xf32>, %weight11: tensor<?x1xf32>) -> (tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x2x3xf32>, tensor<?x1xf32>) {
    %x1_shift = nn.read @x1_shift : tensor<5xf32>
    %v2 = nn.add %x1_field, %x1_shift : tensor<?x5xf32>, tensor<5xf32>
    %x3_shift = nn.read @x3_shift : tensor<5xf32>
    %v4 = nn.add %x3_field, %x3_shift : tensor<?x5xf32>, tensor<5xf32>
    %v5 = nn.in_batch_softmax %v2, %v4 : tensor<?x5xf32>, tensor<?x5xf32>
    %v6 = nn.in_batch_softmax %v2, %v4 ids %ids : tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x1xi64>
    %v7 = nn.in_batch_softmax %v2, %v4 correction %correction : tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x1xf32>
    %v8 = nn.in_batch_softmax %v2, %v4 correction %correction ids %ids : tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x1xf32>, tensor<?x1xi64>
    %v9 = nn.rotate %v4 by 1 : tensor<?x5xf32>
    %v10 = nn.rotate %v4 by -3 : tensor<?x5xf32>
    %v11 = nn.rotate %v4 by 0 : tensor<?x5xf32>
    %v12 = nn.rotate %v4 by 8 : tensor<?x5xf32>
    %v13 = nn.rotate %v4 by 11 : tensor<?x5xf32>
    %x14_shift = nn.read @x14_shift : tensor<6xf32>
    %v15 = nn.add %x14_field, %x14_shift : tensor<?x6xf32>, tensor<6xf32>
    %v16 = nn.reshape %v15 : (tensor<?x6xf32>) -> tensor<?x2x3xf32>
    %v17 = nn.rotate %v16 by 2 : tensor<?x2x3xf32>
    %v18 = nn.mul %v2, %v4 : tensor<?x5xf32>, tensor<?x5xf32>
    %v19 = nn.reduce sum %v18 axes [1] keep : tensor<?x5xf32>
    %v20 = nn.rotate %ids by 1 : tensor<?x1xi64>
    %v21 = nn.lookup @item_rows[%v20] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x5xf32>
    %v22 = nn.reshape %v21 : (tensor<?x1x5xf32>) -> tensor<?x5xf32>
    %v23 = nn.mul %v2, %v22 : tensor<?x5xf32>, tensor<?x5xf32>
    %v24 = nn.reduce sum %v23 axes [1] keep : tensor<?x5xf32>
    %v25 = nn.bpr_loss %v19, %v24 : tensor<?x1xf32>
    nn.return %v5, %v6, %v7, %v8, %v9, %v10, %v11, %v12, %v13, %v17, %v25 : tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x2x3xf32>, tensor<?x1xf32>
  }

  nn.program @train reads(@sample) {
  ^bb0(%x1_field: tensor<?x5xf32>, %x3_field: tensor<?x5xf32>, %correction: tensor<?x1xf32>, %ids: tensor<?x1xi64>, %weight1: tensor<?x1xf32>, %weight2: tensor<?x1xf32>, %weight3: tensor<?x1xf32>, %weight4: tensor<?x1xf32>, %weight5: tensor<?x5xf32>, %weight6: tensor<?x5xf32>, %weight7: tensor<?x5xf32>, %weight8: tensor<?x5xf32>, %weight9: tensor<?x5xf32>, %x14_field: tensor<?x6xf32>, %weight10: tensor<?x6xf32>, %weight11: tensor<?x1xf32>):
    %r:11 = nn.call @compute(%x1_field, %x3_field, %correction, %ids, %weight1, %weight2, %weight3, %weight4, %weight5, %weight6, %weight7, %weight8, %weight9, %x14_field, %weight10, %weight11) : (tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x1xf32>, tensor<?x1xi64>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x1xf32>) -> (tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x2x3xf32>, tensor<?x1xf32>)
    %product0 = nn.mul %r#0, %weight1 : tensor<?x1xf32>, tensor<?x1xf32>
    %term0 = nn.reduce sum %product0 axes [1] keep : tensor<?x1xf32>
    %product1 = nn.mul %r#1, %weight2 : tensor<?x1xf32>, tensor<?x1xf32>
    %term1 = nn.reduce sum %product1 axes [1] keep : tensor<?x1xf32>
    %total1 = nn.add %term0, %term1 : tensor<?x1xf32>, tensor<?x1xf32>
    %product2 = nn.mul %r#2, %weight3 : tensor<?x1xf32>, tensor<?x1xf32>
    %term2 = nn.reduce sum %product2 axes [1] keep : tensor<?x1xf32>
    %total2 = nn.add %total1, %term2 : tensor<?x1xf32>, tensor<?x1xf32>
    %product3 = nn.mul %r#3, %weight4 : tensor<?x1xf32>, tensor<?x1xf32>
    %term3 = nn.reduce sum %product3 axes [1] keep : tensor<?x1xf32>
    %total3 = nn.add %total2, %term3 : tensor<?x1xf32>, tensor<?x1xf32>
    %product4 = nn.mul %r#4, %weight5 : tensor<?x5xf32>, tensor<?x5xf32>
    %term4 = nn.reduce sum %product4 axes [1] keep : tensor<?x5xf32>
    %total4 = nn.add %total3, %term4 : tensor<?x1xf32>, tensor<?x1xf32>
    %product5 = nn.mul %r#5, %weight6 : tensor<?x5xf32>, tensor<?x5xf32>
    %term5 = nn.reduce sum %product5 axes [1] keep : tensor<?x5xf32>
    %total5 = nn.add %total4, %term5 : tensor<?x1xf32>, tensor<?x1xf32>
    %product6 = nn.mul %r#6, %weight7 : tensor<?x5xf32>, tensor<?x5xf32>
    %term6 = nn.reduce sum %product6 axes [1] keep : tensor<?x5xf32>
    %total6 = nn.add %total5, %term6 : tensor<?x1xf32>, tensor<?x1xf32>
    %product7 = nn.mul %r#7, %weight8 : tensor<?x5xf32>, tensor<?x5xf32>
    %term7 = nn.reduce sum %product7 axes [1] keep : tensor<?x5xf32>
    %total7 = nn.add %total6, %term7 : tensor<?x1xf32>, tensor<?x1xf32>
    %product8 = nn.mul %r#8, %weight9 : tensor<?x5xf32>, tensor<?x5xf32>
    %term8 = nn.reduce sum %product8 axes [1] keep : tensor<?x5xf32>
    %total8 = nn.add %total7, %term8 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat9 = nn.reshape %r#9 : (tensor<?x2x3xf32>) -> tensor<?x6xf32>
    %product9 = nn.mul %flat9, %weight10 : tensor<?x6xf32>, tensor<?x6xf32>
    %term9 = nn.reduce sum %product9 axes [1] keep : tensor<?x6xf32>
    %total9 = nn.add %total8, %term9 : tensor<?x1xf32>, tensor<?x1xf32>
    %product10 = nn.mul %r#10, %weight11 : tensor<?x1xf32>, tensor<?x1xf32>
    %term10 = nn.reduce sum %product10 axes [1] keep : tensor<?x1xf32>
    %total10 = nn.add %total9, %term10 : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %total10 over [@descent] : tensor<?x1xf32>
  }

  nn.program @predict frozen reads(@sample) {
  ^bb0(%x1_field: tensor<?x5xf32>, %x3_field: tensor<?x5xf32>, %correction: tensor<?x1xf32>, %ids: tensor<?x1xi64>, %weight1: tensor<?x1xf32>, %weight2: tensor<?x1xf32>, %weight3: tensor<?x1xf32>, %weight4: tensor<?x1xf32>, %weight5: tensor<?x5xf32>, %weight6: tensor<?x5xf32>, %weight7: tensor<?x5xf32>, %weight8: tensor<?x5xf32>, %weight9: tensor<?x5xf32>, %x14_field: tensor<?x6xf32>, %weight10: tensor<?x6xf32>, %weight11: tensor<?x1xf32>):
    %r:11 = nn.call @compute(%x1_field, %x3_field, %correction, %ids, %weight1, %weight2, %weight3, %weight4, %weight5, %weight6, %weight7, %weight8, %weight9, %x14_field, %weight10, %weight11) : (tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x1xf32>, tensor<?x1xi64>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x1xf32>) -> (tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x2x3xf32>, tensor<?x1xf32>)
    nn.return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7, %r#8, %r#9, %r#10 : tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x2x3xf32>, tensor<?x1xf32>
  }
}
