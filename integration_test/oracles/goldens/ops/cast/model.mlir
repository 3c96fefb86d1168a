//===- cast/model.mlir - Ids as numbers, numbers as ids, and counts -*- mlir -*-===//
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

module @cast {
  nn.record @sample {
    nn.field @class : tensor<?x1xi64>
    nn.field @x2_field : tensor<?x5xf32>
    nn.field @weight1 : tensor<?x1xf32>
    nn.field @wide : tensor<?x1xi64>
    nn.field @weight2 : tensor<?x1xf32>
    nn.field @numbers : tensor<?x2xf32>
    nn.field @weight3 : tensor<?x4xf32>
    nn.field @edges : tensor<?x1xf32>
    nn.field @weight4 : tensor<?x2xf32>
    nn.field @x12_field : tensor<?x4xf32>
    nn.field @weight5 : tensor<?x4xf32>
    nn.field @x15_field : tensor<?x2xf32>
    nn.field @weight6 : tensor<?x2xf32>
    nn.field @x18_field : tensor<?x15xf32>
    nn.field @weight7 : tensor<?x15xf32>
  }
  nn.group @descent rule(@sgd) rate(1.0)
  nn.param @x2_shift : tensor<5xf32> in @descent init(#nn.zeros)
  nn.param @scale : tensor<1xf32> in @descent init(#nn.zeros)
  nn.table @rows : i64 -> tensor<2xf32> in @descent init(#nn.zeros) unknown(zero)
  nn.table @edge_rows : i64 -> tensor<2xf32> in @descent init(#nn.zeros) unknown(zero)
  nn.param @x12_shift : tensor<4xf32> in @descent init(#nn.zeros)
  nn.param @x15_shift : tensor<2xf32> in @descent init(#nn.zeros)
  nn.param @x18_shift : tensor<15xf32> in @descent init(#nn.zeros)

  nn.func private @compute(%class: tensor<?x1xi64>, %x2_field: tensor<?x5xf32>, %weight1: tensor<?x1xf32>, %wide: tensor<?x1xi64>, %weight2: tensor<?x1xf32>, %numbers: tensor<?x2xf32>, %weight3: tensor<?x4xf32>, %edges: tensor<?x1xf32>, %weight4: tensor<?x2xf32>, %x12_field: tensor<?x4xf32>, %weight5: tensor<?x4xf32>, %x15_field: tensor<?x2xf32>, %weight6: tensor<?x2xf32>, %x18_field: tensor<?x15xf32>, %weight7: tensor<?x15xf32>) -> (tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x2x2xf32>, tensor<?x1x2xf32>, tensor<?x4xf32>, tensor<?x2xf32>, tensor<?x3x5xf32>) {
    %number = nn.cast %class : (tensor<?x1xi64>) -> tensor<?x1xf32>
    %v1 = nn.one_hot %number classes 5 : tensor<?x1xf32>
    %x2_shift = nn.read @x2_shift : tensor<5xf32>
    %v3 = nn.add %x2_field, %x2_shift : tensor<?x5xf32>, tensor<5xf32>
    %v4 = nn.softmax_cross_entropy %v3, %v1 : tensor<?x5xf32>, tensor<?x5xf32>
    %wide_number = nn.cast %wide : (tensor<?x1xi64>) -> tensor<?x1xf32>
    %scale = nn.read @scale : tensor<1xf32>
    %v5 = nn.mul %wide_number, %scale : tensor<?x1xf32>, tensor<1xf32>
    %v6 = nn.signed_log1p %v5 : tensor<?x1xf32>
    %v7 = nn.cast %numbers : (tensor<?x2xf32>) -> tensor<?x2xi64>
    %v8 = nn.lookup @rows[%v7] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x2xf32>
    %v9 = nn.log %edges : tensor<?x1xf32>
    %v10 = nn.cast %v9 : (tensor<?x1xf32>) -> tensor<?x1xi64>
    %v11 = nn.lookup @edge_rows[%v10] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x2xf32>
    %x12_shift = nn.read @x12_shift : tensor<4xf32>
    %v13 = nn.add %x12_field, %x12_shift : tensor<?x4xf32>, tensor<4xf32>
    %v14 = nn.cvm %v13 : tensor<?x4xf32>
    %x15_shift = nn.read @x15_shift : tensor<2xf32>
    %v16 = nn.add %x15_field, %x15_shift : tensor<?x2xf32>, tensor<2xf32>
    %v17 = nn.cvm %v16 : tensor<?x2xf32>
    %x18_shift = nn.read @x18_shift : tensor<15xf32>
    %v19 = nn.add %x18_field, %x18_shift : tensor<?x15xf32>, tensor<15xf32>
    %v20 = nn.reshape %v19 : (tensor<?x15xf32>) -> tensor<?x3x5xf32>
    %v21 = nn.cvm %v20 : tensor<?x3x5xf32>
    nn.return %v4, %v6, %v8, %v11, %v14, %v17, %v21 : tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x2x2xf32>, tensor<?x1x2xf32>, tensor<?x4xf32>, tensor<?x2xf32>, tensor<?x3x5xf32>
  }

  nn.program @train reads(@sample) {
  ^bb0(%class: tensor<?x1xi64>, %x2_field: tensor<?x5xf32>, %weight1: tensor<?x1xf32>, %wide: tensor<?x1xi64>, %weight2: tensor<?x1xf32>, %numbers: tensor<?x2xf32>, %weight3: tensor<?x4xf32>, %edges: tensor<?x1xf32>, %weight4: tensor<?x2xf32>, %x12_field: tensor<?x4xf32>, %weight5: tensor<?x4xf32>, %x15_field: tensor<?x2xf32>, %weight6: tensor<?x2xf32>, %x18_field: tensor<?x15xf32>, %weight7: tensor<?x15xf32>):
    %r:7 = nn.call @compute(%class, %x2_field, %weight1, %wide, %weight2, %numbers, %weight3, %edges, %weight4, %x12_field, %weight5, %x15_field, %weight6, %x18_field, %weight7) : (tensor<?x1xi64>, tensor<?x5xf32>, tensor<?x1xf32>, tensor<?x1xi64>, tensor<?x1xf32>, tensor<?x2xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x2xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x15xf32>, tensor<?x15xf32>) -> (tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x2x2xf32>, tensor<?x1x2xf32>, tensor<?x4xf32>, tensor<?x2xf32>, tensor<?x3x5xf32>)
    %product0 = nn.mul %r#0, %weight1 : tensor<?x1xf32>, tensor<?x1xf32>
    %term0 = nn.reduce sum %product0 axes [1] keep : tensor<?x1xf32>
    %product1 = nn.mul %r#1, %weight2 : tensor<?x1xf32>, tensor<?x1xf32>
    %term1 = nn.reduce sum %product1 axes [1] keep : tensor<?x1xf32>
    %total1 = nn.add %term0, %term1 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat2 = nn.reshape %r#2 : (tensor<?x2x2xf32>) -> tensor<?x4xf32>
    %product2 = nn.mul %flat2, %weight3 : tensor<?x4xf32>, tensor<?x4xf32>
    %term2 = nn.reduce sum %product2 axes [1] keep : tensor<?x4xf32>
    %total2 = nn.add %total1, %term2 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat3 = nn.reshape %r#3 : (tensor<?x1x2xf32>) -> tensor<?x2xf32>
    %product3 = nn.mul %flat3, %weight4 : tensor<?x2xf32>, tensor<?x2xf32>
    %term3 = nn.reduce sum %product3 axes [1] keep : tensor<?x2xf32>
    %total3 = nn.add %total2, %term3 : tensor<?x1xf32>, tensor<?x1xf32>
    %product4 = nn.mul %r#4, %weight5 : tensor<?x4xf32>, tensor<?x4xf32>
    %term4 = nn.reduce sum %product4 axes [1] keep : tensor<?x4xf32>
    %total4 = nn.add %total3, %term4 : tensor<?x1xf32>, tensor<?x1xf32>
    %product5 = nn.mul %r#5, %weight6 : tensor<?x2xf32>, tensor<?x2xf32>
    %term5 = nn.reduce sum %product5 axes [1] keep : tensor<?x2xf32>
    %total5 = nn.add %total4, %term5 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat6 = nn.reshape %r#6 : (tensor<?x3x5xf32>) -> tensor<?x15xf32>
    %product6 = nn.mul %flat6, %weight7 : tensor<?x15xf32>, tensor<?x15xf32>
    %term6 = nn.reduce sum %product6 axes [1] keep : tensor<?x15xf32>
    %total6 = nn.add %total5, %term6 : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %total6 over [@descent] : tensor<?x1xf32>
  }

  nn.program @predict frozen reads(@sample) {
  ^bb0(%class: tensor<?x1xi64>, %x2_field: tensor<?x5xf32>, %weight1: tensor<?x1xf32>, %wide: tensor<?x1xi64>, %weight2: tensor<?x1xf32>, %numbers: tensor<?x2xf32>, %weight3: tensor<?x4xf32>, %edges: tensor<?x1xf32>, %weight4: tensor<?x2xf32>, %x12_field: tensor<?x4xf32>, %weight5: tensor<?x4xf32>, %x15_field: tensor<?x2xf32>, %weight6: tensor<?x2xf32>, %x18_field: tensor<?x15xf32>, %weight7: tensor<?x15xf32>):
    %r:7 = nn.call @compute(%class, %x2_field, %weight1, %wide, %weight2, %numbers, %weight3, %edges, %weight4, %x12_field, %weight5, %x15_field, %weight6, %x18_field, %weight7) : (tensor<?x1xi64>, tensor<?x5xf32>, tensor<?x1xf32>, tensor<?x1xi64>, tensor<?x1xf32>, tensor<?x2xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x2xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x15xf32>, tensor<?x15xf32>) -> (tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x2x2xf32>, tensor<?x1x2xf32>, tensor<?x4xf32>, tensor<?x2xf32>, tensor<?x3x5xf32>)
    nn.return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6 : tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x2x2xf32>, tensor<?x1x2xf32>, tensor<?x4xf32>, tensor<?x2xf32>, tensor<?x3x5xf32>
  }
}
