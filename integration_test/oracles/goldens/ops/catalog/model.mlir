//===- catalog/model.mlir - Ids that are the same for each sample -*- mlir -*-===//
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

module @catalog {
  nn.record @sample {
    nn.field @x1_field : tensor<?x1xf32>
    nn.field @weight1 : tensor<?x1xf32>
    nn.field @like : tensor<?x2xf32>
    nn.field @weight2 : tensor<?x27xf32>
    nn.field @weight3 : tensor<?x12xf32>
  }
  nn.group @descent rule(@sgd) rate(1.0)
  nn.param @x1_shift : tensor<1xf32> in @descent init(#nn.zeros)
  nn.table @all_rows : i64 -> tensor<3xf32> in @descent init(#nn.zeros)
  nn.table @one_rows : i64 -> tensor<3xf32> in @descent init(#nn.zeros)

  nn.func private @compute(%x1_field: tensor<?x1xf32>, %weight1: tensor<?x1xf32>, %like: tensor<?x2xf32>, %weight2: tensor<?x27xf32>, %weight3: tensor<?x12xf32>) -> (tensor<?x1xf32>, tensor<?x9x3xf32>, tensor<?x4x3xf32>) {
    %x1_shift = nn.read @x1_shift : tensor<1xf32>
    %v2 = nn.add %x1_field, %x1_shift : tensor<?x1xf32>, tensor<1xf32>
    %v3 = nn.neg %v2 : tensor<?x1xf32>
    %all_keys = nn.constant dense<[-9223372036854775808, -7, -1, 0, 1, 2, 41, 4611686018427387904, 9223372036854775807]> : tensor<9xi64>
    %v4 = nn.broadcast %all_keys like %like : (tensor<9xi64>, tensor<?x2xf32>) -> tensor<?x9xi64>
    %v5 = nn.lookup @all_rows[%v4] pool(sum) : (tensor<?x9xi64>) -> tensor<?x9x3xf32>
    %one_keys = nn.constant dense<[-9223372036854775808, -9223372036854775808, -9223372036854775808, -9223372036854775808]> : tensor<4xi64>
    %v6 = nn.broadcast %one_keys like %like : (tensor<4xi64>, tensor<?x2xf32>) -> tensor<?x4xi64>
    %v7 = nn.lookup @one_rows[%v6] pool(sum) : (tensor<?x4xi64>) -> tensor<?x4x3xf32>
    nn.return %v3, %v5, %v7 : tensor<?x1xf32>, tensor<?x9x3xf32>, tensor<?x4x3xf32>
  }

  nn.program @train reads(@sample) {
  ^bb0(%x1_field: tensor<?x1xf32>, %weight1: tensor<?x1xf32>, %like: tensor<?x2xf32>, %weight2: tensor<?x27xf32>, %weight3: tensor<?x12xf32>):
    %r:3 = nn.call @compute(%x1_field, %weight1, %like, %weight2, %weight3) : (tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x2xf32>, tensor<?x27xf32>, tensor<?x12xf32>) -> (tensor<?x1xf32>, tensor<?x9x3xf32>, tensor<?x4x3xf32>)
    %product0 = nn.mul %r#0, %weight1 : tensor<?x1xf32>, tensor<?x1xf32>
    %term0 = nn.reduce sum %product0 axes [1] keep : tensor<?x1xf32>
    %flat1 = nn.reshape %r#1 : (tensor<?x9x3xf32>) -> tensor<?x27xf32>
    %product1 = nn.mul %flat1, %weight2 : tensor<?x27xf32>, tensor<?x27xf32>
    %term1 = nn.reduce sum %product1 axes [1] keep : tensor<?x27xf32>
    %total1 = nn.add %term0, %term1 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat2 = nn.reshape %r#2 : (tensor<?x4x3xf32>) -> tensor<?x12xf32>
    %product2 = nn.mul %flat2, %weight3 : tensor<?x12xf32>, tensor<?x12xf32>
    %term2 = nn.reduce sum %product2 axes [1] keep : tensor<?x12xf32>
    %total2 = nn.add %total1, %term2 : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %total2 over [@descent] : tensor<?x1xf32>
  }

  nn.program @predict frozen reads(@sample) {
  ^bb0(%x1_field: tensor<?x1xf32>, %weight1: tensor<?x1xf32>, %like: tensor<?x2xf32>, %weight2: tensor<?x27xf32>, %weight3: tensor<?x12xf32>):
    %r:3 = nn.call @compute(%x1_field, %weight1, %like, %weight2, %weight3) : (tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x2xf32>, tensor<?x27xf32>, tensor<?x12xf32>) -> (tensor<?x1xf32>, tensor<?x9x3xf32>, tensor<?x4x3xf32>)
    nn.return %r#0, %r#1, %r#2 : tensor<?x1xf32>, tensor<?x9x3xf32>, tensor<?x4x3xf32>
  }
}
