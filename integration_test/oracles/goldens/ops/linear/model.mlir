//===- linear/model.mlir - Linear layers with each activation -*- mlir -*-===//
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

module @linear {
  nn.record @sample {
    nn.field @x1_field : tensor<?x5xf32>
    nn.field @weight1 : tensor<?x3xf32>
    nn.field @x4_field : tensor<?x5xf32>
    nn.field @weight2 : tensor<?x3xf32>
    nn.field @x7_field : tensor<?x5xf32>
    nn.field @weight3 : tensor<?x3xf32>
    nn.field @x10_field : tensor<?x5xf32>
    nn.field @weight4 : tensor<?x3xf32>
    nn.field @x13_field : tensor<?x5xf32>
    nn.field @weight5 : tensor<?x3xf32>
    nn.field @x16_field : tensor<?x5xf32>
    nn.field @weight6 : tensor<?x3xf32>
    nn.field @x19_field : tensor<?x5xf32>
    nn.field @weight7 : tensor<?x3xf32>
    nn.field @x22_field : tensor<?x5xf32>
    nn.field @weight8 : tensor<?x3xf32>
    nn.field @x25_field : tensor<?x4xf32>
    nn.field @weight9 : tensor<?x2xf32>
  }
  nn.group @descent rule(@sgd) rate(1.0)
  nn.param @x1_shift : tensor<5xf32> in @descent init(#nn.zeros)
  nn.param @none_w : tensor<5x3xf32> in @descent init(#nn.xavier)
  nn.param @none_b : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x4_shift : tensor<5xf32> in @descent init(#nn.zeros)
  nn.param @none_plain_w : tensor<5x3xf32> in @descent init(#nn.xavier)
  nn.param @x7_shift : tensor<5xf32> in @descent init(#nn.zeros)
  nn.param @relu_w : tensor<5x3xf32> in @descent init(#nn.xavier)
  nn.param @relu_b : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x10_shift : tensor<5xf32> in @descent init(#nn.zeros)
  nn.param @relu_plain_w : tensor<5x3xf32> in @descent init(#nn.xavier)
  nn.param @x13_shift : tensor<5xf32> in @descent init(#nn.zeros)
  nn.param @sigmoid_w : tensor<5x3xf32> in @descent init(#nn.xavier)
  nn.param @sigmoid_b : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x16_shift : tensor<5xf32> in @descent init(#nn.zeros)
  nn.param @sigmoid_plain_w : tensor<5x3xf32> in @descent init(#nn.xavier)
  nn.param @x19_shift : tensor<5xf32> in @descent init(#nn.zeros)
  nn.param @tanh_w : tensor<5x3xf32> in @descent init(#nn.xavier)
  nn.param @tanh_b : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x22_shift : tensor<5xf32> in @descent init(#nn.zeros)
  nn.param @tanh_plain_w : tensor<5x3xf32> in @descent init(#nn.xavier)
  nn.param @x25_shift : tensor<4xf32> in @descent init(#nn.zeros)
  nn.param @first_w : tensor<4x6xf32> in @descent init(#nn.zeros)
  nn.param @first_b : tensor<6xf32> in @descent init(#nn.zeros)
  nn.state @second_w : tensor<6x2xf32> init(#nn.zeros)
  nn.param @second_b : tensor<2xf32> in @descent init(#nn.zeros)

  nn.func private @compute(%x1_field: tensor<?x5xf32>, %weight1: tensor<?x3xf32>, %x4_field: tensor<?x5xf32>, %weight2: tensor<?x3xf32>, %x7_field: tensor<?x5xf32>, %weight3: tensor<?x3xf32>, %x10_field: tensor<?x5xf32>, %weight4: tensor<?x3xf32>, %x13_field: tensor<?x5xf32>, %weight5: tensor<?x3xf32>, %x16_field: tensor<?x5xf32>, %weight6: tensor<?x3xf32>, %x19_field: tensor<?x5xf32>, %weight7: tensor<?x3xf32>, %x22_field: tensor<?x5xf32>, %weight8: tensor<?x3xf32>, %x25_field: tensor<?x4xf32>, %weight9: tensor<?x2xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x2xf32>) {
    %x1_shift = nn.read @x1_shift : tensor<5xf32>
    %v2 = nn.add %x1_field, %x1_shift : tensor<?x5xf32>, tensor<5xf32>
    %v3 = nn.linear %v2, @none_w, @none_b : (tensor<?x5xf32>) -> tensor<?x3xf32>
    %x4_shift = nn.read @x4_shift : tensor<5xf32>
    %v5 = nn.add %x4_field, %x4_shift : tensor<?x5xf32>, tensor<5xf32>
    %v6 = nn.linear %v5, @none_plain_w : (tensor<?x5xf32>) -> tensor<?x3xf32>
    %x7_shift = nn.read @x7_shift : tensor<5xf32>
    %v8 = nn.add %x7_field, %x7_shift : tensor<?x5xf32>, tensor<5xf32>
    %v9 = nn.linear %v8, @relu_w, @relu_b act(relu) : (tensor<?x5xf32>) -> tensor<?x3xf32>
    %x10_shift = nn.read @x10_shift : tensor<5xf32>
    %v11 = nn.add %x10_field, %x10_shift : tensor<?x5xf32>, tensor<5xf32>
    %v12 = nn.linear %v11, @relu_plain_w act(relu) : (tensor<?x5xf32>) -> tensor<?x3xf32>
    %x13_shift = nn.read @x13_shift : tensor<5xf32>
    %v14 = nn.add %x13_field, %x13_shift : tensor<?x5xf32>, tensor<5xf32>
    %v15 = nn.linear %v14, @sigmoid_w, @sigmoid_b act(sigmoid) : (tensor<?x5xf32>) -> tensor<?x3xf32>
    %x16_shift = nn.read @x16_shift : tensor<5xf32>
    %v17 = nn.add %x16_field, %x16_shift : tensor<?x5xf32>, tensor<5xf32>
    %v18 = nn.linear %v17, @sigmoid_plain_w act(sigmoid) : (tensor<?x5xf32>) -> tensor<?x3xf32>
    %x19_shift = nn.read @x19_shift : tensor<5xf32>
    %v20 = nn.add %x19_field, %x19_shift : tensor<?x5xf32>, tensor<5xf32>
    %v21 = nn.linear %v20, @tanh_w, @tanh_b act(tanh) : (tensor<?x5xf32>) -> tensor<?x3xf32>
    %x22_shift = nn.read @x22_shift : tensor<5xf32>
    %v23 = nn.add %x22_field, %x22_shift : tensor<?x5xf32>, tensor<5xf32>
    %v24 = nn.linear %v23, @tanh_plain_w act(tanh) : (tensor<?x5xf32>) -> tensor<?x3xf32>
    %x25_shift = nn.read @x25_shift : tensor<4xf32>
    %v26 = nn.add %x25_field, %x25_shift : tensor<?x4xf32>, tensor<4xf32>
    %v27 = nn.linear %v26, @first_w, @first_b act(relu) : (tensor<?x4xf32>) -> tensor<?x6xf32>
    %v28 = nn.linear %v27, @second_w, @second_b : (tensor<?x6xf32>) -> tensor<?x2xf32>
    nn.return %v3, %v6, %v9, %v12, %v15, %v18, %v21, %v24, %v28 : tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x2xf32>
  }

  nn.program @train reads(@sample) {
  ^bb0(%x1_field: tensor<?x5xf32>, %weight1: tensor<?x3xf32>, %x4_field: tensor<?x5xf32>, %weight2: tensor<?x3xf32>, %x7_field: tensor<?x5xf32>, %weight3: tensor<?x3xf32>, %x10_field: tensor<?x5xf32>, %weight4: tensor<?x3xf32>, %x13_field: tensor<?x5xf32>, %weight5: tensor<?x3xf32>, %x16_field: tensor<?x5xf32>, %weight6: tensor<?x3xf32>, %x19_field: tensor<?x5xf32>, %weight7: tensor<?x3xf32>, %x22_field: tensor<?x5xf32>, %weight8: tensor<?x3xf32>, %x25_field: tensor<?x4xf32>, %weight9: tensor<?x2xf32>):
    %r:9 = nn.call @compute(%x1_field, %weight1, %x4_field, %weight2, %x7_field, %weight3, %x10_field, %weight4, %x13_field, %weight5, %x16_field, %weight6, %x19_field, %weight7, %x22_field, %weight8, %x25_field, %weight9) : (tensor<?x5xf32>, tensor<?x3xf32>, tensor<?x5xf32>, tensor<?x3xf32>, tensor<?x5xf32>, tensor<?x3xf32>, tensor<?x5xf32>, tensor<?x3xf32>, tensor<?x5xf32>, tensor<?x3xf32>, tensor<?x5xf32>, tensor<?x3xf32>, tensor<?x5xf32>, tensor<?x3xf32>, tensor<?x5xf32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x2xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x2xf32>)
    %product0 = nn.mul %r#0, %weight1 : tensor<?x3xf32>, tensor<?x3xf32>
    %term0 = nn.reduce sum %product0 axes [1] keep : tensor<?x3xf32>
    %product1 = nn.mul %r#1, %weight2 : tensor<?x3xf32>, tensor<?x3xf32>
    %term1 = nn.reduce sum %product1 axes [1] keep : tensor<?x3xf32>
    %total1 = nn.add %term0, %term1 : tensor<?x1xf32>, tensor<?x1xf32>
    %product2 = nn.mul %r#2, %weight3 : tensor<?x3xf32>, tensor<?x3xf32>
    %term2 = nn.reduce sum %product2 axes [1] keep : tensor<?x3xf32>
    %total2 = nn.add %total1, %term2 : tensor<?x1xf32>, tensor<?x1xf32>
    %product3 = nn.mul %r#3, %weight4 : tensor<?x3xf32>, tensor<?x3xf32>
    %term3 = nn.reduce sum %product3 axes [1] keep : tensor<?x3xf32>
    %total3 = nn.add %total2, %term3 : tensor<?x1xf32>, tensor<?x1xf32>
    %product4 = nn.mul %r#4, %weight5 : tensor<?x3xf32>, tensor<?x3xf32>
    %term4 = nn.reduce sum %product4 axes [1] keep : tensor<?x3xf32>
    %total4 = nn.add %total3, %term4 : tensor<?x1xf32>, tensor<?x1xf32>
    %product5 = nn.mul %r#5, %weight6 : tensor<?x3xf32>, tensor<?x3xf32>
    %term5 = nn.reduce sum %product5 axes [1] keep : tensor<?x3xf32>
    %total5 = nn.add %total4, %term5 : tensor<?x1xf32>, tensor<?x1xf32>
    %product6 = nn.mul %r#6, %weight7 : tensor<?x3xf32>, tensor<?x3xf32>
    %term6 = nn.reduce sum %product6 axes [1] keep : tensor<?x3xf32>
    %total6 = nn.add %total5, %term6 : tensor<?x1xf32>, tensor<?x1xf32>
    %product7 = nn.mul %r#7, %weight8 : tensor<?x3xf32>, tensor<?x3xf32>
    %term7 = nn.reduce sum %product7 axes [1] keep : tensor<?x3xf32>
    %total7 = nn.add %total6, %term7 : tensor<?x1xf32>, tensor<?x1xf32>
    %product8 = nn.mul %r#8, %weight9 : tensor<?x2xf32>, tensor<?x2xf32>
    %term8 = nn.reduce sum %product8 axes [1] keep : tensor<?x2xf32>
    %total8 = nn.add %total7, %term8 : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %total8 over [@descent] : tensor<?x1xf32>
  }

  nn.program @predict frozen reads(@sample) {
  ^bb0(%x1_field: tensor<?x5xf32>, %weight1: tensor<?x3xf32>, %x4_field: tensor<?x5xf32>, %weight2: tensor<?x3xf32>, %x7_field: tensor<?x5xf32>, %weight3: tensor<?x3xf32>, %x10_field: tensor<?x5xf32>, %weight4: tensor<?x3xf32>, %x13_field: tensor<?x5xf32>, %weight5: tensor<?x3xf32>, %x16_field: tensor<?x5xf32>, %weight6: tensor<?x3xf32>, %x19_field: tensor<?x5xf32>, %weight7: tensor<?x3xf32>, %x22_field: tensor<?x5xf32>, %weight8: tensor<?x3xf32>, %x25_field: tensor<?x4xf32>, %weight9: tensor<?x2xf32>):
    %r:9 = nn.call @compute(%x1_field, %weight1, %x4_field, %weight2, %x7_field, %weight3, %x10_field, %weight4, %x13_field, %weight5, %x16_field, %weight6, %x19_field, %weight7, %x22_field, %weight8, %x25_field, %weight9) : (tensor<?x5xf32>, tensor<?x3xf32>, tensor<?x5xf32>, tensor<?x3xf32>, tensor<?x5xf32>, tensor<?x3xf32>, tensor<?x5xf32>, tensor<?x3xf32>, tensor<?x5xf32>, tensor<?x3xf32>, tensor<?x5xf32>, tensor<?x3xf32>, tensor<?x5xf32>, tensor<?x3xf32>, tensor<?x5xf32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x2xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x2xf32>)
    nn.return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7, %r#8 : tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x2xf32>
  }
}
