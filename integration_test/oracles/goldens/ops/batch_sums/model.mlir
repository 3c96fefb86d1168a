//===- batch_sums/model.mlir - Sums over the samples of a batch -*- mlir -*-===//
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

module @batch_sums {
  nn.record @sample {
    nn.field @x1_field : tensor<?x3xf32>
    nn.field @weight1 : tensor<?x3xf32>
    nn.field @x6_field : tensor<?x12xf32>
    nn.field @weight2 : tensor<?x12xf32>
    nn.field @x13_field : tensor<?x3xf32>
    nn.field @weight3 : tensor<?x3xf32>
  }
  nn.group @descent rule(@sgd) rate(1.0)
  nn.param @x1_shift : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x6_shift : tensor<12xf32> in @descent init(#nn.zeros)
  nn.param @x13_shift : tensor<3xf32> in @descent init(#nn.zeros)

  nn.func private @compute(%x1_field: tensor<?x3xf32>, %weight1: tensor<?x3xf32>, %x6_field: tensor<?x12xf32>, %weight2: tensor<?x12xf32>, %x13_field: tensor<?x3xf32>, %weight3: tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x12xf32>, tensor<?x3xf32>) {
    %x1_shift = nn.read @x1_shift : tensor<3xf32>
    %v2 = nn.add %x1_field, %x1_shift : tensor<?x3xf32>, tensor<3xf32>
    %v3 = nn.batch_sum %v2 : tensor<?x3xf32>
    %v4 = nn.slice %x1_field axis 1 offset 0 size 1 : tensor<?x3xf32>
    %v5 = nn.broadcast %v3 like %v4 : (tensor<3xf32>, tensor<?x1xf32>) -> tensor<?x3xf32>
    %x6_shift = nn.read @x6_shift : tensor<12xf32>
    %v7 = nn.add %x6_field, %x6_shift : tensor<?x12xf32>, tensor<12xf32>
    %v8 = nn.reshape %v7 : (tensor<?x12xf32>) -> tensor<?x3x4xf32>
    %v9 = nn.batch_sum %v8 : tensor<?x3x4xf32>
    %v10 = nn.reshape %v9 : (tensor<3x4xf32>) -> tensor<12xf32>
    %v11 = nn.slice %x1_field axis 1 offset 0 size 1 : tensor<?x3xf32>
    %v12 = nn.broadcast %v10 like %v11 : (tensor<12xf32>, tensor<?x1xf32>) -> tensor<?x12xf32>
    %x13_shift = nn.read @x13_shift : tensor<3xf32>
    %v14 = nn.add %x13_field, %x13_shift : tensor<?x3xf32>, tensor<3xf32>
    %v15 = nn.batch_sum %v14 : tensor<?x3xf32>
    %v16 = nn.sub %v2, %v15 : tensor<?x3xf32>, tensor<3xf32>
    %v17 = nn.mul %v16, %v16 : tensor<?x3xf32>, tensor<?x3xf32>
    nn.return %v5, %v12, %v17 : tensor<?x3xf32>, tensor<?x12xf32>, tensor<?x3xf32>
  }

  nn.program @train reads(@sample) {
  ^bb0(%x1_field: tensor<?x3xf32>, %weight1: tensor<?x3xf32>, %x6_field: tensor<?x12xf32>, %weight2: tensor<?x12xf32>, %x13_field: tensor<?x3xf32>, %weight3: tensor<?x3xf32>):
    %r:3 = nn.call @compute(%x1_field, %weight1, %x6_field, %weight2, %x13_field, %weight3) : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x12xf32>, tensor<?x3xf32>)
    %product0 = nn.mul %r#0, %weight1 : tensor<?x3xf32>, tensor<?x3xf32>
    %term0 = nn.reduce sum %product0 axes [1] keep : tensor<?x3xf32>
    %product1 = nn.mul %r#1, %weight2 : tensor<?x12xf32>, tensor<?x12xf32>
    %term1 = nn.reduce sum %product1 axes [1] keep : tensor<?x12xf32>
    %total1 = nn.add %term0, %term1 : tensor<?x1xf32>, tensor<?x1xf32>
    %product2 = nn.mul %r#2, %weight3 : tensor<?x3xf32>, tensor<?x3xf32>
    %term2 = nn.reduce sum %product2 axes [1] keep : tensor<?x3xf32>
    %total2 = nn.add %total1, %term2 : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %total2 over [@descent] : tensor<?x1xf32>
  }

  nn.program @predict frozen reads(@sample) {
  ^bb0(%x1_field: tensor<?x3xf32>, %weight1: tensor<?x3xf32>, %x6_field: tensor<?x12xf32>, %weight2: tensor<?x12xf32>, %x13_field: tensor<?x3xf32>, %weight3: tensor<?x3xf32>):
    %r:3 = nn.call @compute(%x1_field, %weight1, %x6_field, %weight2, %x13_field, %weight3) : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x12xf32>, tensor<?x3xf32>)
    nn.return %r#0, %r#1, %r#2 : tensor<?x3xf32>, tensor<?x12xf32>, tensor<?x3xf32>
  }
}
