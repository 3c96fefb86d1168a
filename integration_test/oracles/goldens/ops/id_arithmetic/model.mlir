//===- id_arithmetic/model.mlir - Ids, each computed with one number -*- mlir -*-===//
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

module @id_arithmetic {
  nn.record @sample {
    nn.field @x1_field : tensor<?x1xf32>
    nn.field @weight1 : tensor<?x1xf32>
    nn.field @ids : tensor<?x2xi64>
    nn.field @bags : !nn.ragged<?x2x*xi64>
    nn.field @weight2 : tensor<?x4xf32>
    nn.field @weight3 : tensor<?x4xf32>
    nn.field @weight4 : tensor<?x4xf32>
    nn.field @weight5 : tensor<?x4xf32>
    nn.field @weight6 : tensor<?x4xf32>
    nn.field @weight7 : tensor<?x4xf32>
    nn.field @weight8 : tensor<?x4xf32>
    nn.field @weight9 : tensor<?x4xf32>
    nn.field @weight10 : tensor<?x4xf32>
    nn.field @weight11 : tensor<?x4xf32>
    nn.field @weight12 : tensor<?x4xf32>
    nn.field @weight13 : tensor<?x4xf32>
    nn.field @weight14 : tensor<?x4xf32>
    nn.field @weight15 : tensor<?x4xf32>
    nn.field @weight16 : tensor<?x4xf32>
    nn.field @weight17 : tensor<?x4xf32>
    nn.field @weight18 : tensor<?x4xf32>
    nn.field @weight19 : tensor<?x4xf32>
    nn.field @weight20 : tensor<?x6xf32>
  }
  nn.group @descent rule(@sgd) rate(1.0)
  nn.param @x1_shift : tensor<1xf32> in @descent init(#nn.zeros)
  nn.table @add_7_rows : i64 -> tensor<2xf32> in @descent init(#nn.zeros) unknown(zero)
  nn.table @add_7_bags_rows : i64 -> tensor<2xf32> in @descent init(#nn.zeros) unknown(zero)
  nn.table @add_minus_9223372036854775808_rows : i64 -> tensor<2xf32> in @descent init(#nn.zeros) unknown(zero)
  nn.table @add_minus_9223372036854775808_bags_rows : i64 -> tensor<2xf32> in @descent init(#nn.zeros) unknown(zero)
  nn.table @multiply_3_rows : i64 -> tensor<2xf32> in @descent init(#nn.zeros) unknown(zero)
  nn.table @multiply_3_bags_rows : i64 -> tensor<2xf32> in @descent init(#nn.zeros) unknown(zero)
  nn.table @multiply_minus_1099511627776_rows : i64 -> tensor<2xf32> in @descent init(#nn.zeros) unknown(zero)
  nn.table @multiply_minus_1099511627776_bags_rows : i64 -> tensor<2xf32> in @descent init(#nn.zeros) unknown(zero)
  nn.table @quotient_3_rows : i64 -> tensor<2xf32> in @descent init(#nn.zeros) unknown(zero)
  nn.table @quotient_3_bags_rows : i64 -> tensor<2xf32> in @descent init(#nn.zeros) unknown(zero)
  nn.table @quotient_4611686018427387904_rows : i64 -> tensor<2xf32> in @descent init(#nn.zeros) unknown(zero)
  nn.table @quotient_4611686018427387904_bags_rows : i64 -> tensor<2xf32> in @descent init(#nn.zeros) unknown(zero)
  nn.table @remainder_3_rows : i64 -> tensor<2xf32> in @descent init(#nn.zeros) unknown(zero)
  nn.table @remainder_3_bags_rows : i64 -> tensor<2xf32> in @descent init(#nn.zeros) unknown(zero)
  nn.table @remainder_9223372036854775807_rows : i64 -> tensor<2xf32> in @descent init(#nn.zeros) unknown(zero)
  nn.table @remainder_9223372036854775807_bags_rows : i64 -> tensor<2xf32> in @descent init(#nn.zeros) unknown(zero)
  nn.table @remainder_1_rows : i64 -> tensor<2xf32> in @descent init(#nn.zeros) unknown(zero)
  nn.table @remainder_1_bags_rows : i64 -> tensor<2xf32> in @descent init(#nn.zeros) unknown(zero)
  nn.table @part_quotient : i64 -> tensor<3xf32> in @descent init(#nn.zeros)
  nn.table @part_remainder : i64 -> tensor<3xf32> in @descent init(#nn.zeros)

  nn.func private @compute(%x1_field: tensor<?x1xf32>, %weight1: tensor<?x1xf32>, %ids: tensor<?x2xi64>, %bags: !nn.ragged<?x2x*xi64>, %weight2: tensor<?x4xf32>, %weight3: tensor<?x4xf32>, %weight4: tensor<?x4xf32>, %weight5: tensor<?x4xf32>, %weight6: tensor<?x4xf32>, %weight7: tensor<?x4xf32>, %weight8: tensor<?x4xf32>, %weight9: tensor<?x4xf32>, %weight10: tensor<?x4xf32>, %weight11: tensor<?x4xf32>, %weight12: tensor<?x4xf32>, %weight13: tensor<?x4xf32>, %weight14: tensor<?x4xf32>, %weight15: tensor<?x4xf32>, %weight16: tensor<?x4xf32>, %weight17: tensor<?x4xf32>, %weight18: tensor<?x4xf32>, %weight19: tensor<?x4xf32>, %weight20: tensor<?x6xf32>) -> (tensor<?x1xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x3xf32>) {
    %x1_shift = nn.read @x1_shift : tensor<1xf32>
    %v2 = nn.add %x1_field, %x1_shift : tensor<?x1xf32>, tensor<1xf32>
    %v3 = nn.neg %v2 : tensor<?x1xf32>
    %v4 = nn.id_arithmetic add %ids with 7 : tensor<?x2xi64>
    %v5 = nn.lookup @add_7_rows[%v4] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x2xf32>
    %v6 = nn.id_arithmetic add %bags with 7 : !nn.ragged<?x2x*xi64>
    %v7 = nn.lookup @add_7_bags_rows[%v6] pool(sum) : (!nn.ragged<?x2x*xi64>) -> tensor<?x2x2xf32>
    %v8 = nn.id_arithmetic add %ids with -9223372036854775808 : tensor<?x2xi64>
    %v9 = nn.lookup @add_minus_9223372036854775808_rows[%v8] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x2xf32>
    %v10 = nn.id_arithmetic add %bags with -9223372036854775808 : !nn.ragged<?x2x*xi64>
    %v11 = nn.lookup @add_minus_9223372036854775808_bags_rows[%v10] pool(sum) : (!nn.ragged<?x2x*xi64>) -> tensor<?x2x2xf32>
    %v12 = nn.id_arithmetic multiply %ids with 3 : tensor<?x2xi64>
    %v13 = nn.lookup @multiply_3_rows[%v12] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x2xf32>
    %v14 = nn.id_arithmetic multiply %bags with 3 : !nn.ragged<?x2x*xi64>
    %v15 = nn.lookup @multiply_3_bags_rows[%v14] pool(sum) : (!nn.ragged<?x2x*xi64>) -> tensor<?x2x2xf32>
    %v16 = nn.id_arithmetic multiply %ids with -1099511627776 : tensor<?x2xi64>
    %v17 = nn.lookup @multiply_minus_1099511627776_rows[%v16] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x2xf32>
    %v18 = nn.id_arithmetic multiply %bags with -1099511627776 : !nn.ragged<?x2x*xi64>
    %v19 = nn.lookup @multiply_minus_1099511627776_bags_rows[%v18] pool(sum) : (!nn.ragged<?x2x*xi64>) -> tensor<?x2x2xf32>
    %v20 = nn.id_arithmetic quotient %ids with 3 : tensor<?x2xi64>
    %v21 = nn.lookup @quotient_3_rows[%v20] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x2xf32>
    %v22 = nn.id_arithmetic quotient %bags with 3 : !nn.ragged<?x2x*xi64>
    %v23 = nn.lookup @quotient_3_bags_rows[%v22] pool(sum) : (!nn.ragged<?x2x*xi64>) -> tensor<?x2x2xf32>
    %v24 = nn.id_arithmetic quotient %ids with 4611686018427387904 : tensor<?x2xi64>
    %v25 = nn.lookup @quotient_4611686018427387904_rows[%v24] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x2xf32>
    %v26 = nn.id_arithmetic quotient %bags with 4611686018427387904 : !nn.ragged<?x2x*xi64>
    %v27 = nn.lookup @quotient_4611686018427387904_bags_rows[%v26] pool(sum) : (!nn.ragged<?x2x*xi64>) -> tensor<?x2x2xf32>
    %v28 = nn.id_arithmetic remainder %ids with 3 : tensor<?x2xi64>
    %v29 = nn.lookup @remainder_3_rows[%v28] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x2xf32>
    %v30 = nn.id_arithmetic remainder %bags with 3 : !nn.ragged<?x2x*xi64>
    %v31 = nn.lookup @remainder_3_bags_rows[%v30] pool(sum) : (!nn.ragged<?x2x*xi64>) -> tensor<?x2x2xf32>
    %v32 = nn.id_arithmetic remainder %ids with 9223372036854775807 : tensor<?x2xi64>
    %v33 = nn.lookup @remainder_9223372036854775807_rows[%v32] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x2xf32>
    %v34 = nn.id_arithmetic remainder %bags with 9223372036854775807 : !nn.ragged<?x2x*xi64>
    %v35 = nn.lookup @remainder_9223372036854775807_bags_rows[%v34] pool(sum) : (!nn.ragged<?x2x*xi64>) -> tensor<?x2x2xf32>
    %v36 = nn.id_arithmetic remainder %ids with 1 : tensor<?x2xi64>
    %v37 = nn.lookup @remainder_1_rows[%v36] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x2xf32>
    %v38 = nn.id_arithmetic remainder %bags with 1 : !nn.ragged<?x2x*xi64>
    %v39 = nn.lookup @remainder_1_bags_rows[%v38] pool(sum) : (!nn.ragged<?x2x*xi64>) -> tensor<?x2x2xf32>
    %v40 = nn.id_arithmetic quotient %bags with 5 : !nn.ragged<?x2x*xi64>
    %v41 = nn.lookup @part_quotient[%v40] pool(none) : (!nn.ragged<?x2x*xi64>) -> tensor<?x3xf32>
    %v42 = nn.id_arithmetic remainder %bags with 5 : !nn.ragged<?x2x*xi64>
    %v43 = nn.lookup @part_remainder[%v42] pool(none) : (!nn.ragged<?x2x*xi64>) -> tensor<?x3xf32>
    %v44 = nn.mul %v41, %v43 : tensor<?x3xf32>, tensor<?x3xf32>
    %v45 = nn.segment_sum %v44 of %bags : (tensor<?x3xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x3xf32>
    nn.return %v3, %v5, %v7, %v9, %v11, %v13, %v15, %v17, %v19, %v21, %v23, %v25, %v27, %v29, %v31, %v33, %v35, %v37, %v39, %v45 : tensor<?x1xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x3xf32>
  }

  nn.program @train reads(@sample) {
  ^bb0(%x1_field: tensor<?x1xf32>, %weight1: tensor<?x1xf32>, %ids: tensor<?x2xi64>, %bags: !nn.ragged<?x2x*xi64>, %weight2: tensor<?x4xf32>, %weight3: tensor<?x4xf32>, %weight4: tensor<?x4xf32>, %weight5: tensor<?x4xf32>, %weight6: tensor<?x4xf32>, %weight7: tensor<?x4xf32>, %weight8: tensor<?x4xf32>, %weight9: tensor<?x4xf32>, %weight10: tensor<?x4xf32>, %weight11: tensor<?x4xf32>, %weight12: tensor<?x4xf32>, %weight13: tensor<?x4xf32>, %weight14: tensor<?x4xf32>, %weight15: tensor<?x4xf32>, %weight16: tensor<?x4xf32>, %weight17: tensor<?x4xf32>, %weight18: tensor<?x4xf32>, %weight19: tensor<?x4xf32>, %weight20: tensor<?x6xf32>):
    %r:20 = nn.call @compute(%x1_field, %weight1, %ids, %bags, %weight2, %weight3, %weight4, %weight5, %weight6, %weight7, %weight8, %weight9, %weight10, %weight11, %weight12, %weight13, %weight14, %weight15, %weight16, %weight17, %weight18, %weight19, %weight20) : (tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x2xi64>, !nn.ragged<?x2x*xi64>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x6xf32>) -> (tensor<?x1xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x3xf32>)
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
    %flat7 = nn.reshape %r#7 : (tensor<?x2x2xf32>) -> tensor<?x4xf32>
    %product7 = nn.mul %flat7, %weight8 : tensor<?x4xf32>, tensor<?x4xf32>
    %term7 = nn.reduce sum %product7 axes [1] keep : tensor<?x4xf32>
    %total7 = nn.add %total6, %term7 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat8 = nn.reshape %r#8 : (tensor<?x2x2xf32>) -> tensor<?x4xf32>
    %product8 = nn.mul %flat8, %weight9 : tensor<?x4xf32>, tensor<?x4xf32>
    %term8 = nn.reduce sum %product8 axes [1] keep : tensor<?x4xf32>
    %total8 = nn.add %total7, %term8 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat9 = nn.reshape %r#9 : (tensor<?x2x2xf32>) -> tensor<?x4xf32>
    %product9 = nn.mul %flat9, %weight10 : tensor<?x4xf32>, tensor<?x4xf32>
    %term9 = nn.reduce sum %product9 axes [1] keep : tensor<?x4xf32>
    %total9 = nn.add %total8, %term9 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat10 = nn.reshape %r#10 : (tensor<?x2x2xf32>) -> tensor<?x4xf32>
    %product10 = nn.mul %flat10, %weight11 : tensor<?x4xf32>, tensor<?x4xf32>
    %term10 = nn.reduce sum %product10 axes [1] keep : tensor<?x4xf32>
    %total10 = nn.add %total9, %term10 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat11 = nn.reshape %r#11 : (tensor<?x2x2xf32>) -> tensor<?x4xf32>
    %product11 = nn.mul %flat11, %weight12 : tensor<?x4xf32>, tensor<?x4xf32>
    %term11 = nn.reduce sum %product11 axes [1] keep : tensor<?x4xf32>
    %total11 = nn.add %total10, %term11 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat12 = nn.reshape %r#12 : (tensor<?x2x2xf32>) -> tensor<?x4xf32>
    %product12 = nn.mul %flat12, %weight13 : tensor<?x4xf32>, tensor<?x4xf32>
    %term12 = nn.reduce sum %product12 axes [1] keep : tensor<?x4xf32>
    %total12 = nn.add %total11, %term12 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat13 = nn.reshape %r#13 : (tensor<?x2x2xf32>) -> tensor<?x4xf32>
    %product13 = nn.mul %flat13, %weight14 : tensor<?x4xf32>, tensor<?x4xf32>
    %term13 = nn.reduce sum %product13 axes [1] keep : tensor<?x4xf32>
    %total13 = nn.add %total12, %term13 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat14 = nn.reshape %r#14 : (tensor<?x2x2xf32>) -> tensor<?x4xf32>
    %product14 = nn.mul %flat14, %weight15 : tensor<?x4xf32>, tensor<?x4xf32>
    %term14 = nn.reduce sum %product14 axes [1] keep : tensor<?x4xf32>
    %total14 = nn.add %total13, %term14 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat15 = nn.reshape %r#15 : (tensor<?x2x2xf32>) -> tensor<?x4xf32>
    %product15 = nn.mul %flat15, %weight16 : tensor<?x4xf32>, tensor<?x4xf32>
    %term15 = nn.reduce sum %product15 axes [1] keep : tensor<?x4xf32>
    %total15 = nn.add %total14, %term15 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat16 = nn.reshape %r#16 : (tensor<?x2x2xf32>) -> tensor<?x4xf32>
    %product16 = nn.mul %flat16, %weight17 : tensor<?x4xf32>, tensor<?x4xf32>
    %term16 = nn.reduce sum %product16 axes [1] keep : tensor<?x4xf32>
    %total16 = nn.add %total15, %term16 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat17 = nn.reshape %r#17 : (tensor<?x2x2xf32>) -> tensor<?x4xf32>
    %product17 = nn.mul %flat17, %weight18 : tensor<?x4xf32>, tensor<?x4xf32>
    %term17 = nn.reduce sum %product17 axes [1] keep : tensor<?x4xf32>
    %total17 = nn.add %total16, %term17 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat18 = nn.reshape %r#18 : (tensor<?x2x2xf32>) -> tensor<?x4xf32>
    %product18 = nn.mul %flat18, %weight19 : tensor<?x4xf32>, tensor<?x4xf32>
    %term18 = nn.reduce sum %product18 axes [1] keep : tensor<?x4xf32>
    %total18 = nn.add %total17, %term18 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat19 = nn.reshape %r#19 : (tensor<?x2x3xf32>) -> tensor<?x6xf32>
    %product19 = nn.mul %flat19, %weight20 : tensor<?x6xf32>, tensor<?x6xf32>
    %term19 = nn.reduce sum %product19 axes [1] keep : tensor<?x6xf32>
    %total19 = nn.add %total18, %term19 : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %total19 over [@descent] : tensor<?x1xf32>
  }

  nn.program @predict frozen reads(@sample) {
  ^bb0(%x1_field: tensor<?x1xf32>, %weight1: tensor<?x1xf32>, %ids: tensor<?x2xi64>, %bags: !nn.ragged<?x2x*xi64>, %weight2: tensor<?x4xf32>, %weight3: tensor<?x4xf32>, %weight4: tensor<?x4xf32>, %weight5: tensor<?x4xf32>, %weight6: tensor<?x4xf32>, %weight7: tensor<?x4xf32>, %weight8: tensor<?x4xf32>, %weight9: tensor<?x4xf32>, %weight10: tensor<?x4xf32>, %weight11: tensor<?x4xf32>, %weight12: tensor<?x4xf32>, %weight13: tensor<?x4xf32>, %weight14: tensor<?x4xf32>, %weight15: tensor<?x4xf32>, %weight16: tensor<?x4xf32>, %weight17: tensor<?x4xf32>, %weight18: tensor<?x4xf32>, %weight19: tensor<?x4xf32>, %weight20: tensor<?x6xf32>):
    %r:20 = nn.call @compute(%x1_field, %weight1, %ids, %bags, %weight2, %weight3, %weight4, %weight5, %weight6, %weight7, %weight8, %weight9, %weight10, %weight11, %weight12, %weight13, %weight14, %weight15, %weight16, %weight17, %weight18, %weight19, %weight20) : (tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x2xi64>, !nn.ragged<?x2x*xi64>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x6xf32>) -> (tensor<?x1xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x3xf32>)
    nn.return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7, %r#8, %r#9, %r#10, %r#11, %r#12, %r#13, %r#14, %r#15, %r#16, %r#17, %r#18, %r#19 : tensor<?x1xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x2xf32>, tensor<?x2x3xf32>
  }
}
