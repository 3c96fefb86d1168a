//===- binary/model.mlir - Elementwise ops of two operands of one shape -*- mlir -*-===//
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

module @binary {
  nn.record @sample {
    nn.field @x1_field : tensor<?x3xf32>
    nn.field @x3_field : tensor<?x3xf32>
    nn.field @weight1 : tensor<?x3xf32>
    nn.field @x6_field : tensor<?x3xf32>
    nn.field @x8_field : tensor<?x3xf32>
    nn.field @weight2 : tensor<?x3xf32>
    nn.field @x11_field : tensor<?x3xf32>
    nn.field @x13_field : tensor<?x3xf32>
    nn.field @weight3 : tensor<?x3xf32>
    nn.field @x16_field : tensor<?x3xf32>
    nn.field @x18_field : tensor<?x3xf32>
    nn.field @weight4 : tensor<?x3xf32>
    nn.field @x21_field : tensor<?x3xf32>
    nn.field @x23_field : tensor<?x3xf32>
    nn.field @weight5 : tensor<?x3xf32>
    nn.field @x26_field : tensor<?x3xf32>
    nn.field @x28_field : tensor<?x3xf32>
    nn.field @weight6 : tensor<?x3xf32>
    nn.field @x31_field : tensor<?x3xf32>
    nn.field @x33_field : tensor<?x3xf32>
    nn.field @weight7 : tensor<?x3xf32>
    nn.field @x36_field : tensor<?x3xf32>
    nn.field @x38_field : tensor<?x3xf32>
    nn.field @weight8 : tensor<?x3xf32>
  }
  nn.group @descent rule(@sgd) rate(1.0)
  nn.param @x1_shift : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x3_shift : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x6_shift : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x8_shift : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x11_shift : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x13_shift : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x16_shift : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x18_shift : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x21_shift : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x23_shift : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x26_shift : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x28_shift : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x31_shift : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x33_shift : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x36_shift : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x38_shift : tensor<3xf32> in @descent init(#nn.zeros)

  nn.func private @compute(%x1_field: tensor<?x3xf32>, %x3_field: tensor<?x3xf32>, %weight1: tensor<?x3xf32>, %x6_field: tensor<?x3xf32>, %x8_field: tensor<?x3xf32>, %weight2: tensor<?x3xf32>, %x11_field: tensor<?x3xf32>, %x13_field: tensor<?x3xf32>, %weight3: tensor<?x3xf32>, %x16_field: tensor<?x3xf32>, %x18_field: tensor<?x3xf32>, %weight4: tensor<?x3xf32>, %x21_field: tensor<?x3xf32>, %x23_field: tensor<?x3xf32>, %weight5: tensor<?x3xf32>, %x26_field: tensor<?x3xf32>, %x28_field: tensor<?x3xf32>, %weight6: tensor<?x3xf32>, %x31_field: tensor<?x3xf32>, %x33_field: tensor<?x3xf32>, %weight7: tensor<?x3xf32>, %x36_field: tensor<?x3xf32>, %x38_field: tensor<?x3xf32>, %weight8: tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) {
    %x1_shift = nn.read @x1_shift : tensor<3xf32>
    %v2 = nn.add %x1_field, %x1_shift : tensor<?x3xf32>, tensor<3xf32>
    %x3_shift = nn.read @x3_shift : tensor<3xf32>
    %v4 = nn.add %x3_field, %x3_shift : tensor<?x3xf32>, tensor<3xf32>
    %v5 = nn.add %v2, %v4 : tensor<?x3xf32>, tensor<?x3xf32>
    %x6_shift = nn.read @x6_shift : tensor<3xf32>
    %v7 = nn.add %x6_field, %x6_shift : tensor<?x3xf32>, tensor<3xf32>
    %x8_shift = nn.read @x8_shift : tensor<3xf32>
    %v9 = nn.add %x8_field, %x8_shift : tensor<?x3xf32>, tensor<3xf32>
    %v10 = nn.sub %v7, %v9 : tensor<?x3xf32>, tensor<?x3xf32>
    %x11_shift = nn.read @x11_shift : tensor<3xf32>
    %v12 = nn.add %x11_field, %x11_shift : tensor<?x3xf32>, tensor<3xf32>
    %x13_shift = nn.read @x13_shift : tensor<3xf32>
    %v14 = nn.add %x13_field, %x13_shift : tensor<?x3xf32>, tensor<3xf32>
    %v15 = nn.mul %v12, %v14 : tensor<?x3xf32>, tensor<?x3xf32>
    %x16_shift = nn.read @x16_shift : tensor<3xf32>
    %v17 = nn.add %x16_field, %x16_shift : tensor<?x3xf32>, tensor<3xf32>
    %x18_shift = nn.read @x18_shift : tensor<3xf32>
    %v19 = nn.add %x18_field, %x18_shift : tensor<?x3xf32>, tensor<3xf32>
    %v20 = nn.div %v17, %v19 : tensor<?x3xf32>, tensor<?x3xf32>
    %x21_shift = nn.read @x21_shift : tensor<3xf32>
    %v22 = nn.add %x21_field, %x21_shift : tensor<?x3xf32>, tensor<3xf32>
    %x23_shift = nn.read @x23_shift : tensor<3xf32>
    %v24 = nn.add %x23_field, %x23_shift : tensor<?x3xf32>, tensor<3xf32>
    %v25 = nn.max %v22, %v24 : tensor<?x3xf32>, tensor<?x3xf32>
    %x26_shift = nn.read @x26_shift : tensor<3xf32>
    %v27 = nn.add %x26_field, %x26_shift : tensor<?x3xf32>, tensor<3xf32>
    %x28_shift = nn.read @x28_shift : tensor<3xf32>
    %v29 = nn.add %x28_field, %x28_shift : tensor<?x3xf32>, tensor<3xf32>
    %v30 = nn.min %v27, %v29 : tensor<?x3xf32>, tensor<?x3xf32>
    %x31_shift = nn.read @x31_shift : tensor<3xf32>
    %v32 = nn.add %x31_field, %x31_shift : tensor<?x3xf32>, tensor<3xf32>
    %x33_shift = nn.read @x33_shift : tensor<3xf32>
    %v34 = nn.add %x33_field, %x33_shift : tensor<?x3xf32>, tensor<3xf32>
    %v35 = nn.equal %v32, %v34 : tensor<?x3xf32>, tensor<?x3xf32>
    %x36_shift = nn.read @x36_shift : tensor<3xf32>
    %v37 = nn.add %x36_field, %x36_shift : tensor<?x3xf32>, tensor<3xf32>
    %x38_shift = nn.read @x38_shift : tensor<3xf32>
    %v39 = nn.add %x38_field, %x38_shift : tensor<?x3xf32>, tensor<3xf32>
    %v40 = nn.greater %v37, %v39 : tensor<?x3xf32>, tensor<?x3xf32>
    nn.return %v5, %v10, %v15, %v20, %v25, %v30, %v35, %v40 : tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>
  }

  nn.program @train reads(@sample) {
  ^bb0(%x1_field: tensor<?x3xf32>, %x3_field: tensor<?x3xf32>, %weight1: tensor<?x3xf32>, %x6_field: tensor<?x3xf32>, %x8_field: tensor<?x3xf32>, %weight2: tensor<?x3xf32>, %x11_field: tensor<?x3xf32>, %x13_field: tensor<?x3xf32>, %weight3: tensor<?x3xf32>, %x16_field: tensor<?x3xf32>, %x18_field: tensor<?x3xf32>, %weight4: tensor<?x3xf32>, %x21_field: tensor<?x3xf32>, %x23_field: tensor<?x3xf32>, %weight5: tensor<?x3xf32>, %x26_field: tensor<?x3xf32>, %x28_field: tensor<?x3xf32>, %weight6: tensor<?x3xf32>, %x31_field: tensor<?x3xf32>, %x33_field: tensor<?x3xf32>, %weight7: tensor<?x3xf32>, %x36_field: tensor<?x3xf32>, %x38_field: tensor<?x3xf32>, %weight8: tensor<?x3xf32>):
    %r:8 = nn.call @compute(%x1_field, %x3_field, %weight1, %x6_field, %x8_field, %weight2, %x11_field, %x13_field, %weight3, %x16_field, %x18_field, %weight4, %x21_field, %x23_field, %weight5, %x26_field, %x28_field, %weight6, %x31_field, %x33_field, %weight7, %x36_field, %x38_field, %weight8) : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>)
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
    nn.minimize %total7 over [@descent] : tensor<?x1xf32>
  }

  nn.program @predict frozen reads(@sample) {
  ^bb0(%x1_field: tensor<?x3xf32>, %x3_field: tensor<?x3xf32>, %weight1: tensor<?x3xf32>, %x6_field: tensor<?x3xf32>, %x8_field: tensor<?x3xf32>, %weight2: tensor<?x3xf32>, %x11_field: tensor<?x3xf32>, %x13_field: tensor<?x3xf32>, %weight3: tensor<?x3xf32>, %x16_field: tensor<?x3xf32>, %x18_field: tensor<?x3xf32>, %weight4: tensor<?x3xf32>, %x21_field: tensor<?x3xf32>, %x23_field: tensor<?x3xf32>, %weight5: tensor<?x3xf32>, %x26_field: tensor<?x3xf32>, %x28_field: tensor<?x3xf32>, %weight6: tensor<?x3xf32>, %x31_field: tensor<?x3xf32>, %x33_field: tensor<?x3xf32>, %weight7: tensor<?x3xf32>, %x36_field: tensor<?x3xf32>, %x38_field: tensor<?x3xf32>, %weight8: tensor<?x3xf32>):
    %r:8 = nn.call @compute(%x1_field, %x3_field, %weight1, %x6_field, %x8_field, %weight2, %x11_field, %x13_field, %weight3, %x16_field, %x18_field, %weight4, %x21_field, %x23_field, %weight5, %x26_field, %x28_field, %weight6, %x31_field, %x33_field, %weight7, %x36_field, %x38_field, %weight8) : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>)
    nn.return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7 : tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>
  }
}
