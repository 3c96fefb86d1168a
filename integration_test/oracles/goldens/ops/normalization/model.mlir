//===- normalization/model.mlir - Softmax, layer norm, rows of length 1 -*- mlir -*-===//
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

module @normalization {
  nn.record @sample {
    nn.field @x1_field : tensor<?x6xf32>
    nn.field @x3_field : tensor<?x24xf32>
    nn.field @weight1 : tensor<?x6xf32>
    nn.field @weight2 : tensor<?x24xf32>
    nn.field @weight3 : tensor<?x24xf32>
    nn.field @weight4 : tensor<?x15xf32>
    nn.field @weight5 : tensor<?x6xf32>
    nn.field @weight6 : tensor<?x24xf32>
    nn.field @weight7 : tensor<?x24xf32>
    nn.field @weight8 : tensor<?x15xf32>
    nn.field @weight9 : tensor<?x6xf32>
    nn.field @weight10 : tensor<?x6xf32>
    nn.field @weight11 : tensor<?x6xf32>
    nn.field @weight12 : tensor<?x24xf32>
    nn.field @x24_field : tensor<?x6xf32>
    nn.field @weight13 : tensor<?x6xf32>
    nn.field @x27_field : tensor<?x6xf32>
    nn.field @weight14 : tensor<?x6xf32>
    nn.field @weight15 : tensor<?x1xf32>
  }
  nn.group @descent rule(@sgd) rate(1.0)
  nn.param @x1_shift : tensor<6xf32> in @descent init(#nn.zeros)
  nn.param @x3_shift : tensor<24xf32> in @descent init(#nn.zeros)
  nn.param @fixed : tensor<3x5xf32> in @descent init(#nn.zeros)
  nn.param @scale : tensor<6xf32> in @descent init(#nn.zeros)
  nn.param @shift : tensor<6xf32> in @descent init(#nn.zeros)
  nn.param @x24_shift : tensor<6xf32> in @descent init(#nn.zeros)
  nn.param @x27_shift : tensor<6xf32> in @descent init(#nn.zeros)

  nn.func private @compute(%x1_field: tensor<?x6xf32>, %x3_field: tensor<?x24xf32>, %weight1: tensor<?x6xf32>, %weight2: tensor<?x24xf32>, %weight3: tensor<?x24xf32>, %weight4: tensor<?x15xf32>, %weight5: tensor<?x6xf32>, %weight6: tensor<?x24xf32>, %weight7: tensor<?x24xf32>, %weight8: tensor<?x15xf32>, %weight9: tensor<?x6xf32>, %weight10: tensor<?x6xf32>, %weight11: tensor<?x6xf32>, %weight12: tensor<?x24xf32>, %x24_field: tensor<?x6xf32>, %weight13: tensor<?x6xf32>, %x27_field: tensor<?x6xf32>, %weight14: tensor<?x6xf32>, %weight15: tensor<?x1xf32>) -> (tensor<?x6xf32>, tensor<?x4x6xf32>, tensor<?x4x6xf32>, tensor<?x15xf32>, tensor<?x6xf32>, tensor<?x4x6xf32>, tensor<?x4x6xf32>, tensor<?x15xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x4x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x1xf32>) {
    %x1_shift = nn.read @x1_shift : tensor<6xf32>
    %v2 = nn.add %x1_field, %x1_shift : tensor<?x6xf32>, tensor<6xf32>
    %x3_shift = nn.read @x3_shift : tensor<24xf32>
    %v4 = nn.add %x3_field, %x3_shift : tensor<?x24xf32>, tensor<24xf32>
    %v5 = nn.reshape %v4 : (tensor<?x24xf32>) -> tensor<?x4x6xf32>
    %fixed = nn.read @fixed : tensor<3x5xf32>
    %v6 = nn.softmax %v2 axis 1 : tensor<?x6xf32>
    %v7 = nn.softmax %v5 axis 2 : tensor<?x4x6xf32>
    %v8 = nn.softmax %v5 axis 1 : tensor<?x4x6xf32>
    %v9 = nn.softmax %fixed axis 0 : tensor<3x5xf32>
    %v10 = nn.reshape %v9 : (tensor<3x5xf32>) -> tensor<15xf32>
    %v11 = nn.slice %x1_field axis 1 offset 0 size 1 : tensor<?x6xf32>
    %v12 = nn.broadcast %v10 like %v11 : (tensor<15xf32>, tensor<?x1xf32>) -> tensor<?x15xf32>
    %v13 = nn.log_softmax %v2 axis 1 : tensor<?x6xf32>
    %v14 = nn.log_softmax %v5 axis 2 : tensor<?x4x6xf32>
    %v15 = nn.log_softmax %v5 axis 1 : tensor<?x4x6xf32>
    %v16 = nn.log_softmax %fixed axis 0 : tensor<3x5xf32>
    %v17 = nn.reshape %v16 : (tensor<3x5xf32>) -> tensor<15xf32>
    %v18 = nn.slice %x1_field axis 1 offset 0 size 1 : tensor<?x6xf32>
    %v19 = nn.broadcast %v17 like %v18 : (tensor<15xf32>, tensor<?x1xf32>) -> tensor<?x15xf32>
    %scale = nn.read @scale : tensor<6xf32>
    %shift = nn.read @shift : tensor<6xf32>
    %v20 = nn.layer_norm %v2 : tensor<?x6xf32>
    %v21 = nn.layer_norm %v2 scale %scale : tensor<?x6xf32>, tensor<6xf32>
    %v22 = nn.layer_norm %v2 scale %scale shift %shift epsilon 0.25 : tensor<?x6xf32>, tensor<6xf32>, tensor<6xf32>
    %v23 = nn.layer_norm %v5 scale %scale shift %shift : tensor<?x4x6xf32>, tensor<6xf32>, tensor<6xf32>
    %x24_shift = nn.read @x24_shift : tensor<6xf32>
    %v25 = nn.add %x24_field, %x24_shift : tensor<?x6xf32>, tensor<6xf32>
    %v26 = nn.l2_normalize %v25 : tensor<?x6xf32>
    %x27_shift = nn.read @x27_shift : tensor<6xf32>
    %v28 = nn.add %x27_field, %x27_shift : tensor<?x6xf32>, tensor<6xf32>
    %v29 = nn.l2_normalize %v28 epsilon 0.5 : tensor<?x6xf32>
    %v30 = nn.cosine_similarity %v25, %v2 : tensor<?x6xf32>, tensor<?x6xf32>
    nn.return %v6, %v7, %v8, %v12, %v13, %v14, %v15, %v19, %v20, %v21, %v22, %v23, %v26, %v29, %v30 : tensor<?x6xf32>, tensor<?x4x6xf32>, tensor<?x4x6xf32>, tensor<?x15xf32>, tensor<?x6xf32>, tensor<?x4x6xf32>, tensor<?x4x6xf32>, tensor<?x15xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x4x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x1xf32>
  }

  nn.program @train reads(@sample) {
  ^bb0(%x1_field: tensor<?x6xf32>, %x3_field: tensor<?x24xf32>, %weight1: tensor<?x6xf32>, %weight2: tensor<?x24xf32>, %weight3: tensor<?x24xf32>, %weight4: tensor<?x15xf32>, %weight5: tensor<?x6xf32>, %weight6: tensor<?x24xf32>, %weight7: tensor<?x24xf32>, %weight8: tensor<?x15xf32>, %weight9: tensor<?x6xf32>, %weight10: tensor<?x6xf32>, %weight11: tensor<?x6xf32>, %weight12: tensor<?x24xf32>, %x24_field: tensor<?x6xf32>, %weight13: tensor<?x6xf32>, %x27_field: tensor<?x6xf32>, %weight14: tensor<?x6xf32>, %weight15: tensor<?x1xf32>):
    %r:15 = nn.call @compute(%x1_field, %x3_field, %weight1, %weight2, %weight3, %weight4, %weight5, %weight6, %weight7, %weight8, %weight9, %weight10, %weight11, %weight12, %x24_field, %weight13, %x27_field, %weight14, %weight15) : (tensor<?x6xf32>, tensor<?x24xf32>, tensor<?x6xf32>, tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x15xf32>, tensor<?x6xf32>, tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x15xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x24xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x1xf32>) -> (tensor<?x6xf32>, tensor<?x4x6xf32>, tensor<?x4x6xf32>, tensor<?x15xf32>, tensor<?x6xf32>, tensor<?x4x6xf32>, tensor<?x4x6xf32>, tensor<?x15xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x4x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x1xf32>)
    %product0 = nn.mul %r#0, %weight1 : tensor<?x6xf32>, tensor<?x6xf32>
    %term0 = nn.reduce sum %product0 axes [1] keep : tensor<?x6xf32>
    %flat1 = nn.reshape %r#1 : (tensor<?x4x6xf32>) -> tensor<?x24xf32>
    %product1 = nn.mul %flat1, %weight2 : tensor<?x24xf32>, tensor<?x24xf32>
    %term1 = nn.reduce sum %product1 axes [1] keep : tensor<?x24xf32>
    %total1 = nn.add %term0, %term1 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat2 = nn.reshape %r#2 : (tensor<?x4x6xf32>) -> tensor<?x24xf32>
    %product2 = nn.mul %flat2, %weight3 : tensor<?x24xf32>, tensor<?x24xf32>
    %term2 = nn.reduce sum %product2 axes [1] keep : tensor<?x24xf32>
    %total2 = nn.add %total1, %term2 : tensor<?x1xf32>, tensor<?x1xf32>
    %product3 = nn.mul %r#3, %weight4 : tensor<?x15xf32>, tensor<?x15xf32>
    %term3 = nn.reduce sum %product3 axes [1] keep : tensor<?x15xf32>
    %total3 = nn.add %total2, %term3 : tensor<?x1xf32>, tensor<?x1xf32>
    %product4 = nn.mul %r#4, %weight5 : tensor<?x6xf32>, tensor<?x6xf32>
    %term4 = nn.reduce sum %product4 axes [1] keep : tensor<?x6xf32>
    %total4 = nn.add %total3, %term4 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat5 = nn.reshape %r#5 : (tensor<?x4x6xf32>) -> tensor<?x24xf32>
    %product5 = nn.mul %flat5, %weight6 : tensor<?x24xf32>, tensor<?x24xf32>
    %term5 = nn.reduce sum %product5 axes [1] keep : tensor<?x24xf32>
    %total5 = nn.add %total4, %term5 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat6 = nn.reshape %r#6 : (tensor<?x4x6xf32>) -> tensor<?x24xf32>
    %product6 = nn.mul %flat6, %weight7 : tensor<?x24xf32>, tensor<?x24xf32>
    %term6 = nn.reduce sum %product6 axes [1] keep : tensor<?x24xf32>
    %total6 = nn.add %total5, %term6 : tensor<?x1xf32>, tensor<?x1xf32>
    %product7 = nn.mul %r#7, %weight8 : tensor<?x15xf32>, tensor<?x15xf32>
    %term7 = nn.reduce sum %product7 axes [1] keep : tensor<?x15xf32>
    %total7 = nn.add %total6, %term7 : tensor<?x1xf32>, tensor<?x1xf32>
    %product8 = nn.mul %r#8, %weight9 : tensor<?x6xf32>, tensor<?x6xf32>
    %term8 = nn.reduce sum %product8 axes [1] keep : tensor<?x6xf32>
    %total8 = nn.add %total7, %term8 : tensor<?x1xf32>, tensor<?x1xf32>
    %product9 = nn.mul %r#9, %weight10 : tensor<?x6xf32>, tensor<?x6xf32>
    %term9 = nn.reduce sum %product9 axes [1] keep : tensor<?x6xf32>
    %total9 = nn.add %total8, %term9 : tensor<?x1xf32>, tensor<?x1xf32>
    %product10 = nn.mul %r#10, %weight11 : tensor<?x6xf32>, tensor<?x6xf32>
    %term10 = nn.reduce sum %product10 axes [1] keep : tensor<?x6xf32>
    %total10 = nn.add %total9, %term10 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat11 = nn.reshape %r#11 : (tensor<?x4x6xf32>) -> tensor<?x24xf32>
    %product11 = nn.mul %flat11, %weight12 : tensor<?x24xf32>, tensor<?x24xf32>
    %term11 = nn.reduce sum %product11 axes [1] keep : tensor<?x24xf32>
    %total11 = nn.add %total10, %term11 : tensor<?x1xf32>, tensor<?x1xf32>
    %product12 = nn.mul %r#12, %weight13 : tensor<?x6xf32>, tensor<?x6xf32>
    %term12 = nn.reduce sum %product12 axes [1] keep : tensor<?x6xf32>
    %total12 = nn.add %total11, %term12 : tensor<?x1xf32>, tensor<?x1xf32>
    %product13 = nn.mul %r#13, %weight14 : tensor<?x6xf32>, tensor<?x6xf32>
    %term13 = nn.reduce sum %product13 axes [1] keep : tensor<?x6xf32>
    %total13 = nn.add %total12, %term13 : tensor<?x1xf32>, tensor<?x1xf32>
    %product14 = nn.mul %r#14, %weight15 : tensor<?x1xf32>, tensor<?x1xf32>
    %term14 = nn.reduce sum %product14 axes [1] keep : tensor<?x1xf32>
    %total14 = nn.add %total13, %term14 : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %total14 over [@descent] : tensor<?x1xf32>
  }

  nn.program @predict frozen reads(@sample) {
  ^bb0(%x1_field: tensor<?x6xf32>, %x3_field: tensor<?x24xf32>, %weight1: tensor<?x6xf32>, %weight2: tensor<?x24xf32>, %weight3: tensor<?x24xf32>, %weight4: tensor<?x15xf32>, %weight5: tensor<?x6xf32>, %weight6: tensor<?x24xf32>, %weight7: tensor<?x24xf32>, %weight8: tensor<?x15xf32>, %weight9: tensor<?x6xf32>, %weight10: tensor<?x6xf32>, %weight11: tensor<?x6xf32>, %weight12: tensor<?x24xf32>, %x24_field: tensor<?x6xf32>, %weight13: tensor<?x6xf32>, %x27_field: tensor<?x6xf32>, %weight14: tensor<?x6xf32>, %weight15: tensor<?x1xf32>):
    %r:15 = nn.call @compute(%x1_field, %x3_field, %weight1, %weight2, %weight3, %weight4, %weight5, %weight6, %weight7, %weight8, %weight9, %weight10, %weight11, %weight12, %x24_field, %weight13, %x27_field, %weight14, %weight15) : (tensor<?x6xf32>, tensor<?x24xf32>, tensor<?x6xf32>, tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x15xf32>, tensor<?x6xf32>, tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x15xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x24xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x1xf32>) -> (tensor<?x6xf32>, tensor<?x4x6xf32>, tensor<?x4x6xf32>, tensor<?x15xf32>, tensor<?x6xf32>, tensor<?x4x6xf32>, tensor<?x4x6xf32>, tensor<?x15xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x4x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x1xf32>)
    nn.return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7, %r#8, %r#9, %r#10, %r#11, %r#12, %r#13, %r#14 : tensor<?x6xf32>, tensor<?x4x6xf32>, tensor<?x4x6xf32>, tensor<?x15xf32>, tensor<?x6xf32>, tensor<?x4x6xf32>, tensor<?x4x6xf32>, tensor<?x15xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x4x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x1xf32>
  }
}
