//===- unary/model.mlir - Elementwise ops of one operand -*- mlir -*-===//
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

module @unary {
  nn.record @sample {
    nn.field @x1_field : tensor<?x3xf32>
    nn.field @weight1 : tensor<?x3xf32>
    nn.field @x4_field : tensor<?x3xf32>
    nn.field @weight2 : tensor<?x3xf32>
    nn.field @x7_field : tensor<?x3xf32>
    nn.field @weight3 : tensor<?x3xf32>
    nn.field @x10_field : tensor<?x3xf32>
    nn.field @weight4 : tensor<?x3xf32>
    nn.field @x13_field : tensor<?x3xf32>
    nn.field @weight5 : tensor<?x3xf32>
    nn.field @x16_field : tensor<?x3xf32>
    nn.field @weight6 : tensor<?x3xf32>
    nn.field @x19_field : tensor<?x3xf32>
    nn.field @weight7 : tensor<?x3xf32>
    nn.field @x22_field : tensor<?x3xf32>
    nn.field @weight8 : tensor<?x3xf32>
    nn.field @x25_field : tensor<?x3xf32>
    nn.field @weight9 : tensor<?x3xf32>
    nn.field @x28_field : tensor<?x3xf32>
    nn.field @weight10 : tensor<?x3xf32>
    nn.field @x31_field : tensor<?x3xf32>
    nn.field @weight11 : tensor<?x3xf32>
    nn.field @x34_field : tensor<?x3xf32>
    nn.field @weight12 : tensor<?x3xf32>
    nn.field @x38_field : tensor<?x3xf32>
    nn.field @weight13 : tensor<?x3xf32>
  }
  nn.group @descent rule(@sgd) rate(1.0)
  nn.param @x1_shift : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x4_shift : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x7_shift : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x10_shift : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x13_shift : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x16_shift : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x19_shift : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x22_shift : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x25_shift : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x28_shift : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x31_shift : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x34_shift : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x38_shift : tensor<3xf32> in @descent init(#nn.zeros)

  nn.func private @compute(%x1_field: tensor<?x3xf32>, %weight1: tensor<?x3xf32>, %x4_field: tensor<?x3xf32>, %weight2: tensor<?x3xf32>, %x7_field: tensor<?x3xf32>, %weight3: tensor<?x3xf32>, %x10_field: tensor<?x3xf32>, %weight4: tensor<?x3xf32>, %x13_field: tensor<?x3xf32>, %weight5: tensor<?x3xf32>, %x16_field: tensor<?x3xf32>, %weight6: tensor<?x3xf32>, %x19_field: tensor<?x3xf32>, %weight7: tensor<?x3xf32>, %x22_field: tensor<?x3xf32>, %weight8: tensor<?x3xf32>, %x25_field: tensor<?x3xf32>, %weight9: tensor<?x3xf32>, %x28_field: tensor<?x3xf32>, %weight10: tensor<?x3xf32>, %x31_field: tensor<?x3xf32>, %weight11: tensor<?x3xf32>, %x34_field: tensor<?x3xf32>, %weight12: tensor<?x3xf32>, %x38_field: tensor<?x3xf32>, %weight13: tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) {
    %x1_shift = nn.read @x1_shift : tensor<3xf32>
    %v2 = nn.add %x1_field, %x1_shift : tensor<?x3xf32>, tensor<3xf32>
    %v3 = nn.neg %v2 : tensor<?x3xf32>
    %x4_shift = nn.read @x4_shift : tensor<3xf32>
    %v5 = nn.add %x4_field, %x4_shift : tensor<?x3xf32>, tensor<3xf32>
    %v6 = nn.abs %v5 : tensor<?x3xf32>
    %x7_shift = nn.read @x7_shift : tensor<3xf32>
    %v8 = nn.add %x7_field, %x7_shift : tensor<?x3xf32>, tensor<3xf32>
    %v9 = nn.sign %v8 : tensor<?x3xf32>
    %x10_shift = nn.read @x10_shift : tensor<3xf32>
    %v11 = nn.add %x10_field, %x10_shift : tensor<?x3xf32>, tensor<3xf32>
    %v12 = nn.exp %v11 : tensor<?x3xf32>
    %x13_shift = nn.read @x13_shift : tensor<3xf32>
    %v14 = nn.add %x13_field, %x13_shift : tensor<?x3xf32>, tensor<3xf32>
    %v15 = nn.log %v14 : tensor<?x3xf32>
    %x16_shift = nn.read @x16_shift : tensor<3xf32>
    %v17 = nn.add %x16_field, %x16_shift : tensor<?x3xf32>, tensor<3xf32>
    %v18 = nn.log1p %v17 : tensor<?x3xf32>
    %x19_shift = nn.read @x19_shift : tensor<3xf32>
    %v20 = nn.add %x19_field, %x19_shift : tensor<?x3xf32>, tensor<3xf32>
    %v21 = nn.sqrt %v20 : tensor<?x3xf32>
    %x22_shift = nn.read @x22_shift : tensor<3xf32>
    %v23 = nn.add %x22_field, %x22_shift : tensor<?x3xf32>, tensor<3xf32>
    %v24 = nn.tanh %v23 : tensor<?x3xf32>
    %x25_shift = nn.read @x25_shift : tensor<3xf32>
    %v26 = nn.add %x25_field, %x25_shift : tensor<?x3xf32>, tensor<3xf32>
    %v27 = nn.sigmoid %v26 : tensor<?x3xf32>
    %x28_shift = nn.read @x28_shift : tensor<3xf32>
    %v29 = nn.add %x28_field, %x28_shift : tensor<?x3xf32>, tensor<3xf32>
    %v30 = nn.relu %v29 : tensor<?x3xf32>
    %x31_shift = nn.read @x31_shift : tensor<3xf32>
    %v32 = nn.add %x31_field, %x31_shift : tensor<?x3xf32>, tensor<3xf32>
    %v33 = nn.signed_log1p %v32 : tensor<?x3xf32>
    %x34_shift = nn.read @x34_shift : tensor<3xf32>
    %v35 = nn.add %x34_field, %x34_shift : tensor<?x3xf32>, tensor<3xf32>
    %v36 = nn.stop_gradient %v35 : tensor<?x3xf32>
    %v37 = nn.mul %v36, %v35 : tensor<?x3xf32>, tensor<?x3xf32>
    %x38_shift = nn.read @x38_shift : tensor<3xf32>
    %v39 = nn.add %x38_field, %x38_shift : tensor<?x3xf32>, tensor<3xf32>
    %v40 = nn.standardize %v39 mean [38.5, 10.25, 0.75] deviation [13.5, 2.5, 4.0] : tensor<?x3xf32>
    nn.return %v3, %v6, %v9, %v12, %v15, %v18, %v21, %v24, %v27, %v30, %v33, %v37, %v40 : tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>
  }

  nn.program @train reads(@sample) {
  ^bb0(%x1_field: tensor<?x3xf32>, %weight1: tensor<?x3xf32>, %x4_field: tensor<?x3xf32>, %weight2: tensor<?x3xf32>, %x7_field: tensor<?x3xf32>, %weight3: tensor<?x3xf32>, %x10_field: tensor<?x3xf32>, %weight4: tensor<?x3xf32>, %x13_field: tensor<?x3xf32>, %weight5: tensor<?x3xf32>, %x16_field: tensor<?x3xf32>, %weight6: tensor<?x3xf32>, %x19_field: tensor<?x3xf32>, %weight7: tensor<?x3xf32>, %x22_field: tensor<?x3xf32>, %weight8: tensor<?x3xf32>, %x25_field: tensor<?x3xf32>, %weight9: tensor<?x3xf32>, %x28_field: tensor<?x3xf32>, %weight10: tensor<?x3xf32>, %x31_field: tensor<?x3xf32>, %weight11: tensor<?x3xf32>, %x34_field: tensor<?x3xf32>, %weight12: tensor<?x3xf32>, %x38_field: tensor<?x3xf32>, %weight13: tensor<?x3xf32>):
    %r:13 = nn.call @compute(%x1_field, %weight1, %x4_field, %weight2, %x7_field, %weight3, %x10_field, %weight4, %x13_field, %weight5, %x16_field, %weight6, %x19_field, %weight7, %x22_field, %weight8, %x25_field, %weight9, %x28_field, %weight10, %x31_field, %weight11, %x34_field, %weight12, %x38_field, %weight13) : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>)
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
    %product8 = nn.mul %r#8, %weight9 : tensor<?x3xf32>, tensor<?x3xf32>
    %term8 = nn.reduce sum %product8 axes [1] keep : tensor<?x3xf32>
    %total8 = nn.add %total7, %term8 : tensor<?x1xf32>, tensor<?x1xf32>
    %product9 = nn.mul %r#9, %weight10 : tensor<?x3xf32>, tensor<?x3xf32>
    %term9 = nn.reduce sum %product9 axes [1] keep : tensor<?x3xf32>
    %total9 = nn.add %total8, %term9 : tensor<?x1xf32>, tensor<?x1xf32>
    %product10 = nn.mul %r#10, %weight11 : tensor<?x3xf32>, tensor<?x3xf32>
    %term10 = nn.reduce sum %product10 axes [1] keep : tensor<?x3xf32>
    %total10 = nn.add %total9, %term10 : tensor<?x1xf32>, tensor<?x1xf32>
    %product11 = nn.mul %r#11, %weight12 : tensor<?x3xf32>, tensor<?x3xf32>
    %term11 = nn.reduce sum %product11 axes [1] keep : tensor<?x3xf32>
    %total11 = nn.add %total10, %term11 : tensor<?x1xf32>, tensor<?x1xf32>
    %product12 = nn.mul %r#12, %weight13 : tensor<?x3xf32>, tensor<?x3xf32>
    %term12 = nn.reduce sum %product12 axes [1] keep : tensor<?x3xf32>
    %total12 = nn.add %total11, %term12 : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %total12 over [@descent] : tensor<?x1xf32>
  }

  nn.program @predict frozen reads(@sample) {
  ^bb0(%x1_field: tensor<?x3xf32>, %weight1: tensor<?x3xf32>, %x4_field: tensor<?x3xf32>, %weight2: tensor<?x3xf32>, %x7_field: tensor<?x3xf32>, %weight3: tensor<?x3xf32>, %x10_field: tensor<?x3xf32>, %weight4: tensor<?x3xf32>, %x13_field: tensor<?x3xf32>, %weight5: tensor<?x3xf32>, %x16_field: tensor<?x3xf32>, %weight6: tensor<?x3xf32>, %x19_field: tensor<?x3xf32>, %weight7: tensor<?x3xf32>, %x22_field: tensor<?x3xf32>, %weight8: tensor<?x3xf32>, %x25_field: tensor<?x3xf32>, %weight9: tensor<?x3xf32>, %x28_field: tensor<?x3xf32>, %weight10: tensor<?x3xf32>, %x31_field: tensor<?x3xf32>, %weight11: tensor<?x3xf32>, %x34_field: tensor<?x3xf32>, %weight12: tensor<?x3xf32>, %x38_field: tensor<?x3xf32>, %weight13: tensor<?x3xf32>):
    %r:13 = nn.call @compute(%x1_field, %weight1, %x4_field, %weight2, %x7_field, %weight3, %x10_field, %weight4, %x13_field, %weight5, %x16_field, %weight6, %x19_field, %weight7, %x22_field, %weight8, %x25_field, %weight9, %x28_field, %weight10, %x31_field, %weight11, %x34_field, %weight12, %x38_field, %weight13) : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>)
    nn.return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7, %r#8, %r#9, %r#10, %r#11, %r#12 : tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>
  }
}
