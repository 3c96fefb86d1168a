//===- products/model.mlir - Products of values, and what adjoints are made of -*- mlir -*-===//
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

module @products {
  nn.record @sample {
    nn.field @x1_field : tensor<?x4xf32>
    nn.field @x3_field : tensor<?x3xf32>
    nn.field @weight1 : tensor<?x3xf32>
    nn.field @weight2 : tensor<?x4xf32>
    nn.field @weight3 : tensor<?x6xf32>
    nn.field @given : tensor<?x3xf32>
    nn.field @other : tensor<?x3xf32>
    nn.field @weight4 : tensor<?x6xf32>
    nn.field @weight5 : tensor<?x3xf32>
  }
  nn.group @descent rule(@sgd) rate(1.0)
  nn.param @x1_shift : tensor<4xf32> in @descent init(#nn.zeros)
  nn.param @x3_shift : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @w : tensor<4x3xf32> in @descent init(#nn.zeros)
  nn.param @v : tensor<4x2xf32> in @descent init(#nn.zeros)

  nn.func private @compute(%x1_field: tensor<?x4xf32>, %x3_field: tensor<?x3xf32>, %weight1: tensor<?x3xf32>, %weight2: tensor<?x4xf32>, %weight3: tensor<?x6xf32>, %given: tensor<?x3xf32>, %other: tensor<?x3xf32>, %weight4: tensor<?x6xf32>, %weight5: tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x3xf32>) {
    %x1_shift = nn.read @x1_shift : tensor<4xf32>
    %v2 = nn.add %x1_field, %x1_shift : tensor<?x4xf32>, tensor<4xf32>
    %x3_shift = nn.read @x3_shift : tensor<3xf32>
    %v4 = nn.add %x3_field, %x3_shift : tensor<?x3xf32>, tensor<3xf32>
    %w = nn.read @w : tensor<4x3xf32>
    %v5 = nn.matmul %v2, %w : tensor<?x4xf32>, tensor<4x3xf32>
    %v6 = nn.matmul %v4, %w transposed : tensor<?x3xf32>, tensor<4x3xf32>
    %v = nn.read @v : tensor<4x2xf32>
    %v7 = nn.matmul %w transposed, %v : tensor<4x3xf32>, tensor<4x2xf32>
    %v8 = nn.reshape %v7 : (tensor<3x2xf32>) -> tensor<6xf32>
    %v9 = nn.slice %x1_field axis 1 offset 0 size 1 : tensor<?x4xf32>
    %v10 = nn.broadcast %v8 like %v9 : (tensor<6xf32>, tensor<?x1xf32>) -> tensor<?x6xf32>
    %v11 = nn.pad %given axis 1 low 1 high 2 : tensor<?x3xf32>
    %v12 = nn.relu_gradient %other, %given : tensor<?x3xf32>
    nn.return %v5, %v6, %v10, %v11, %v12 : tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x3xf32>
  }

  nn.program @train reads(@sample) {
  ^bb0(%x1_field: tensor<?x4xf32>, %x3_field: tensor<?x3xf32>, %weight1: tensor<?x3xf32>, %weight2: tensor<?x4xf32>, %weight3: tensor<?x6xf32>, %given: tensor<?x3xf32>, %other: tensor<?x3xf32>, %weight4: tensor<?x6xf32>, %weight5: tensor<?x3xf32>):
    %r:5 = nn.call @compute(%x1_field, %x3_field, %weight1, %weight2, %weight3, %given, %other, %weight4, %weight5) : (tensor<?x4xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x6xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x6xf32>, tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x3xf32>)
    %product0 = nn.mul %r#0, %weight1 : tensor<?x3xf32>, tensor<?x3xf32>
    %term0 = nn.reduce sum %product0 axes [1] keep : tensor<?x3xf32>
    %product1 = nn.mul %r#1, %weight2 : tensor<?x4xf32>, tensor<?x4xf32>
    %term1 = nn.reduce sum %product1 axes [1] keep : tensor<?x4xf32>
    %total1 = nn.add %term0, %term1 : tensor<?x1xf32>, tensor<?x1xf32>
    %product2 = nn.mul %r#2, %weight3 : tensor<?x6xf32>, tensor<?x6xf32>
    %term2 = nn.reduce sum %product2 axes [1] keep : tensor<?x6xf32>
    %total2 = nn.add %total1, %term2 : tensor<?x1xf32>, tensor<?x1xf32>
    %product3 = nn.mul %r#3, %weight4 : tensor<?x6xf32>, tensor<?x6xf32>
    %term3 = nn.reduce sum %product3 axes [1] keep : tensor<?x6xf32>
    %total3 = nn.add %total2, %term3 : tensor<?x1xf32>, tensor<?x1xf32>
    %product4 = nn.mul %r#4, %weight5 : tensor<?x3xf32>, tensor<?x3xf32>
    %term4 = nn.reduce sum %product4 axes [1] keep : tensor<?x3xf32>
    %total4 = nn.add %total3, %term4 : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %total4 over [@descent] : tensor<?x1xf32>
  }

  nn.program @predict frozen reads(@sample) {
  ^bb0(%x1_field: tensor<?x4xf32>, %x3_field: tensor<?x3xf32>, %weight1: tensor<?x3xf32>, %weight2: tensor<?x4xf32>, %weight3: tensor<?x6xf32>, %given: tensor<?x3xf32>, %other: tensor<?x3xf32>, %weight4: tensor<?x6xf32>, %weight5: tensor<?x3xf32>):
    %r:5 = nn.call @compute(%x1_field, %x3_field, %weight1, %weight2, %weight3, %given, %other, %weight4, %weight5) : (tensor<?x4xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x6xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x6xf32>, tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x3xf32>)
    nn.return %r#0, %r#1, %r#2, %r#3, %r#4 : tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x3xf32>
  }
}
