//===- lookup/model.mlir - Lookups with each pooling, of bags and of tensors -*- mlir -*-===//
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

module @lookup {
  nn.record @sample {
    nn.field @x1_field : tensor<?x1xf32>
    nn.field @weight1 : tensor<?x1xf32>
    nn.field @sum_bags : !nn.ragged<?x2x*xi64>
    nn.field @weight2 : tensor<?x6xf32>
    nn.field @sum_ids : tensor<?x2xi64>
    nn.field @weight3 : tensor<?x6xf32>
    nn.field @mean_bags : !nn.ragged<?x2x*xi64>
    nn.field @weight4 : tensor<?x6xf32>
    nn.field @mean_ids : tensor<?x2xi64>
    nn.field @weight5 : tensor<?x6xf32>
    nn.field @sqrtn_bags : !nn.ragged<?x2x*xi64>
    nn.field @weight6 : tensor<?x6xf32>
    nn.field @sqrtn_ids : tensor<?x2xi64>
    nn.field @weight7 : tensor<?x6xf32>
    nn.field @constant_start_ids : tensor<?x1xi64>
    nn.field @weight8 : tensor<?x2xf32>
    nn.field @zero_start_ids : tensor<?x1xi64>
    nn.field @weight9 : tensor<?x2xf32>
  }
  nn.group @descent rule(@sgd) rate(1.0)
  nn.param @x1_shift : tensor<1xf32> in @descent init(#nn.zeros)
  nn.table @sum_rows : i64 -> tensor<3xf32> in @descent init(#nn.zeros)
  nn.table @mean_rows : i64 -> tensor<3xf32> in @descent init(#nn.zeros)
  nn.table @sqrtn_rows : i64 -> tensor<3xf32> in @descent init(#nn.zeros)
  nn.table @constant_start : i64 -> tensor<2xf32> in @descent init(#nn.constant<0.375>)
  nn.table @zero_start : i64 -> tensor<2xf32> in @descent init(#nn.zeros)

  nn.func private @compute(%x1_field: tensor<?x1xf32>, %weight1: tensor<?x1xf32>, %sum_bags: !nn.ragged<?x2x*xi64>, %weight2: tensor<?x6xf32>, %sum_ids: tensor<?x2xi64>, %weight3: tensor<?x6xf32>, %mean_bags: !nn.ragged<?x2x*xi64>, %weight4: tensor<?x6xf32>, %mean_ids: tensor<?x2xi64>, %weight5: tensor<?x6xf32>, %sqrtn_bags: !nn.ragged<?x2x*xi64>, %weight6: tensor<?x6xf32>, %sqrtn_ids: tensor<?x2xi64>, %weight7: tensor<?x6xf32>, %constant_start_ids: tensor<?x1xi64>, %weight8: tensor<?x2xf32>, %zero_start_ids: tensor<?x1xi64>, %weight9: tensor<?x2xf32>) -> (tensor<?x1xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x1x2xf32>, tensor<?x1x2xf32>) {
    %x1_shift = nn.read @x1_shift : tensor<1xf32>
    %v2 = nn.add %x1_field, %x1_shift : tensor<?x1xf32>, tensor<1xf32>
    %v3 = nn.neg %v2 : tensor<?x1xf32>
    %v4 = nn.lookup @sum_rows[%sum_bags] pool(sum) : (!nn.ragged<?x2x*xi64>) -> tensor<?x2x3xf32>
    %v5 = nn.lookup @sum_rows[%sum_ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %v6 = nn.lookup @mean_rows[%mean_bags] pool(mean) : (!nn.ragged<?x2x*xi64>) -> tensor<?x2x3xf32>
    %v7 = nn.lookup @mean_rows[%mean_ids] pool(mean) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %v8 = nn.lookup @sqrtn_rows[%sqrtn_bags] pool(sqrtn) : (!nn.ragged<?x2x*xi64>) -> tensor<?x2x3xf32>
    %v9 = nn.lookup @sqrtn_rows[%sqrtn_ids] pool(sqrtn) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %v10 = nn.lookup @constant_start[%constant_start_ids] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x2xf32>
    %v11 = nn.lookup @zero_start[%zero_start_ids] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x2xf32>
    nn.return %v3, %v4, %v5, %v6, %v7, %v8, %v9, %v10, %v11 : tensor<?x1xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x1x2xf32>, tensor<?x1x2xf32>
  }

  nn.program @train reads(@sample) {
  ^bb0(%x1_field: tensor<?x1xf32>, %weight1: tensor<?x1xf32>, %sum_bags: !nn.ragged<?x2x*xi64>, %weight2: tensor<?x6xf32>, %sum_ids: tensor<?x2xi64>, %weight3: tensor<?x6xf32>, %mean_bags: !nn.ragged<?x2x*xi64>, %weight4: tensor<?x6xf32>, %mean_ids: tensor<?x2xi64>, %weight5: tensor<?x6xf32>, %sqrtn_bags: !nn.ragged<?x2x*xi64>, %weight6: tensor<?x6xf32>, %sqrtn_ids: tensor<?x2xi64>, %weight7: tensor<?x6xf32>, %constant_start_ids: tensor<?x1xi64>, %weight8: tensor<?x2xf32>, %zero_start_ids: tensor<?x1xi64>, %weight9: tensor<?x2xf32>):
    %r:9 = nn.call @compute(%x1_field, %weight1, %sum_bags, %weight2, %sum_ids, %weight3, %mean_bags, %weight4, %mean_ids, %weight5, %sqrtn_bags, %weight6, %sqrtn_ids, %weight7, %constant_start_ids, %weight8, %zero_start_ids, %weight9) : (tensor<?x1xf32>, tensor<?x1xf32>, !nn.ragged<?x2x*xi64>, tensor<?x6xf32>, tensor<?x2xi64>, tensor<?x6xf32>, !nn.ragged<?x2x*xi64>, tensor<?x6xf32>, tensor<?x2xi64>, tensor<?x6xf32>, !nn.ragged<?x2x*xi64>, tensor<?x6xf32>, tensor<?x2xi64>, tensor<?x6xf32>, tensor<?x1xi64>, tensor<?x2xf32>, tensor<?x1xi64>, tensor<?x2xf32>) -> (tensor<?x1xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x1x2xf32>, tensor<?x1x2xf32>)
    %product0 = nn.mul %r#0, %weight1 : tensor<?x1xf32>, tensor<?x1xf32>
    %term0 = nn.reduce sum %product0 axes [1] keep : tensor<?x1xf32>
    %flat1 = nn.reshape %r#1 : (tensor<?x2x3xf32>) -> tensor<?x6xf32>
    %product1 = nn.mul %flat1, %weight2 : tensor<?x6xf32>, tensor<?x6xf32>
    %term1 = nn.reduce sum %product1 axes [1] keep : tensor<?x6xf32>
    %total1 = nn.add %term0, %term1 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat2 = nn.reshape %r#2 : (tensor<?x2x3xf32>) -> tensor<?x6xf32>
    %product2 = nn.mul %flat2, %weight3 : tensor<?x6xf32>, tensor<?x6xf32>
    %term2 = nn.reduce sum %product2 axes [1] keep : tensor<?x6xf32>
    %total2 = nn.add %total1, %term2 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat3 = nn.reshape %r#3 : (tensor<?x2x3xf32>) -> tensor<?x6xf32>
    %product3 = nn.mul %flat3, %weight4 : tensor<?x6xf32>, tensor<?x6xf32>
    %term3 = nn.reduce sum %product3 axes [1] keep : tensor<?x6xf32>
    %total3 = nn.add %total2, %term3 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat4 = nn.reshape %r#4 : (tensor<?x2x3xf32>) -> tensor<?x6xf32>
    %product4 = nn.mul %flat4, %weight5 : tensor<?x6xf32>, tensor<?x6xf32>
    %term4 = nn.reduce sum %product4 axes [1] keep : tensor<?x6xf32>
    %total4 = nn.add %total3, %term4 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat5 = nn.reshape %r#5 : (tensor<?x2x3xf32>) -> tensor<?x6xf32>
    %product5 = nn.mul %flat5, %weight6 : tensor<?x6xf32>, tensor<?x6xf32>
    %term5 = nn.reduce sum %product5 axes [1] keep : tensor<?x6xf32>
    %total5 = nn.add %total4, %term5 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat6 = nn.reshape %r#6 : (tensor<?x2x3xf32>) -> tensor<?x6xf32>
    %product6 = nn.mul %flat6, %weight7 : tensor<?x6xf32>, tensor<?x6xf32>
    %term6 = nn.reduce sum %product6 axes [1] keep : tensor<?x6xf32>
    %total6 = nn.add %total5, %term6 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat7 = nn.reshape %r#7 : (tensor<?x1x2xf32>) -> tensor<?x2xf32>
    %product7 = nn.mul %flat7, %weight8 : tensor<?x2xf32>, tensor<?x2xf32>
    %term7 = nn.reduce sum %product7 axes [1] keep : tensor<?x2xf32>
    %total7 = nn.add %total6, %term7 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat8 = nn.reshape %r#8 : (tensor<?x1x2xf32>) -> tensor<?x2xf32>
    %product8 = nn.mul %flat8, %weight9 : tensor<?x2xf32>, tensor<?x2xf32>
    %term8 = nn.reduce sum %product8 axes [1] keep : tensor<?x2xf32>
    %total8 = nn.add %total7, %term8 : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %total8 over [@descent] : tensor<?x1xf32>
  }

  nn.program @predict frozen reads(@sample) {
  ^bb0(%x1_field: tensor<?x1xf32>, %weight1: tensor<?x1xf32>, %sum_bags: !nn.ragged<?x2x*xi64>, %weight2: tensor<?x6xf32>, %sum_ids: tensor<?x2xi64>, %weight3: tensor<?x6xf32>, %mean_bags: !nn.ragged<?x2x*xi64>, %weight4: tensor<?x6xf32>, %mean_ids: tensor<?x2xi64>, %weight5: tensor<?x6xf32>, %sqrtn_bags: !nn.ragged<?x2x*xi64>, %weight6: tensor<?x6xf32>, %sqrtn_ids: tensor<?x2xi64>, %weight7: tensor<?x6xf32>, %constant_start_ids: tensor<?x1xi64>, %weight8: tensor<?x2xf32>, %zero_start_ids: tensor<?x1xi64>, %weight9: tensor<?x2xf32>):
    %r:9 = nn.call @compute(%x1_field, %weight1, %sum_bags, %weight2, %sum_ids, %weight3, %mean_bags, %weight4, %mean_ids, %weight5, %sqrtn_bags, %weight6, %sqrtn_ids, %weight7, %constant_start_ids, %weight8, %zero_start_ids, %weight9) : (tensor<?x1xf32>, tensor<?x1xf32>, !nn.ragged<?x2x*xi64>, tensor<?x6xf32>, tensor<?x2xi64>, tensor<?x6xf32>, !nn.ragged<?x2x*xi64>, tensor<?x6xf32>, tensor<?x2xi64>, tensor<?x6xf32>, !nn.ragged<?x2x*xi64>, tensor<?x6xf32>, tensor<?x2xi64>, tensor<?x6xf32>, tensor<?x1xi64>, tensor<?x2xf32>, tensor<?x1xi64>, tensor<?x2xf32>) -> (tensor<?x1xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x1x2xf32>, tensor<?x1x2xf32>)
    nn.return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7, %r#8 : tensor<?x1xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x1x2xf32>, tensor<?x1x2xf32>
  }
}
