//===- weighted/model.mlir - Lookups with weights, and rows beside each other -*- mlir -*-===//
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

module @weighted {
  nn.record @sample {
    nn.field @bags : !nn.ragged<?x2x*xi64>
    nn.field @seconds : !nn.ragged<?x2x*xi64>
    nn.field @weight1 : tensor<?x6xf32>
    nn.field @weight2 : tensor<?x6xf32>
    nn.field @weight3 : tensor<?x6xf32>
    nn.field @weight4 : tensor<?x6xf32>
    nn.field @weight5 : tensor<?x6xf32>
    nn.field @weight6 : tensor<?x6xf32>
    nn.field @weight7 : tensor<?x6xf32>
    nn.field @weight8 : tensor<?x6xf32>
    nn.field @weight9 : tensor<?x18xf32>
    nn.field @weight10 : tensor<?x6xf32>
    nn.field @weight11 : tensor<?x12xf32>
    nn.field @weight12 : tensor<?x18xf32>
    nn.field @shares : !nn.ragged<?x2x*xf32>
    nn.field @weight13 : tensor<?x6xf32>
    nn.field @weight14 : tensor<?x6xf32>
    nn.field @weight15 : tensor<?x8xf32>
    nn.field @weight16 : tensor<?x6xf32>
  }
  nn.group @descent rule(@sgd) rate(1.0)
  nn.table @weights : i64 -> tensor<1xf32> in @descent init(#nn.zeros)
  nn.table @given_sum_rows : i64 -> tensor<3xf32> in @descent init(#nn.zeros)
  nn.table @given_mean_rows : i64 -> tensor<3xf32> in @descent init(#nn.zeros)
  nn.table @given_sqrtn_rows : i64 -> tensor<3xf32> in @descent init(#nn.zeros)
  nn.table @learned_sum_rows : i64 -> tensor<3xf32> in @descent init(#nn.zeros)
  nn.table @learned_mean_rows : i64 -> tensor<3xf32> in @descent init(#nn.zeros)
  nn.table @learned_sqrtn_rows : i64 -> tensor<3xf32> in @descent init(#nn.zeros)
  nn.table @zero_rows : i64 -> tensor<3xf32> in @descent init(#nn.zeros)
  nn.table @x_rows : i64 -> tensor<3xf32> in @descent init(#nn.zeros)
  nn.table @shares_sum_rows : i64 -> tensor<3xf32> in @descent init(#nn.zeros)
  nn.table @shares_mean_rows : i64 -> tensor<3xf32> in @descent init(#nn.zeros)
  nn.table @beside_rows : i64 -> tensor<3xf32> in @descent init(#nn.zeros)

  nn.func private @compute(%bags: !nn.ragged<?x2x*xi64>, %seconds: !nn.ragged<?x2x*xi64>, %weight1: tensor<?x6xf32>, %weight2: tensor<?x6xf32>, %weight3: tensor<?x6xf32>, %weight4: tensor<?x6xf32>, %weight5: tensor<?x6xf32>, %weight6: tensor<?x6xf32>, %weight7: tensor<?x6xf32>, %weight8: tensor<?x6xf32>, %weight9: tensor<?x18xf32>, %weight10: tensor<?x6xf32>, %weight11: tensor<?x12xf32>, %weight12: tensor<?x18xf32>, %shares: !nn.ragged<?x2x*xf32>, %weight13: tensor<?x6xf32>, %weight14: tensor<?x6xf32>, %weight15: tensor<?x8xf32>, %weight16: tensor<?x6xf32>) -> (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x9xf32>, tensor<?x2x3xf32>, tensor<?x2x6xf32>, tensor<?x2x9xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x4xf32>, tensor<?x2x3x1xf32>) {
    %joined = nn.same_bags %seconds like %bags : !nn.ragged<?x2x*xi64>
    %v1 = nn.cast %joined : (!nn.ragged<?x2x*xi64>) -> tensor<?x1xf32>
    %v2 = nn.lookup @weights[%bags] pool(none) : (!nn.ragged<?x2x*xi64>) -> tensor<?x1xf32>
    %v3 = nn.exp %v2 : tensor<?x1xf32>
    %v4 = nn.lookup @given_sum_rows[%bags] weights(%v1) pool(sum) : (!nn.ragged<?x2x*xi64>, tensor<?x1xf32>) -> tensor<?x2x3xf32>
    %v5 = nn.lookup @given_mean_rows[%bags] weights(%v1) pool(mean) : (!nn.ragged<?x2x*xi64>, tensor<?x1xf32>) -> tensor<?x2x3xf32>
    %v6 = nn.lookup @given_sqrtn_rows[%bags] weights(%v1) pool(sqrtn) : (!nn.ragged<?x2x*xi64>, tensor<?x1xf32>) -> tensor<?x2x3xf32>
    %v7 = nn.lookup @learned_sum_rows[%bags] weights(%v3) pool(sum) : (!nn.ragged<?x2x*xi64>, tensor<?x1xf32>) -> tensor<?x2x3xf32>
    %v8 = nn.lookup @learned_mean_rows[%bags] weights(%v3) pool(mean) : (!nn.ragged<?x2x*xi64>, tensor<?x1xf32>) -> tensor<?x2x3xf32>
    %v9 = nn.lookup @learned_sqrtn_rows[%bags] weights(%v3) pool(sqrtn) : (!nn.ragged<?x2x*xi64>, tensor<?x1xf32>) -> tensor<?x2x3xf32>
    %v10 = nn.sub %v1, %v1 : tensor<?x1xf32>, tensor<?x1xf32>
    %v11 = nn.lookup @zero_rows[%bags] weights(%v10) pool(mean) : (!nn.ragged<?x2x*xi64>, tensor<?x1xf32>) -> tensor<?x2x3xf32>
    %v12 = nn.lookup @zero_rows[%bags] weights(%v10) pool(sqrtn) : (!nn.ragged<?x2x*xi64>, tensor<?x1xf32>) -> tensor<?x2x3xf32>
    %v13 = nn.lookup @x_rows[%bags] pool(none) : (!nn.ragged<?x2x*xi64>) -> tensor<?x3xf32>
    %v14 = nn.segment_window %v13 of %bags from -1 to 1 : tensor<?x3xf32>, !nn.ragged<?x2x*xi64>
    %v15 = nn.mul %v14, %v1 : tensor<?x9xf32>, tensor<?x1xf32>
    %v16 = nn.segment_sum %v15 of %bags : (tensor<?x9xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x9xf32>
    %v17 = nn.segment_window %v13 of %bags from 0 to 0 : tensor<?x3xf32>, !nn.ragged<?x2x*xi64>
    %v18 = nn.mul %v17, %v1 : tensor<?x3xf32>, tensor<?x1xf32>
    %v19 = nn.segment_sum %v18 of %bags : (tensor<?x3xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x3xf32>
    %v20 = nn.segment_window %v13 of %bags from -3 to -2 : tensor<?x3xf32>, !nn.ragged<?x2x*xi64>
    %v21 = nn.mul %v20, %v1 : tensor<?x6xf32>, tensor<?x1xf32>
    %v22 = nn.segment_sum %v21 of %bags : (tensor<?x6xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x6xf32>
    %v23 = nn.segment_window %v13 of %bags from 1 to 3 : tensor<?x3xf32>, !nn.ragged<?x2x*xi64>
    %v24 = nn.mul %v23, %v1 : tensor<?x9xf32>, tensor<?x1xf32>
    %v25 = nn.segment_sum %v24 of %bags : (tensor<?x9xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x9xf32>
    %joined_shares = nn.same_bags %shares like %bags : !nn.ragged<?x2x*xf32>, !nn.ragged<?x2x*xi64>
    %v26 = nn.cast %joined_shares : (!nn.ragged<?x2x*xf32>) -> tensor<?x1xf32>
    %v27 = nn.lookup @shares_sum_rows[%bags] weights(%v26) pool(sum) : (!nn.ragged<?x2x*xi64>, tensor<?x1xf32>) -> tensor<?x2x3xf32>
    %v28 = nn.lookup @shares_mean_rows[%bags] weights(%v26) pool(mean) : (!nn.ragged<?x2x*xi64>, tensor<?x1xf32>) -> tensor<?x2x3xf32>
    %v29 = nn.lookup @beside_rows[%bags] pool(none) : (!nn.ragged<?x2x*xi64>) -> tensor<?x3xf32>
    %v30 = nn.concat %v29, %v26 axis 1 : tensor<?x3xf32>, tensor<?x1xf32>
    %v31 = nn.mul %v30, %v30 : tensor<?x4xf32>, tensor<?x4xf32>
    %v32 = nn.segment_sum %v31 of %bags : (tensor<?x4xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x4xf32>
    %alone = nn.cast %shares : (!nn.ragged<?x2x*xf32>) -> tensor<?x1xf32>
    %v33 = nn.segment_pad %alone of %shares : (tensor<?x1xf32>, !nn.ragged<?x2x*xf32>) -> tensor<?x2x3x1xf32>
    nn.return %v4, %v5, %v6, %v7, %v8, %v9, %v11, %v12, %v16, %v19, %v22, %v25, %v27, %v28, %v32, %v33 : tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x9xf32>, tensor<?x2x3xf32>, tensor<?x2x6xf32>, tensor<?x2x9xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x4xf32>, tensor<?x2x3x1xf32>
  }

  nn.program @train reads(@sample) {
  ^bb0(%bags: !nn.ragged<?x2x*xi64>, %seconds: !nn.ragged<?x2x*xi64>, %weight1: tensor<?x6xf32>, %weight2: tensor<?x6xf32>, %weight3: tensor<?x6xf32>, %weight4: tensor<?x6xf32>, %weight5: tensor<?x6xf32>, %weight6: tensor<?x6xf32>, %weight7: tensor<?x6xf32>, %weight8: tensor<?x6xf32>, %weight9: tensor<?x18xf32>, %weight10: tensor<?x6xf32>, %weight11: tensor<?x12xf32>, %weight12: tensor<?x18xf32>, %shares: !nn.ragged<?x2x*xf32>, %weight13: tensor<?x6xf32>, %weight14: tensor<?x6xf32>, %weight15: tensor<?x8xf32>, %weight16: tensor<?x6xf32>):
    %r:16 = nn.call @compute(%bags, %seconds, %weight1, %weight2, %weight3, %weight4, %weight5, %weight6, %weight7, %weight8, %weight9, %weight10, %weight11, %weight12, %shares, %weight13, %weight14, %weight15, %weight16) : (!nn.ragged<?x2x*xi64>, !nn.ragged<?x2x*xi64>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x18xf32>, tensor<?x6xf32>, tensor<?x12xf32>, tensor<?x18xf32>, !nn.ragged<?x2x*xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x8xf32>, tensor<?x6xf32>) -> (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x9xf32>, tensor<?x2x3xf32>, tensor<?x2x6xf32>, tensor<?x2x9xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x4xf32>, tensor<?x2x3x1xf32>)
    %flat0 = nn.reshape %r#0 : (tensor<?x2x3xf32>) -> tensor<?x6xf32>
    %product0 = nn.mul %flat0, %weight1 : tensor<?x6xf32>, tensor<?x6xf32>
    %term0 = nn.reduce sum %product0 axes [1] keep : tensor<?x6xf32>
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
    %flat7 = nn.reshape %r#7 : (tensor<?x2x3xf32>) -> tensor<?x6xf32>
    %product7 = nn.mul %flat7, %weight8 : tensor<?x6xf32>, tensor<?x6xf32>
    %term7 = nn.reduce sum %product7 axes [1] keep : tensor<?x6xf32>
    %total7 = nn.add %total6, %term7 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat8 = nn.reshape %r#8 : (tensor<?x2x9xf32>) -> tensor<?x18xf32>
    %product8 = nn.mul %flat8, %weight9 : tensor<?x18xf32>, tensor<?x18xf32>
    %term8 = nn.reduce sum %product8 axes [1] keep : tensor<?x18xf32>
    %total8 = nn.add %total7, %term8 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat9 = nn.reshape %r#9 : (tensor<?x2x3xf32>) -> tensor<?x6xf32>
    %product9 = nn.mul %flat9, %weight10 : tensor<?x6xf32>, tensor<?x6xf32>
    %term9 = nn.reduce sum %product9 axes [1] keep : tensor<?x6xf32>
    %total9 = nn.add %total8, %term9 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat10 = nn.reshape %r#10 : (tensor<?x2x6xf32>) -> tensor<?x12xf32>
    %product10 = nn.mul %flat10, %weight11 : tensor<?x12xf32>, tensor<?x12xf32>
    %term10 = nn.reduce sum %product10 axes [1] keep : tensor<?x12xf32>
    %total10 = nn.add %total9, %term10 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat11 = nn.reshape %r#11 : (tensor<?x2x9xf32>) -> tensor<?x18xf32>
    %product11 = nn.mul %flat11, %weight12 : tensor<?x18xf32>, tensor<?x18xf32>
    %term11 = nn.reduce sum %product11 axes [1] keep : tensor<?x18xf32>
    %total11 = nn.add %total10, %term11 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat12 = nn.reshape %r#12 : (tensor<?x2x3xf32>) -> tensor<?x6xf32>
    %product12 = nn.mul %flat12, %weight13 : tensor<?x6xf32>, tensor<?x6xf32>
    %term12 = nn.reduce sum %product12 axes [1] keep : tensor<?x6xf32>
    %total12 = nn.add %total11, %term12 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat13 = nn.reshape %r#13 : (tensor<?x2x3xf32>) -> tensor<?x6xf32>
    %product13 = nn.mul %flat13, %weight14 : tensor<?x6xf32>, tensor<?x6xf32>
    %term13 = nn.reduce sum %product13 axes [1] keep : tensor<?x6xf32>
    %total13 = nn.add %total12, %term13 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat14 = nn.reshape %r#14 : (tensor<?x2x4xf32>) -> tensor<?x8xf32>
    %product14 = nn.mul %flat14, %weight15 : tensor<?x8xf32>, tensor<?x8xf32>
    %term14 = nn.reduce sum %product14 axes [1] keep : tensor<?x8xf32>
    %total14 = nn.add %total13, %term14 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat15 = nn.reshape %r#15 : (tensor<?x2x3x1xf32>) -> tensor<?x6xf32>
    %product15 = nn.mul %flat15, %weight16 : tensor<?x6xf32>, tensor<?x6xf32>
    %term15 = nn.reduce sum %product15 axes [1] keep : tensor<?x6xf32>
    %total15 = nn.add %total14, %term15 : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %total15 over [@descent] : tensor<?x1xf32>
  }

  nn.program @predict frozen reads(@sample) {
  ^bb0(%bags: !nn.ragged<?x2x*xi64>, %seconds: !nn.ragged<?x2x*xi64>, %weight1: tensor<?x6xf32>, %weight2: tensor<?x6xf32>, %weight3: tensor<?x6xf32>, %weight4: tensor<?x6xf32>, %weight5: tensor<?x6xf32>, %weight6: tensor<?x6xf32>, %weight7: tensor<?x6xf32>, %weight8: tensor<?x6xf32>, %weight9: tensor<?x18xf32>, %weight10: tensor<?x6xf32>, %weight11: tensor<?x12xf32>, %weight12: tensor<?x18xf32>, %shares: !nn.ragged<?x2x*xf32>, %weight13: tensor<?x6xf32>, %weight14: tensor<?x6xf32>, %weight15: tensor<?x8xf32>, %weight16: tensor<?x6xf32>):
    %r:16 = nn.call @compute(%bags, %seconds, %weight1, %weight2, %weight3, %weight4, %weight5, %weight6, %weight7, %weight8, %weight9, %weight10, %weight11, %weight12, %shares, %weight13, %weight14, %weight15, %weight16) : (!nn.ragged<?x2x*xi64>, !nn.ragged<?x2x*xi64>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x18xf32>, tensor<?x6xf32>, tensor<?x12xf32>, tensor<?x18xf32>, !nn.ragged<?x2x*xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x8xf32>, tensor<?x6xf32>) -> (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x9xf32>, tensor<?x2x3xf32>, tensor<?x2x6xf32>, tensor<?x2x9xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x4xf32>, tensor<?x2x3x1xf32>)
    nn.return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7, %r#8, %r#9, %r#10, %r#11, %r#12, %r#13, %r#14, %r#15 : tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x9xf32>, tensor<?x2x3xf32>, tensor<?x2x6xf32>, tensor<?x2x9xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x4xf32>, tensor<?x2x3x1xf32>
  }
}
