//===- composite_losses/model.mlir - Losses that other ops can say -*- mlir -*-===//
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

module @composite_losses {
  nn.record @sample {
    nn.field @x1_field : tensor<?x5xf32>
    nn.field @classes : tensor<?x5xf32>
    nn.field @hot : tensor<?x5xf32>
    nn.field @weight1 : tensor<?x1xf32>
    nn.field @weight2 : tensor<?x1xf32>
    nn.field @class : tensor<?x1xf32>
    nn.field @weight3 : tensor<?x5xf32>
    nn.field @weight4 : tensor<?x1xf32>
    nn.field @x7_field : tensor<?x4xf32>
    nn.field @labels : tensor<?x4xf32>
    nn.field @weight5 : tensor<?x4xf32>
    nn.field @x10_field : tensor<?x4xf32>
    nn.field @x12_field : tensor<?x4xf32>
    nn.field @weight6 : tensor<?x4xf32>
    nn.field @weight7 : tensor<?x4xf32>
    nn.field @weight8 : tensor<?x4xf32>
    nn.field @weight9 : tensor<?x4xf32>
    nn.field @x18_field : tensor<?x4xf32>
    nn.field @weight10 : tensor<?x4xf32>
    nn.field @weight11 : tensor<?x4xf32>
  }
  nn.group @descent rule(@sgd) rate(1.0)
  nn.param @x1_shift : tensor<5xf32> in @descent init(#nn.zeros)
  nn.param @x7_shift : tensor<4xf32> in @descent init(#nn.zeros)
  nn.param @x10_shift : tensor<4xf32> in @descent init(#nn.zeros)
  nn.param @x12_shift : tensor<4xf32> in @descent init(#nn.zeros)
  nn.param @x18_shift : tensor<4xf32> in @descent init(#nn.zeros)

  nn.func private @compute(%x1_field: tensor<?x5xf32>, %classes: tensor<?x5xf32>, %hot: tensor<?x5xf32>, %weight1: tensor<?x1xf32>, %weight2: tensor<?x1xf32>, %class: tensor<?x1xf32>, %weight3: tensor<?x5xf32>, %weight4: tensor<?x1xf32>, %x7_field: tensor<?x4xf32>, %labels: tensor<?x4xf32>, %weight5: tensor<?x4xf32>, %x10_field: tensor<?x4xf32>, %x12_field: tensor<?x4xf32>, %weight6: tensor<?x4xf32>, %weight7: tensor<?x4xf32>, %weight8: tensor<?x4xf32>, %weight9: tensor<?x4xf32>, %x18_field: tensor<?x4xf32>, %weight10: tensor<?x4xf32>, %weight11: tensor<?x4xf32>) -> (tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x5xf32>, tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) {
    %x1_shift = nn.read @x1_shift : tensor<5xf32>
    %v2 = nn.add %x1_field, %x1_shift : tensor<?x5xf32>, tensor<5xf32>
    %v3 = nn.softmax_cross_entropy %v2, %classes : tensor<?x5xf32>, tensor<?x5xf32>
    %v4 = nn.softmax_cross_entropy %v2, %hot : tensor<?x5xf32>, tensor<?x5xf32>
    %v5 = nn.one_hot %class classes 5 : tensor<?x1xf32>
    %v6 = nn.softmax_cross_entropy %v2, %v5 : tensor<?x5xf32>, tensor<?x5xf32>
    %x7_shift = nn.read @x7_shift : tensor<4xf32>
    %v8 = nn.add %x7_field, %x7_shift : tensor<?x4xf32>, tensor<4xf32>
    %v9 = nn.hinge_loss %v8, %labels : tensor<?x4xf32>
    %x10_shift = nn.read @x10_shift : tensor<4xf32>
    %v11 = nn.add %x10_field, %x10_shift : tensor<?x4xf32>, tensor<4xf32>
    %x12_shift = nn.read @x12_shift : tensor<4xf32>
    %v13 = nn.add %x12_field, %x12_shift : tensor<?x4xf32>, tensor<4xf32>
    %v14 = nn.bpr_loss %v11, %v13 : tensor<?x4xf32>
    %v15 = nn.rank_loss %v11, %v13, %labels : tensor<?x4xf32>
    %v16 = nn.huber_loss %v11, %v13 : tensor<?x4xf32>
    %v17 = nn.huber_loss %v11, %v13 delta 0.5 : tensor<?x4xf32>
    %x18_shift = nn.read @x18_shift : tensor<4xf32>
    %v19 = nn.add %x18_field, %x18_shift : tensor<?x4xf32>, tensor<4xf32>
    %v20 = nn.log_loss %v19, %labels : tensor<?x4xf32>
    %v21 = nn.log_loss %v19, %labels epsilon 1.0e-07 : tensor<?x4xf32>
    nn.return %v3, %v4, %v5, %v6, %v9, %v14, %v15, %v16, %v17, %v20, %v21 : tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x5xf32>, tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>
  }

  nn.program @train reads(@sample) {
  ^bb0(%x1_field: tensor<?x5xf32>, %classes: tensor<?x5xf32>, %hot: tensor<?x5xf32>, %weight1: tensor<?x1xf32>, %weight2: tensor<?x1xf32>, %class: tensor<?x1xf32>, %weight3: tensor<?x5xf32>, %weight4: tensor<?x1xf32>, %x7_field: tensor<?x4xf32>, %labels: tensor<?x4xf32>, %weight5: tensor<?x4xf32>, %x10_field: tensor<?x4xf32>, %x12_field: tensor<?x4xf32>, %weight6: tensor<?x4xf32>, %weight7: tensor<?x4xf32>, %weight8: tensor<?x4xf32>, %weight9: tensor<?x4xf32>, %x18_field: tensor<?x4xf32>, %weight10: tensor<?x4xf32>, %weight11: tensor<?x4xf32>):
    %r:11 = nn.call @compute(%x1_field, %classes, %hot, %weight1, %weight2, %class, %weight3, %weight4, %x7_field, %labels, %weight5, %x10_field, %x12_field, %weight6, %weight7, %weight8, %weight9, %x18_field, %weight10, %weight11) : (tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x5xf32>, tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> (tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x5xf32>, tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>)
    %product0 = nn.mul %r#0, %weight1 : tensor<?x1xf32>, tensor<?x1xf32>
    %term0 = nn.reduce sum %product0 axes [1] keep : tensor<?x1xf32>
    %product1 = nn.mul %r#1, %weight2 : tensor<?x1xf32>, tensor<?x1xf32>
    %term1 = nn.reduce sum %product1 axes [1] keep : tensor<?x1xf32>
    %total1 = nn.add %term0, %term1 : tensor<?x1xf32>, tensor<?x1xf32>
    %product2 = nn.mul %r#2, %weight3 : tensor<?x5xf32>, tensor<?x5xf32>
    %term2 = nn.reduce sum %product2 axes [1] keep : tensor<?x5xf32>
    %total2 = nn.add %total1, %term2 : tensor<?x1xf32>, tensor<?x1xf32>
    %product3 = nn.mul %r#3, %weight4 : tensor<?x1xf32>, tensor<?x1xf32>
    %term3 = nn.reduce sum %product3 axes [1] keep : tensor<?x1xf32>
    %total3 = nn.add %total2, %term3 : tensor<?x1xf32>, tensor<?x1xf32>
    %product4 = nn.mul %r#4, %weight5 : tensor<?x4xf32>, tensor<?x4xf32>
    %term4 = nn.reduce sum %product4 axes [1] keep : tensor<?x4xf32>
    %total4 = nn.add %total3, %term4 : tensor<?x1xf32>, tensor<?x1xf32>
    %product5 = nn.mul %r#5, %weight6 : tensor<?x4xf32>, tensor<?x4xf32>
    %term5 = nn.reduce sum %product5 axes [1] keep : tensor<?x4xf32>
    %total5 = nn.add %total4, %term5 : tensor<?x1xf32>, tensor<?x1xf32>
    %product6 = nn.mul %r#6, %weight7 : tensor<?x4xf32>, tensor<?x4xf32>
    %term6 = nn.reduce sum %product6 axes [1] keep : tensor<?x4xf32>
    %total6 = nn.add %total5, %term6 : tensor<?x1xf32>, tensor<?x1xf32>
    %product7 = nn.mul %r#7, %weight8 : tensor<?x4xf32>, tensor<?x4xf32>
    %term7 = nn.reduce sum %product7 axes [1] keep : tensor<?x4xf32>
    %total7 = nn.add %total6, %term7 : tensor<?x1xf32>, tensor<?x1xf32>
    %product8 = nn.mul %r#8, %weight9 : tensor<?x4xf32>, tensor<?x4xf32>
    %term8 = nn.reduce sum %product8 axes [1] keep : tensor<?x4xf32>
    %total8 = nn.add %total7, %term8 : tensor<?x1xf32>, tensor<?x1xf32>
    %product9 = nn.mul %r#9, %weight10 : tensor<?x4xf32>, tensor<?x4xf32>
    %term9 = nn.reduce sum %product9 axes [1] keep : tensor<?x4xf32>
    %total9 = nn.add %total8, %term9 : tensor<?x1xf32>, tensor<?x1xf32>
    %product10 = nn.mul %r#10, %weight11 : tensor<?x4xf32>, tensor<?x4xf32>
    %term10 = nn.reduce sum %product10 axes [1] keep : tensor<?x4xf32>
    %total10 = nn.add %total9, %term10 : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %total10 over [@descent] : tensor<?x1xf32>
  }

  nn.program @predict frozen reads(@sample) {
  ^bb0(%x1_field: tensor<?x5xf32>, %classes: tensor<?x5xf32>, %hot: tensor<?x5xf32>, %weight1: tensor<?x1xf32>, %weight2: tensor<?x1xf32>, %class: tensor<?x1xf32>, %weight3: tensor<?x5xf32>, %weight4: tensor<?x1xf32>, %x7_field: tensor<?x4xf32>, %labels: tensor<?x4xf32>, %weight5: tensor<?x4xf32>, %x10_field: tensor<?x4xf32>, %x12_field: tensor<?x4xf32>, %weight6: tensor<?x4xf32>, %weight7: tensor<?x4xf32>, %weight8: tensor<?x4xf32>, %weight9: tensor<?x4xf32>, %x18_field: tensor<?x4xf32>, %weight10: tensor<?x4xf32>, %weight11: tensor<?x4xf32>):
    %r:11 = nn.call @compute(%x1_field, %classes, %hot, %weight1, %weight2, %class, %weight3, %weight4, %x7_field, %labels, %weight5, %x10_field, %x12_field, %weight6, %weight7, %weight8, %weight9, %x18_field, %weight10, %weight11) : (tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x5xf32>, tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> (tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x5xf32>, tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>)
    nn.return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7, %r#8, %r#9, %r#10 : tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x5xf32>, tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>
  }
}
