//===- features/model.mlir - bucketize, cross, concat and slice of ids -*- mlir -*-===//
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

module @features {
  nn.record @sample {
    nn.field @x1_field : tensor<?x1xf32>
    nn.field @weight1 : tensor<?x1xf32>
    nn.field @numbers : tensor<?x2xf32>
    nn.field @weight2 : tensor<?x4xf32>
    nn.field @ids : tensor<?x2xi64>
    nn.field @weight3 : tensor<?x4xf32>
    nn.field @weight4 : tensor<?x4xf32>
    nn.field @weight5 : tensor<?x4xf32>
    nn.field @first_bags : !nn.ragged<?x2x*xi64>
    nn.field @second_bags : !nn.ragged<?x2x*xi64>
    nn.field @weight6 : tensor<?x4xf32>
    nn.field @weight7 : tensor<?x4xf32>
    nn.field @weight8 : tensor<?x2xf32>
    nn.field @weight9 : tensor<?x4xf32>
    nn.field @weight10 : tensor<?x6xf32>
  }
  nn.group @descent rule(@sgd) rate(1.0)
  nn.param @x1_shift : tensor<1xf32> in @descent init(#nn.zeros)
  nn.table @bucketize_rows : i64 -> tensor<2xf32> in @descent init(#nn.zeros) unknown(zero)
  nn.table @rehash_rows : i64 -> tensor<2xf32> in @descent init(#nn.zeros) unknown(zero)
  nn.table @cross_rows : i64 -> tensor<2xf32> in @descent init(#nn.zeros) unknown(zero)
  nn.table @cross_three_rows : i64 -> tensor<2xf32> in @descent init(#nn.zeros) unknown(zero)
  nn.table @cross_bags_rows : i64 -> tensor<2xf32> in @descent init(#nn.zeros) unknown(zero)
  nn.table @cross_mixed_rows : i64 -> tensor<2xf32> in @descent init(#nn.zeros) unknown(zero)
  nn.table @slice_ids_rows : i64 -> tensor<2xf32> in @descent init(#nn.zeros) unknown(zero)
  nn.table @reshape_ids_rows : i64 -> tensor<2xf32> in @descent init(#nn.zeros) unknown(zero)
  nn.table @concat_ids_rows : i64 -> tensor<2xf32> in @descent init(#nn.zeros) unknown(zero)

  nn.func private @compute(%x1_field: tensor<?x1xf32>, %weight1: tensor<?x1xf32>, %numbers: tensor<?x2xf32>, %weight2: tensor<?x4xf32>, %ids: tensor<?x2xi64>, %weight3: tensor<?x4xf32>, %weight4: tensor<?x4xf32>, %weight5: tensor<?x4xf32>, %first_bags: !nn.ragged<?x2x*xi64>, %second_bags: !nn.ragged<?x2x*xi64>, %weight6: tensor<?x4xf32>, %weight7: tensor<?x4xf32>, %weight8: tensor<?x2xf32>, %weight9: tensor<?x4xf32>, %weight10: tensor<?x6xf32>) -> (tensor<?x1xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x1x2xf32>, tensor<?x2x2xf32>, tensor<?x3x2xf32>) {
    %x1_shift = nn.read @x1_shift : tensor<1xf32>
    %v2 = nn.add %x1_field, %x1_shift : tensor<?x1xf32>, tensor<1xf32>
    %v3 = nn.neg %v2 : tensor<?x1xf32>
    %v4 = nn.bucketize %numbers boundaries [-1.5, 0.0, 0.25, 18.0, 65.0] : tensor<?x2xf32>
    %v5 = nn.lookup @bucketize_rows[%v4] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x2xf32>
    %v6 = nn.cross %v4 salt(7) : tensor<?x2xi64>
    %v7 = nn.lookup @rehash_rows[%v6] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x2xf32>
    %v8 = nn.cross %v4, %ids : tensor<?x2xi64>, tensor<?x2xi64>
    %v9 = nn.lookup @cross_rows[%v8] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x2xf32>
    %v10 = nn.cross %ids, %v4, %ids salt(1099511627776) : tensor<?x2xi64>, tensor<?x2xi64>, tensor<?x2xi64>
    %v11 = nn.lookup @cross_three_rows[%v10] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x2xf32>
    %v12 = nn.cross %first_bags, %second_bags salt(3) : !nn.ragged<?x2x*xi64>, !nn.ragged<?x2x*xi64>
    %v13 = nn.lookup @cross_bags_rows[%v12] pool(sum) : (!nn.ragged<?x2x*xi64>) -> tensor<?x2x2xf32>
    %v14 = nn.cross %first_bags, %ids salt(4) : !nn.ragged<?x2x*xi64>, tensor<?x2xi64>
    %v15 = nn.lookup @cross_mixed_rows[%v14] pool(sum) : (!nn.ragged<?x2x*xi64>) -> tensor<?x2x2xf32>
    %v16 = nn.slice %ids axis 1 offset 1 size 1 : tensor<?x2xi64>
    %v17 = nn.lookup @slice_ids_rows[%v16] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x2xf32>
    %v18 = nn.reshape %ids : (tensor<?x2xi64>) -> tensor<?x2x1xi64>
    %v19 = nn.reshape %v18 : (tensor<?x2x1xi64>) -> tensor<?x2xi64>
    %v20 = nn.lookup @reshape_ids_rows[%v19] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x2xf32>
    %v21 = nn.concat %v16, %v4 axis 1 : tensor<?x1xi64>, tensor<?x2xi64>
    %v22 = nn.lookup @concat_ids_rows[%v21] pool(sum) : (tensor<?x3xi64>) -> tensor<?x3x2xf32>
    nn.return %v3, %v5, %v7, %v9, %v11, %v13, %v15, %v17, %v20, %v22 : tensor<?x1xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x1x2xf32>, tensor<?x2x2xf32>, tensor<?x3x2xf32>
  }

  nn.program @train reads(@sample) {
  ^bb0(%x1_field: tensor<?x1xf32>, %weight1: tensor<?x1xf32>, %numbers: tensor<?x2xf32>, %weight2: tensor<?x4xf32>, %ids: tensor<?x2xi64>, %weight3: tensor<?x4xf32>, %weight4: tensor<?x4xf32>, %weight5: tensor<?x4xf32>, %first_bags: !nn.ragged<?x2x*xi64>, %second_bags: !nn.ragged<?x2x*xi64>, %weight6: tensor<?x4xf32>, %weight7: tensor<?x4xf32>, %weight8: tensor<?x2xf32>, %weight9: tensor<?x4xf32>, %weight10: tensor<?x6xf32>):
    %r:10 = nn.call @compute(%x1_field, %weight1, %numbers, %weight2, %ids, %weight3, %weight4, %weight5, %first_bags, %second_bags, %weight6, %weight7, %weight8, %weight9, %weight10) : (tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x2xf32>, tensor<?x4xf32>, tensor<?x2xi64>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, !nn.ragged<?x2x*xi64>, !nn.ragged<?x2x*xi64>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x2xf32>, tensor<?x4xf32>, tensor<?x6xf32>) -> (tensor<?x1xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x1x2xf32>, tensor<?x2x2xf32>, tensor<?x3x2xf32>)
    %product0 = nn.mul %r#0, %weight1 : tensor<?x1xf32>, tensor<?x1xf32>
    %term0 = nn.reduce sum %product0 axes [1] keep : tensor<?x1xf32>
    %flat1 = nn.reshape %r#1 : (tensor<?x2x2xf32>) -> tensor<?x4xf32>
    %product1 = nn.mul %flat1, %weight2 : tensor<?x4xf32>, tensor<?x4xf32>
    %term1 = nn.reduce sum %product1 axes [1] keep : tensor<?x4xf32>
    %total1 = nn.add %term0, %term1 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat2 = nn.reshape %r#2 : (tensor<?x2x2xf32>) -> tensor<?x4xf32>
    %product2 = nn.mul %flat2, %weight3 : tensor<?x4xf32>, tensor<?x4xf32>
    %term2 = nn.reduce sum %product2 axes [1] keep : tensor<?x4xf32>
    %total2 = nn.add %total1, %term2 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat3 = nn.reshape %r#3 : (tensor<?x2x2xf32>) -> tensor<?x4xf32>
    %product3 = nn.mul %flat3, %weight4 : tensor<?x4xf32>, tensor<?x4xf32>
    %term3 = nn.reduce sum %product3 axes [1] keep : tensor<?x4xf32>
    %total3 = nn.add %total2, %term3 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat4 = nn.reshape %r#4 : (tensor<?x2x2xf32>) -> tensor<?x4xf32>
    %product4 = nn.mul %flat4, %weight5 : tensor<?x4xf32>, tensor<?x4xf32>
    %term4 = nn.reduce sum %product4 axes [1] keep : tensor<?x4xf32>
    %total4 = nn.add %total3, %term4 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat5 = nn.reshape %r#5 : (tensor<?x2x2xf32>) -> tensor<?x4xf32>
    %product5 = nn.mul %flat5, %weight6 : tensor<?x4xf32>, tensor<?x4xf32>
    %term5 = nn.reduce sum %product5 axes [1] keep : tensor<?x4xf32>
    %total5 = nn.add %total4, %term5 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat6 = nn.reshape %r#6 : (tensor<?x2x2xf32>) -> tensor<?x4xf32>
    %product6 = nn.mul %flat6, %weight7 : tensor<?x4xf32>, tensor<?x4xf32>
    %term6 = nn.reduce sum %product6 axes [1] keep : tensor<?x4xf32>
    %total6 = nn.add %total5, %term6 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat7 = nn.reshape %r#7 : (tensor<?x1x2xf32>) -> tensor<?x2xf32>
    %product7 = nn.mul %flat7, %weight8 : tensor<?x2xf32>, tensor<?x2xf32>
    %term7 = nn.reduce sum %product7 axes [1] keep : tensor<?x2xf32>
    %total7 = nn.add %total6, %term7 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat8 = nn.reshape %r#8 : (tensor<?x2x2xf32>) -> tensor<?x4xf32>
    %product8 = nn.mul %flat8, %weight9 : tensor<?x4xf32>, tensor<?x4xf32>
    %term8 = nn.reduce sum %product8 axes [1] keep : tensor<?x4xf32>
    %total8 = nn.add %total7, %term8 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat9 = nn.reshape %r#9 : (tensor<?x3x2xf32>) -> tensor<?x6xf32>
    %product9 = nn.mul %flat9, %weight10 : tensor<?x6xf32>, tensor<?x6xf32>
    %term9 = nn.reduce sum %product9 axes [1] keep : tensor<?x6xf32>
    %total9 = nn.add %total8, %term9 : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %total9 over [@descent] : tensor<?x1xf32>
  }

  nn.program @predict frozen reads(@sample) {
  ^bb0(%x1_field: tensor<?x1xf32>, %weight1: tensor<?x1xf32>, %numbers: tensor<?x2xf32>, %weight2: tensor<?x4xf32>, %ids: tensor<?x2xi64>, %weight3: tensor<?x4xf32>, %weight4: tensor<?x4xf32>, %weight5: tensor<?x4xf32>, %first_bags: !nn.ragged<?x2x*xi64>, %second_bags: !nn.ragged<?x2x*xi64>, %weight6: tensor<?x4xf32>, %weight7: tensor<?x4xf32>, %weight8: tensor<?x2xf32>, %weight9: tensor<?x4xf32>, %weight10: tensor<?x6xf32>):
    %r:10 = nn.call @compute(%x1_field, %weight1, %numbers, %weight2, %ids, %weight3, %weight4, %weight5, %first_bags, %second_bags, %weight6, %weight7, %weight8, %weight9, %weight10) : (tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x2xf32>, tensor<?x4xf32>, tensor<?x2xi64>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, !nn.ragged<?x2x*xi64>, !nn.ragged<?x2x*xi64>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x2xf32>, tensor<?x4xf32>, tensor<?x6xf32>) -> (tensor<?x1xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x1x2xf32>, tensor<?x2x2xf32>, tensor<?x3x2xf32>)
    nn.return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7, %r#8, %r#9 : tensor<?x1xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x1x2xf32>, tensor<?x2x2xf32>, tensor<?x3x2xf32>
  }
}
