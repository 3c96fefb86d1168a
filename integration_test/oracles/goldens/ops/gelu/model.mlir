//===- gelu/model.mlir - The Gaussian error linear unit -*- mlir -*-===//
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

module @gelu {
  nn.record @sample {
    nn.field @x1_field : tensor<?x6xf32>
    nn.field @weight1 : tensor<?x6xf32>
    nn.field @x4_field : tensor<?x6xf32>
    nn.field @weight2 : tensor<?x6xf32>
    nn.field @x7_field : tensor<?x6xf32>
    nn.field @weight3 : tensor<?x6xf32>
    nn.field @x10_field : tensor<?x6xf32>
    nn.field @weight4 : tensor<?x6xf32>
    nn.field @x13_field : tensor<?x6xf32>
    nn.field @weight5 : tensor<?x6xf32>
    nn.field @x16_field : tensor<?x6xf32>
    nn.field @weight6 : tensor<?x6xf32>
    nn.field @x19_field : tensor<?x6xf32>
    nn.field @weight7 : tensor<?x6xf32>
  }
  nn.group @descent rule(@sgd) rate(1.0)
  nn.param @x1_shift : tensor<6xf32> in @descent init(#nn.zeros)
  nn.param @x4_shift : tensor<6xf32> in @descent init(#nn.zeros)
  nn.param @x7_shift : tensor<6xf32> in @descent init(#nn.zeros)
  nn.param @x10_shift : tensor<6xf32> in @descent init(#nn.zeros)
  nn.param @x13_shift : tensor<6xf32> in @descent init(#nn.zeros)
  nn.param @x16_shift : tensor<6xf32> in @descent init(#nn.zeros)
  nn.param @x19_shift : tensor<6xf32> in @descent init(#nn.zeros)

  nn.func private @compute(%x1_field: tensor<?x6xf32>, %weight1: tensor<?x6xf32>, %x4_field: tensor<?x6xf32>, %weight2: tensor<?x6xf32>, %x7_field: tensor<?x6xf32>, %weight3: tensor<?x6xf32>, %x10_field: tensor<?x6xf32>, %weight4: tensor<?x6xf32>, %x13_field: tensor<?x6xf32>, %weight5: tensor<?x6xf32>, %x16_field: tensor<?x6xf32>, %weight6: tensor<?x6xf32>, %x19_field: tensor<?x6xf32>, %weight7: tensor<?x6xf32>) -> (tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>) {
    %x1_shift = nn.read @x1_shift : tensor<6xf32>
    %v2 = nn.add %x1_field, %x1_shift : tensor<?x6xf32>, tensor<6xf32>
    %v3 = nn.gelu %v2 : tensor<?x6xf32>
    %x4_shift = nn.read @x4_shift : tensor<6xf32>
    %v5 = nn.add %x4_field, %x4_shift : tensor<?x6xf32>, tensor<6xf32>
    %v6 = nn.erf %v5 : tensor<?x6xf32>
    %x7_shift = nn.read @x7_shift : tensor<6xf32>
    %v8 = nn.add %x7_field, %x7_shift : tensor<?x6xf32>, tensor<6xf32>
    %v9 = nn.gelu_erf %v8 : tensor<?x6xf32>
    %x10_shift = nn.read @x10_shift : tensor<6xf32>
    %v11 = nn.add %x10_field, %x10_shift : tensor<?x6xf32>, tensor<6xf32>
    %v12 = nn.erf %v11 : tensor<?x6xf32>
    %x13_shift = nn.read @x13_shift : tensor<6xf32>
    %v14 = nn.add %x13_field, %x13_shift : tensor<?x6xf32>, tensor<6xf32>
    %v15 = nn.gelu_erf %v14 : tensor<?x6xf32>
    %x16_shift = nn.read @x16_shift : tensor<6xf32>
    %v17 = nn.add %x16_field, %x16_shift : tensor<?x6xf32>, tensor<6xf32>
    %v18 = nn.erf %v17 : tensor<?x6xf32>
    %x19_shift = nn.read @x19_shift : tensor<6xf32>
    %v20 = nn.add %x19_field, %x19_shift : tensor<?x6xf32>, tensor<6xf32>
    %v21 = nn.gelu_erf %v20 : tensor<?x6xf32>
    nn.return %v3, %v6, %v9, %v12, %v15, %v18, %v21 : tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>
  }

  nn.program @train reads(@sample) {
  ^bb0(%x1_field: tensor<?x6xf32>, %weight1: tensor<?x6xf32>, %x4_field: tensor<?x6xf32>, %weight2: tensor<?x6xf32>, %x7_field: tensor<?x6xf32>, %weight3: tensor<?x6xf32>, %x10_field: tensor<?x6xf32>, %weight4: tensor<?x6xf32>, %x13_field: tensor<?x6xf32>, %weight5: tensor<?x6xf32>, %x16_field: tensor<?x6xf32>, %weight6: tensor<?x6xf32>, %x19_field: tensor<?x6xf32>, %weight7: tensor<?x6xf32>):
    %r:7 = nn.call @compute(%x1_field, %weight1, %x4_field, %weight2, %x7_field, %weight3, %x10_field, %weight4, %x13_field, %weight5, %x16_field, %weight6, %x19_field, %weight7) : (tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>) -> (tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>)
    %product0 = nn.mul %r#0, %weight1 : tensor<?x6xf32>, tensor<?x6xf32>
    %term0 = nn.reduce sum %product0 axes [1] keep : tensor<?x6xf32>
    %product1 = nn.mul %r#1, %weight2 : tensor<?x6xf32>, tensor<?x6xf32>
    %term1 = nn.reduce sum %product1 axes [1] keep : tensor<?x6xf32>
    %total1 = nn.add %term0, %term1 : tensor<?x1xf32>, tensor<?x1xf32>
    %product2 = nn.mul %r#2, %weight3 : tensor<?x6xf32>, tensor<?x6xf32>
    %term2 = nn.reduce sum %product2 axes [1] keep : tensor<?x6xf32>
    %total2 = nn.add %total1, %term2 : tensor<?x1xf32>, tensor<?x1xf32>
    %product3 = nn.mul %r#3, %weight4 : tensor<?x6xf32>, tensor<?x6xf32>
    %term3 = nn.reduce sum %product3 axes [1] keep : tensor<?x6xf32>
    %total3 = nn.add %total2, %term3 : tensor<?x1xf32>, tensor<?x1xf32>
    %product4 = nn.mul %r#4, %weight5 : tensor<?x6xf32>, tensor<?x6xf32>
    %term4 = nn.reduce sum %product4 axes [1] keep : tensor<?x6xf32>
    %total4 = nn.add %total3, %term4 : tensor<?x1xf32>, tensor<?x1xf32>
    %product5 = nn.mul %r#5, %weight6 : tensor<?x6xf32>, tensor<?x6xf32>
    %term5 = nn.reduce sum %product5 axes [1] keep : tensor<?x6xf32>
    %total5 = nn.add %total4, %term5 : tensor<?x1xf32>, tensor<?x1xf32>
    %product6 = nn.mul %r#6, %weight7 : tensor<?x6xf32>, tensor<?x6xf32>
    %term6 = nn.reduce sum %product6 axes [1] keep : tensor<?x6xf32>
    %total6 = nn.add %total5, %term6 : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %total6 over [@descent] : tensor<?x1xf32>
  }

  nn.program @predict frozen reads(@sample) {
  ^bb0(%x1_field: tensor<?x6xf32>, %weight1: tensor<?x6xf32>, %x4_field: tensor<?x6xf32>, %weight2: tensor<?x6xf32>, %x7_field: tensor<?x6xf32>, %weight3: tensor<?x6xf32>, %x10_field: tensor<?x6xf32>, %weight4: tensor<?x6xf32>, %x13_field: tensor<?x6xf32>, %weight5: tensor<?x6xf32>, %x16_field: tensor<?x6xf32>, %weight6: tensor<?x6xf32>, %x19_field: tensor<?x6xf32>, %weight7: tensor<?x6xf32>):
    %r:7 = nn.call @compute(%x1_field, %weight1, %x4_field, %weight2, %x7_field, %weight3, %x10_field, %weight4, %x13_field, %weight5, %x16_field, %weight6, %x19_field, %weight7) : (tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>) -> (tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>)
    nn.return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6 : tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>
  }
}
