//===- comparisons/model.mlir - Comparisons, which give 0 or 1 -*- mlir -*-===//
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

module @comparisons {
  nn.record @sample {
    nn.field @x1_field : tensor<?x3xf32>
    nn.field @x3_field : tensor<?x3xf32>
    nn.field @weight1 : tensor<?x3xf32>
    nn.field @weight2 : tensor<?x3xf32>
    nn.field @x7_field : tensor<?x3xf32>
    nn.field @x9_field : tensor<?x3xf32>
    nn.field @weight3 : tensor<?x3xf32>
    nn.field @weight4 : tensor<?x3xf32>
    nn.field @x13_field : tensor<?x3xf32>
    nn.field @x15_field : tensor<?x3xf32>
    nn.field @weight5 : tensor<?x3xf32>
    nn.field @weight6 : tensor<?x3xf32>
    nn.field @x19_field : tensor<?x3xf32>
    nn.field @x21_field : tensor<?x3xf32>
    nn.field @weight7 : tensor<?x3xf32>
    nn.field @weight8 : tensor<?x3xf32>
  }
  nn.group @descent rule(@sgd) rate(1.0)
  nn.param @x1_shift : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x3_shift : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x7_shift : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x9_shift : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x13_shift : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x15_shift : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x19_shift : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x21_shift : tensor<3xf32> in @descent init(#nn.zeros)

  nn.func private @compute(%x1_field: tensor<?x3xf32>, %x3_field: tensor<?x3xf32>, %weight1: tensor<?x3xf32>, %weight2: tensor<?x3xf32>, %x7_field: tensor<?x3xf32>, %x9_field: tensor<?x3xf32>, %weight3: tensor<?x3xf32>, %weight4: tensor<?x3xf32>, %x13_field: tensor<?x3xf32>, %x15_field: tensor<?x3xf32>, %weight5: tensor<?x3xf32>, %weight6: tensor<?x3xf32>, %x19_field: tensor<?x3xf32>, %x21_field: tensor<?x3xf32>, %weight7: tensor<?x3xf32>, %weight8: tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) {
    %x1_shift = nn.read @x1_shift : tensor<3xf32>
    %v2 = nn.add %x1_field, %x1_shift : tensor<?x3xf32>, tensor<3xf32>
    %x3_shift = nn.read @x3_shift : tensor<3xf32>
    %v4 = nn.add %x3_field, %x3_shift : tensor<?x3xf32>, tensor<3xf32>
    %v5 = nn.greater_equal %v2, %v4 : tensor<?x3xf32>, tensor<?x3xf32>
    %v6 = nn.select %v5, %v2, %v4 : tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>
    %x7_shift = nn.read @x7_shift : tensor<3xf32>
    %v8 = nn.add %x7_field, %x7_shift : tensor<?x3xf32>, tensor<3xf32>
    %x9_shift = nn.read @x9_shift : tensor<3xf32>
    %v10 = nn.add %x9_field, %x9_shift : tensor<?x3xf32>, tensor<3xf32>
    %v11 = nn.less %v8, %v10 : tensor<?x3xf32>, tensor<?x3xf32>
    %v12 = nn.select %v11, %v8, %v10 : tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>
    %x13_shift = nn.read @x13_shift : tensor<3xf32>
    %v14 = nn.add %x13_field, %x13_shift : tensor<?x3xf32>, tensor<3xf32>
    %x15_shift = nn.read @x15_shift : tensor<3xf32>
    %v16 = nn.add %x15_field, %x15_shift : tensor<?x3xf32>, tensor<3xf32>
    %v17 = nn.less_equal %v14, %v16 : tensor<?x3xf32>, tensor<?x3xf32>
    %v18 = nn.select %v17, %v14, %v16 : tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>
    %x19_shift = nn.read @x19_shift : tensor<3xf32>
    %v20 = nn.add %x19_field, %x19_shift : tensor<?x3xf32>, tensor<3xf32>
    %x21_shift = nn.read @x21_shift : tensor<3xf32>
    %v22 = nn.add %x21_field, %x21_shift : tensor<?x3xf32>, tensor<3xf32>
    %v23 = nn.not_equal %v20, %v22 : tensor<?x3xf32>, tensor<?x3xf32>
    %v24 = nn.select %v23, %v20, %v22 : tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>
    nn.return %v5, %v6, %v11, %v12, %v17, %v18, %v23, %v24 : tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>
  }

  nn.program @train reads(@sample) {
  ^bb0(%x1_field: tensor<?x3xf32>, %x3_field: tensor<?x3xf32>, %weight1: tensor<?x3xf32>, %weight2: tensor<?x3xf32>, %x7_field: tensor<?x3xf32>, %x9_field: tensor<?x3xf32>, %weight3: tensor<?x3xf32>, %weight4: tensor<?x3xf32>, %x13_field: tensor<?x3xf32>, %x15_field: tensor<?x3xf32>, %weight5: tensor<?x3xf32>, %weight6: tensor<?x3xf32>, %x19_field: tensor<?x3xf32>, %x21_field: tensor<?x3xf32>, %weight7: tensor<?x3xf32>, %weight8: tensor<?x3xf32>):
    %r:8 = nn.call @compute(%x1_field, %x3_field, %weight1, %weight2, %x7_field, %x9_field, %weight3, %weight4, %x13_field, %x15_field, %weight5, %weight6, %x19_field, %x21_field, %weight7, %weight8) : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>)
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
  ^bb0(%x1_field: tensor<?x3xf32>, %x3_field: tensor<?x3xf32>, %weight1: tensor<?x3xf32>, %weight2: tensor<?x3xf32>, %x7_field: tensor<?x3xf32>, %x9_field: tensor<?x3xf32>, %weight3: tensor<?x3xf32>, %weight4: tensor<?x3xf32>, %x13_field: tensor<?x3xf32>, %x15_field: tensor<?x3xf32>, %weight5: tensor<?x3xf32>, %weight6: tensor<?x3xf32>, %x19_field: tensor<?x3xf32>, %x21_field: tensor<?x3xf32>, %weight7: tensor<?x3xf32>, %weight8: tensor<?x3xf32>):
    %r:8 = nn.call @compute(%x1_field, %x3_field, %weight1, %weight2, %x7_field, %x9_field, %weight3, %weight4, %x13_field, %x15_field, %weight5, %weight6, %x19_field, %x21_field, %weight7, %weight8) : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>)
    nn.return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7 : tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>
  }
}
