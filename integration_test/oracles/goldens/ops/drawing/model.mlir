//===- drawing/model.mlir - Random numbers of samples -*- mlir -*-===//
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

module @drawing {
  nn.record @sample {
    nn.field @x1_field : tensor<?x9xf32>
    nn.field @weight1 : tensor<?x9xf32>
    nn.field @x4_field : tensor<?x6xf32>
    nn.field @weight2 : tensor<?x6xf32>
    nn.field @weight3 : tensor<?x9xf32>
    nn.field @bags : !nn.ragged<?x2x*xi64>
    nn.field @weight4 : tensor<?x6xf32>
    nn.field @weight5 : tensor<?x10xf32>
    nn.field @uniform_ids : tensor<?x3xi64>
    nn.field @x15_field : tensor<?x3xf32>
    nn.field @weight6 : tensor<?x3xf32>
    nn.field @weight7 : tensor<?x10xf32>
    nn.field @log_uniform_ids : tensor<?x3xi64>
    nn.field @x22_field : tensor<?x3xf32>
    nn.field @weight8 : tensor<?x3xf32>
    nn.field @weight9 : tensor<?x10xf32>
    nn.field @counts_ids : tensor<?x3xi64>
    nn.field @x29_field : tensor<?x3xf32>
    nn.field @weight10 : tensor<?x3xf32>
  }
  nn.group @descent rule(@sgd) rate(1.0)
  nn.param @x1_shift : tensor<9xf32> in @descent init(#nn.zeros)
  nn.param @x4_shift : tensor<6xf32> in @descent init(#nn.zeros)
  nn.table @bag_rows : i64 -> tensor<3xf32> in @descent init(#nn.zeros)
  nn.table @uniform_rows : i64 -> tensor<2xf32> in @descent init(#nn.zeros)
  nn.param @x15_shift : tensor<3xf32> in @descent init(#nn.zeros)
  nn.table @log_uniform_rows : i64 -> tensor<2xf32> in @descent init(#nn.zeros)
  nn.param @x22_shift : tensor<3xf32> in @descent init(#nn.zeros)
  nn.table @counts_rows : i64 -> tensor<2xf32> in @descent init(#nn.zeros)
  nn.param @x29_shift : tensor<3xf32> in @descent init(#nn.zeros)

  nn.func private @compute(%x1_field: tensor<?x9xf32>, %weight1: tensor<?x9xf32>, %x4_field: tensor<?x6xf32>, %weight2: tensor<?x6xf32>, %weight3: tensor<?x9xf32>, %bags: !nn.ragged<?x2x*xi64>, %weight4: tensor<?x6xf32>, %weight5: tensor<?x10xf32>, %uniform_ids: tensor<?x3xi64>, %x15_field: tensor<?x3xf32>, %weight6: tensor<?x3xf32>, %weight7: tensor<?x10xf32>, %log_uniform_ids: tensor<?x3xi64>, %x22_field: tensor<?x3xf32>, %weight8: tensor<?x3xf32>, %weight9: tensor<?x10xf32>, %counts_ids: tensor<?x3xi64>, %x29_field: tensor<?x3xf32>, %weight10: tensor<?x3xf32>) -> (tensor<?x9xf32>, tensor<?x2x3xf32>, tensor<?x9xf32>, tensor<?x2x3xf32>, tensor<?x5x2xf32>, tensor<?x3xf32>, tensor<?x5x2xf32>, tensor<?x3xf32>, tensor<?x5x2xf32>, tensor<?x3xf32>) {
    %x1_shift = nn.read @x1_shift : tensor<9xf32>
    %v2 = nn.add %x1_field, %x1_shift : tensor<?x9xf32>, tensor<9xf32>
    %v3 = nn.dropout %v2 rate(0.5) : tensor<?x9xf32>
    %x4_shift = nn.read @x4_shift : tensor<6xf32>
    %v5 = nn.add %x4_field, %x4_shift : tensor<?x6xf32>, tensor<6xf32>
    %v6 = nn.reshape %v5 : (tensor<?x6xf32>) -> tensor<?x2x3xf32>
    %v7 = nn.dropout %v6 rate(0.75) : tensor<?x2x3xf32>
    %v8 = nn.dropout %v2 rate(0.0) : tensor<?x9xf32>
    %v9 = nn.lookup @bag_rows[%bags] pool(none) : (!nn.ragged<?x2x*xi64>) -> tensor<?x3xf32>
    %v10 = nn.dropout %v9 of %bags rate(0.5) : tensor<?x3xf32>, !nn.ragged<?x2x*xi64>
    %v11 = nn.segment_sum %v10 of %bags : (tensor<?x3xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x3xf32>
    %v12 = nn.sample 5 from -2 below 4 uniform : tensor<?x5xi64>
    %v14 = nn.lookup @uniform_rows[%v12] pool(sum) : (tensor<?x5xi64>) -> tensor<?x5x2xf32>
    %x15_shift = nn.read @x15_shift : tensor<3xf32>
    %v16 = nn.add %x15_field, %x15_shift : tensor<?x3xf32>, tensor<3xf32>
    %v17 = nn.log_probability %uniform_ids from -2 below 4 uniform : (tensor<?x3xi64>) -> tensor<?x3xf32>
    %v18 = nn.mul %v17, %v16 : tensor<?x3xf32>, tensor<?x3xf32>
    %v19 = nn.sample 5 from 10 below 16 log_uniform : tensor<?x5xi64>
    %v21 = nn.lookup @log_uniform_rows[%v19] pool(sum) : (tensor<?x5xi64>) -> tensor<?x5x2xf32>
    %x22_shift = nn.read @x22_shift : tensor<3xf32>
    %v23 = nn.add %x22_field, %x22_shift : tensor<?x3xf32>, tensor<3xf32>
    %v24 = nn.log_probability %log_uniform_ids from 10 below 16 log_uniform : (tensor<?x3xi64>) -> tensor<?x3xf32>
    %v25 = nn.mul %v24, %v23 : tensor<?x3xf32>, tensor<?x3xf32>
    %v26 = nn.sample 5 from 20 below 26 counts(dense<[7, 0, 40, 1, 3, 0]> : tensor<6xi64>) power(0.75) : tensor<?x5xi64>
    %v28 = nn.lookup @counts_rows[%v26] pool(sum) : (tensor<?x5xi64>) -> tensor<?x5x2xf32>
    %x29_shift = nn.read @x29_shift : tensor<3xf32>
    %v30 = nn.add %x29_field, %x29_shift : tensor<?x3xf32>, tensor<3xf32>
    %v31 = nn.log_probability %counts_ids from 20 below 26 counts(dense<[7, 0, 40, 1, 3, 0]> : tensor<6xi64>) power(0.75) : (tensor<?x3xi64>) -> tensor<?x3xf32>
    %v32 = nn.mul %v31, %v30 : tensor<?x3xf32>, tensor<?x3xf32>
    nn.return %v3, %v7, %v8, %v11, %v14, %v18, %v21, %v25, %v28, %v32 : tensor<?x9xf32>, tensor<?x2x3xf32>, tensor<?x9xf32>, tensor<?x2x3xf32>, tensor<?x5x2xf32>, tensor<?x3xf32>, tensor<?x5x2xf32>, tensor<?x3xf32>, tensor<?x5x2xf32>, tensor<?x3xf32>
  }

  nn.program @train reads(@sample) {
  ^bb0(%x1_field: tensor<?x9xf32>, %weight1: tensor<?x9xf32>, %x4_field: tensor<?x6xf32>, %weight2: tensor<?x6xf32>, %weight3: tensor<?x9xf32>, %bags: !nn.ragged<?x2x*xi64>, %weight4: tensor<?x6xf32>, %weight5: tensor<?x10xf32>, %uniform_ids: tensor<?x3xi64>, %x15_field: tensor<?x3xf32>, %weight6: tensor<?x3xf32>, %weight7: tensor<?x10xf32>, %log_uniform_ids: tensor<?x3xi64>, %x22_field: tensor<?x3xf32>, %weight8: tensor<?x3xf32>, %weight9: tensor<?x10xf32>, %counts_ids: tensor<?x3xi64>, %x29_field: tensor<?x3xf32>, %weight10: tensor<?x3xf32>):
    %r:10 = nn.call @compute(%x1_field, %weight1, %x4_field, %weight2, %weight3, %bags, %weight4, %weight5, %uniform_ids, %x15_field, %weight6, %weight7, %log_uniform_ids, %x22_field, %weight8, %weight9, %counts_ids, %x29_field, %weight10) : (tensor<?x9xf32>, tensor<?x9xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x9xf32>, !nn.ragged<?x2x*xi64>, tensor<?x6xf32>, tensor<?x10xf32>, tensor<?x3xi64>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x10xf32>, tensor<?x3xi64>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x10xf32>, tensor<?x3xi64>, tensor<?x3xf32>, tensor<?x3xf32>) -> (tensor<?x9xf32>, tensor<?x2x3xf32>, tensor<?x9xf32>, tensor<?x2x3xf32>, tensor<?x5x2xf32>, tensor<?x3xf32>, tensor<?x5x2xf32>, tensor<?x3xf32>, tensor<?x5x2xf32>, tensor<?x3xf32>)
    %product0 = nn.mul %r#0, %weight1 : tensor<?x9xf32>, tensor<?x9xf32>
    %term0 = nn.reduce sum %product0 axes [1] keep : tensor<?x9xf32>
    %flat1 = nn.reshape %r#1 : (tensor<?x2x3xf32>) -> tensor<?x6xf32>
    %product1 = nn.mul %flat1, %weight2 : tensor<?x6xf32>, tensor<?x6xf32>
    %term1 = nn.reduce sum %product1 axes [1] keep : tensor<?x6xf32>
    %total1 = nn.add %term0, %term1 : tensor<?x1xf32>, tensor<?x1xf32>
    %product2 = nn.mul %r#2, %weight3 : tensor<?x9xf32>, tensor<?x9xf32>
    %term2 = nn.reduce sum %product2 axes [1] keep : tensor<?x9xf32>
    %total2 = nn.add %total1, %term2 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat3 = nn.reshape %r#3 : (tensor<?x2x3xf32>) -> tensor<?x6xf32>
    %product3 = nn.mul %flat3, %weight4 : tensor<?x6xf32>, tensor<?x6xf32>
    %term3 = nn.reduce sum %product3 axes [1] keep : tensor<?x6xf32>
    %total3 = nn.add %total2, %term3 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat4 = nn.reshape %r#4 : (tensor<?x5x2xf32>) -> tensor<?x10xf32>
    %product4 = nn.mul %flat4, %weight5 : tensor<?x10xf32>, tensor<?x10xf32>
    %term4 = nn.reduce sum %product4 axes [1] keep : tensor<?x10xf32>
    %total4 = nn.add %total3, %term4 : tensor<?x1xf32>, tensor<?x1xf32>
    %product5 = nn.mul %r#5, %weight6 : tensor<?x3xf32>, tensor<?x3xf32>
    %term5 = nn.reduce sum %product5 axes [1] keep : tensor<?x3xf32>
    %total5 = nn.add %total4, %term5 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat6 = nn.reshape %r#6 : (tensor<?x5x2xf32>) -> tensor<?x10xf32>
    %product6 = nn.mul %flat6, %weight7 : tensor<?x10xf32>, tensor<?x10xf32>
    %term6 = nn.reduce sum %product6 axes [1] keep : tensor<?x10xf32>
    %total6 = nn.add %total5, %term6 : tensor<?x1xf32>, tensor<?x1xf32>
    %product7 = nn.mul %r#7, %weight8 : tensor<?x3xf32>, tensor<?x3xf32>
    %term7 = nn.reduce sum %product7 axes [1] keep : tensor<?x3xf32>
    %total7 = nn.add %total6, %term7 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat8 = nn.reshape %r#8 : (tensor<?x5x2xf32>) -> tensor<?x10xf32>
    %product8 = nn.mul %flat8, %weight9 : tensor<?x10xf32>, tensor<?x10xf32>
    %term8 = nn.reduce sum %product8 axes [1] keep : tensor<?x10xf32>
    %total8 = nn.add %total7, %term8 : tensor<?x1xf32>, tensor<?x1xf32>
    %product9 = nn.mul %r#9, %weight10 : tensor<?x3xf32>, tensor<?x3xf32>
    %term9 = nn.reduce sum %product9 axes [1] keep : tensor<?x3xf32>
    %total9 = nn.add %total8, %term9 : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %total9 over [@descent] : tensor<?x1xf32>
  }

  nn.program @predict frozen reads(@sample) {
  ^bb0(%x1_field: tensor<?x9xf32>, %weight1: tensor<?x9xf32>, %x4_field: tensor<?x6xf32>, %weight2: tensor<?x6xf32>, %weight3: tensor<?x9xf32>, %bags: !nn.ragged<?x2x*xi64>, %weight4: tensor<?x6xf32>, %weight5: tensor<?x10xf32>, %uniform_ids: tensor<?x3xi64>, %x15_field: tensor<?x3xf32>, %weight6: tensor<?x3xf32>, %weight7: tensor<?x10xf32>, %log_uniform_ids: tensor<?x3xi64>, %x22_field: tensor<?x3xf32>, %weight8: tensor<?x3xf32>, %weight9: tensor<?x10xf32>, %counts_ids: tensor<?x3xi64>, %x29_field: tensor<?x3xf32>, %weight10: tensor<?x3xf32>):
    %r:10 = nn.call @compute(%x1_field, %weight1, %x4_field, %weight2, %weight3, %bags, %weight4, %weight5, %uniform_ids, %x15_field, %weight6, %weight7, %log_uniform_ids, %x22_field, %weight8, %weight9, %counts_ids, %x29_field, %weight10) : (tensor<?x9xf32>, tensor<?x9xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x9xf32>, !nn.ragged<?x2x*xi64>, tensor<?x6xf32>, tensor<?x10xf32>, tensor<?x3xi64>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x10xf32>, tensor<?x3xi64>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x10xf32>, tensor<?x3xi64>, tensor<?x3xf32>, tensor<?x3xf32>) -> (tensor<?x9xf32>, tensor<?x2x3xf32>, tensor<?x9xf32>, tensor<?x2x3xf32>, tensor<?x5x2xf32>, tensor<?x3xf32>, tensor<?x5x2xf32>, tensor<?x3xf32>, tensor<?x5x2xf32>, tensor<?x3xf32>)
    nn.return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7, %r#8, %r#9 : tensor<?x9xf32>, tensor<?x2x3xf32>, tensor<?x9xf32>, tensor<?x2x3xf32>, tensor<?x5x2xf32>, tensor<?x3xf32>, tensor<?x5x2xf32>, tensor<?x3xf32>, tensor<?x5x2xf32>, tensor<?x3xf32>
  }
}
