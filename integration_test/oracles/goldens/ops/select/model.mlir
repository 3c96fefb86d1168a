//===- select/model.mlir - One of two values -*- mlir -*-===//
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

module @select {
  nn.record @sample {
    nn.field @x1_field : tensor<?x4xf32>
    nn.field @x3_field : tensor<?x4xf32>
    nn.field @x5_field : tensor<?x4xf32>
    nn.field @x7_field : tensor<?x1xf32>
    nn.field @weight1 : tensor<?x4xf32>
    nn.field @x11_field : tensor<?x4xf32>
    nn.field @x13_field : tensor<?x1xf32>
    nn.field @x15_field : tensor<?x4xf32>
    nn.field @x17_field : tensor<?x1xf32>
    nn.field @weight2 : tensor<?x4xf32>
    nn.field @x21_field : tensor<?x1xf32>
    nn.field @x23_field : tensor<?x4xf32>
    nn.field @x25_field : tensor<?x4xf32>
    nn.field @x27_field : tensor<?x1xf32>
    nn.field @weight3 : tensor<?x4xf32>
  }
  nn.group @descent rule(@sgd) rate(1.0)
  nn.param @x1_shift : tensor<4xf32> in @descent init(#nn.zeros)
  nn.param @x3_shift : tensor<4xf32> in @descent init(#nn.zeros)
  nn.param @x5_shift : tensor<4xf32> in @descent init(#nn.zeros)
  nn.param @x7_shift : tensor<1xf32> in @descent init(#nn.zeros)
  nn.param @x11_shift : tensor<4xf32> in @descent init(#nn.zeros)
  nn.param @x13_shift : tensor<1xf32> in @descent init(#nn.zeros)
  nn.param @x15_shift : tensor<4xf32> in @descent init(#nn.zeros)
  nn.param @x17_shift : tensor<1xf32> in @descent init(#nn.zeros)
  nn.param @x21_shift : tensor<1xf32> in @descent init(#nn.zeros)
  nn.param @x23_shift : tensor<4xf32> in @descent init(#nn.zeros)
  nn.param @x25_shift : tensor<4xf32> in @descent init(#nn.zeros)
  nn.param @x27_shift : tensor<1xf32> in @descent init(#nn.zeros)

  nn.func private @compute(%x1_field: tensor<?x4xf32>, %x3_field: tensor<?x4xf32>, %x5_field: tensor<?x4xf32>, %x7_field: tensor<?x1xf32>, %weight1: tensor<?x4xf32>, %x11_field: tensor<?x4xf32>, %x13_field: tensor<?x1xf32>, %x15_field: tensor<?x4xf32>, %x17_field: tensor<?x1xf32>, %weight2: tensor<?x4xf32>, %x21_field: tensor<?x1xf32>, %x23_field: tensor<?x4xf32>, %x25_field: tensor<?x4xf32>, %x27_field: tensor<?x1xf32>, %weight3: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) {
    %x1_shift = nn.read @x1_shift : tensor<4xf32>
    %v2 = nn.add %x1_field, %x1_shift : tensor<?x4xf32>, tensor<4xf32>
    %x3_shift = nn.read @x3_shift : tensor<4xf32>
    %v4 = nn.add %x3_field, %x3_shift : tensor<?x4xf32>, tensor<4xf32>
    %x5_shift = nn.read @x5_shift : tensor<4xf32>
    %v6 = nn.add %x5_field, %x5_shift : tensor<?x4xf32>, tensor<4xf32>
    %x7_shift = nn.read @x7_shift : tensor<1xf32>
    %v8 = nn.add %x7_field, %x7_shift : tensor<?x1xf32>, tensor<1xf32>
    %v9 = nn.greater %v2, %v4 : tensor<?x4xf32>, tensor<?x4xf32>
    %v10 = nn.select %v9, %v6, %v8 : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x1xf32>
    %x11_shift = nn.read @x11_shift : tensor<4xf32>
    %v12 = nn.add %x11_field, %x11_shift : tensor<?x4xf32>, tensor<4xf32>
    %x13_shift = nn.read @x13_shift : tensor<1xf32>
    %v14 = nn.add %x13_field, %x13_shift : tensor<?x1xf32>, tensor<1xf32>
    %x15_shift = nn.read @x15_shift : tensor<4xf32>
    %v16 = nn.add %x15_field, %x15_shift : tensor<?x4xf32>, tensor<4xf32>
    %x17_shift = nn.read @x17_shift : tensor<1xf32>
    %v18 = nn.add %x17_field, %x17_shift : tensor<?x1xf32>, tensor<1xf32>
    %v19 = nn.greater %v12, %v14 : tensor<?x4xf32>, tensor<?x1xf32>
    %v20 = nn.select %v19, %v16, %v18 : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x1xf32>
    %x21_shift = nn.read @x21_shift : tensor<1xf32>
    %v22 = nn.add %x21_field, %x21_shift : tensor<?x1xf32>, tensor<1xf32>
    %x23_shift = nn.read @x23_shift : tensor<4xf32>
    %v24 = nn.add %x23_field, %x23_shift : tensor<?x4xf32>, tensor<4xf32>
    %x25_shift = nn.read @x25_shift : tensor<4xf32>
    %v26 = nn.add %x25_field, %x25_shift : tensor<?x4xf32>, tensor<4xf32>
    %x27_shift = nn.read @x27_shift : tensor<1xf32>
    %v28 = nn.add %x27_field, %x27_shift : tensor<?x1xf32>, tensor<1xf32>
    %v29 = nn.greater %v22, %v24 : tensor<?x1xf32>, tensor<?x4xf32>
    %v30 = nn.select %v29, %v26, %v28 : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x1xf32>
    nn.return %v10, %v20, %v30 : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>
  }

  nn.program @train reads(@sample) {
  ^bb0(%x1_field: tensor<?x4xf32>, %x3_field: tensor<?x4xf32>, %x5_field: tensor<?x4xf32>, %x7_field: tensor<?x1xf32>, %weight1: tensor<?x4xf32>, %x11_field: tensor<?x4xf32>, %x13_field: tensor<?x1xf32>, %x15_field: tensor<?x4xf32>, %x17_field: tensor<?x1xf32>, %weight2: tensor<?x4xf32>, %x21_field: tensor<?x1xf32>, %x23_field: tensor<?x4xf32>, %x25_field: tensor<?x4xf32>, %x27_field: tensor<?x1xf32>, %weight3: tensor<?x4xf32>):
    %r:3 = nn.call @compute(%x1_field, %x3_field, %x5_field, %x7_field, %weight1, %x11_field, %x13_field, %x15_field, %x17_field, %weight2, %x21_field, %x23_field, %x25_field, %x27_field, %weight3) : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>)
    %product0 = nn.mul %r#0, %weight1 : tensor<?x4xf32>, tensor<?x4xf32>
    %term0 = nn.reduce sum %product0 axes [1] keep : tensor<?x4xf32>
    %product1 = nn.mul %r#1, %weight2 : tensor<?x4xf32>, tensor<?x4xf32>
    %term1 = nn.reduce sum %product1 axes [1] keep : tensor<?x4xf32>
    %total1 = nn.add %term0, %term1 : tensor<?x1xf32>, tensor<?x1xf32>
    %product2 = nn.mul %r#2, %weight3 : tensor<?x4xf32>, tensor<?x4xf32>
    %term2 = nn.reduce sum %product2 axes [1] keep : tensor<?x4xf32>
    %total2 = nn.add %total1, %term2 : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %total2 over [@descent] : tensor<?x1xf32>
  }

  nn.program @predict frozen reads(@sample) {
  ^bb0(%x1_field: tensor<?x4xf32>, %x3_field: tensor<?x4xf32>, %x5_field: tensor<?x4xf32>, %x7_field: tensor<?x1xf32>, %weight1: tensor<?x4xf32>, %x11_field: tensor<?x4xf32>, %x13_field: tensor<?x1xf32>, %x15_field: tensor<?x4xf32>, %x17_field: tensor<?x1xf32>, %weight2: tensor<?x4xf32>, %x21_field: tensor<?x1xf32>, %x23_field: tensor<?x4xf32>, %x25_field: tensor<?x4xf32>, %x27_field: tensor<?x1xf32>, %weight3: tensor<?x4xf32>):
    %r:3 = nn.call @compute(%x1_field, %x3_field, %x5_field, %x7_field, %weight1, %x11_field, %x13_field, %x15_field, %x17_field, %weight2, %x21_field, %x23_field, %x25_field, %x27_field, %weight3) : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>)
    nn.return %r#0, %r#1, %r#2 : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>
  }
}
