//===- losses/model.mlir - Losses, with gradients to both operands -*- mlir -*-===//
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

module @losses {
  nn.record @sample {
    nn.field @x1_field : tensor<?x4xf32>
    nn.field @labels : tensor<?x4xf32>
    nn.field @weight1 : tensor<?x4xf32>
    nn.field @x4_field : tensor<?x4xf32>
    nn.field @x6_field : tensor<?x4xf32>
    nn.field @weight2 : tensor<?x4xf32>
    nn.field @x9_field : tensor<?x4xf32>
    nn.field @x11_field : tensor<?x4xf32>
    nn.field @weight3 : tensor<?x4xf32>
    nn.field @x14_field : tensor<?x3xf32>
    nn.field @weight4 : tensor<?x3xf32>
  }
  nn.group @descent rule(@sgd) rate(1.0)
  nn.param @x1_shift : tensor<4xf32> in @descent init(#nn.zeros)
  nn.param @x4_shift : tensor<4xf32> in @descent init(#nn.zeros)
  nn.param @x6_shift : tensor<4xf32> in @descent init(#nn.zeros)
  nn.param @x9_shift : tensor<4xf32> in @descent init(#nn.zeros)
  nn.param @x11_shift : tensor<4xf32> in @descent init(#nn.zeros)
  nn.param @x14_shift : tensor<3xf32> in @descent init(#nn.zeros)

  nn.func private @compute(%x1_field: tensor<?x4xf32>, %labels: tensor<?x4xf32>, %weight1: tensor<?x4xf32>, %x4_field: tensor<?x4xf32>, %x6_field: tensor<?x4xf32>, %weight2: tensor<?x4xf32>, %x9_field: tensor<?x4xf32>, %x11_field: tensor<?x4xf32>, %weight3: tensor<?x4xf32>, %x14_field: tensor<?x3xf32>, %weight4: tensor<?x3xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x3xf32>) {
    %x1_shift = nn.read @x1_shift : tensor<4xf32>
    %v2 = nn.add %x1_field, %x1_shift : tensor<?x4xf32>, tensor<4xf32>
    %v3 = nn.sigmoid_cross_entropy %v2, %labels : tensor<?x4xf32>
    %x4_shift = nn.read @x4_shift : tensor<4xf32>
    %v5 = nn.add %x4_field, %x4_shift : tensor<?x4xf32>, tensor<4xf32>
    %x6_shift = nn.read @x6_shift : tensor<4xf32>
    %v7 = nn.add %x6_field, %x6_shift : tensor<?x4xf32>, tensor<4xf32>
    %v8 = nn.sigmoid_cross_entropy %v5, %v7 : tensor<?x4xf32>
    %x9_shift = nn.read @x9_shift : tensor<4xf32>
    %v10 = nn.add %x9_field, %x9_shift : tensor<?x4xf32>, tensor<4xf32>
    %x11_shift = nn.read @x11_shift : tensor<4xf32>
    %v12 = nn.add %x11_field, %x11_shift : tensor<?x4xf32>, tensor<4xf32>
    %v13 = nn.squared_error %v10, %v12 : tensor<?x4xf32>
    %x14_shift = nn.read @x14_shift : tensor<3xf32>
    %v15 = nn.add %x14_field, %x14_shift : tensor<?x3xf32>, tensor<3xf32>
    %v16 = nn.tanh %v15 : tensor<?x3xf32>
    %v17 = nn.exp %v15 : tensor<?x3xf32>
    %v18 = nn.mul %v16, %v17 : tensor<?x3xf32>, tensor<?x3xf32>
    %v19 = nn.add %v18, %v15 : tensor<?x3xf32>, tensor<?x3xf32>
    nn.return %v3, %v8, %v13, %v19 : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x3xf32>
  }

  nn.program @train reads(@sample) {
  ^bb0(%x1_field: tensor<?x4xf32>, %labels: tensor<?x4xf32>, %weight1: tensor<?x4xf32>, %x4_field: tensor<?x4xf32>, %x6_field: tensor<?x4xf32>, %weight2: tensor<?x4xf32>, %x9_field: tensor<?x4xf32>, %x11_field: tensor<?x4xf32>, %weight3: tensor<?x4xf32>, %x14_field: tensor<?x3xf32>, %weight4: tensor<?x3xf32>):
    %r:4 = nn.call @compute(%x1_field, %labels, %weight1, %x4_field, %x6_field, %weight2, %x9_field, %x11_field, %weight3, %x14_field, %weight4) : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x3xf32>)
    %product0 = nn.mul %r#0, %weight1 : tensor<?x4xf32>, tensor<?x4xf32>
    %term0 = nn.reduce sum %product0 axes [1] keep : tensor<?x4xf32>
    %product1 = nn.mul %r#1, %weight2 : tensor<?x4xf32>, tensor<?x4xf32>
    %term1 = nn.reduce sum %product1 axes [1] keep : tensor<?x4xf32>
    %total1 = nn.add %term0, %term1 : tensor<?x1xf32>, tensor<?x1xf32>
    %product2 = nn.mul %r#2, %weight3 : tensor<?x4xf32>, tensor<?x4xf32>
    %term2 = nn.reduce sum %product2 axes [1] keep : tensor<?x4xf32>
    %total2 = nn.add %total1, %term2 : tensor<?x1xf32>, tensor<?x1xf32>
    %product3 = nn.mul %r#3, %weight4 : tensor<?x3xf32>, tensor<?x3xf32>
    %term3 = nn.reduce sum %product3 axes [1] keep : tensor<?x3xf32>
    %total3 = nn.add %total2, %term3 : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %total3 over [@descent] : tensor<?x1xf32>
  }

  nn.program @predict frozen reads(@sample) {
  ^bb0(%x1_field: tensor<?x4xf32>, %labels: tensor<?x4xf32>, %weight1: tensor<?x4xf32>, %x4_field: tensor<?x4xf32>, %x6_field: tensor<?x4xf32>, %weight2: tensor<?x4xf32>, %x9_field: tensor<?x4xf32>, %x11_field: tensor<?x4xf32>, %weight3: tensor<?x4xf32>, %x14_field: tensor<?x3xf32>, %weight4: tensor<?x3xf32>):
    %r:4 = nn.call @compute(%x1_field, %labels, %weight1, %x4_field, %x6_field, %weight2, %x9_field, %x11_field, %weight3, %x14_field, %weight4) : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x3xf32>)
    nn.return %r#0, %r#1, %r#2, %r#3 : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x3xf32>
  }
}
