//===- segments/model.mlir - Rows of bags, and their way to samples and back -*- mlir -*-===//
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

module @segments {
  nn.record @sample {
    nn.field @bags : !nn.ragged<?x2x*xi64>
    nn.field @others : !nn.ragged<?x2x*xi64>
    nn.field @weight1 : tensor<?x6xf32>
    nn.field @weight2 : tensor<?x6xf32>
    nn.field @weight3 : tensor<?x6xf32>
    nn.field @weight4 : tensor<?x6xf32>
    nn.field @weight5 : tensor<?x6xf32>
    nn.field @weight6 : tensor<?x6xf32>
    nn.field @weight7 : tensor<?x2xf32>
    nn.field @weight8 : tensor<?x6xf32>
    nn.field @weight9 : tensor<?x6xf32>
    nn.field @weight10 : tensor<?x6xf32>
    nn.field @weight11 : tensor<?x6xf32>
    nn.field @weight12 : tensor<?x6xf32>
    nn.field @weight13 : tensor<?x6xf32>
    nn.field @weight14 : tensor<?x6xf32>
    nn.field @weight15 : tensor<?x6xf32>
    nn.field @x36_field : tensor<?x6xf32>
    nn.field @weight16 : tensor<?x6xf32>
    nn.field @weight17 : tensor<?x18xf32>
    nn.field @weight18 : tensor<?x6xf32>
    nn.field @weight19 : tensor<?x18xf32>
    nn.field @weight20 : tensor<?x6xf32>
    nn.field @weight21 : tensor<?x6xf32>
    nn.field @weight22 : tensor<?x6xf32>
  }
  nn.group @descent rule(@sgd) rate(1.0)
  nn.table @x_rows : i64 -> tensor<3xf32> in @descent init(#nn.zeros)
  nn.table @y_rows : i64 -> tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x36_shift : tensor<6xf32> in @descent init(#nn.zeros)
  nn.table @position_rows : i64 -> tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @w : tensor<3x3xf32> in @descent init(#nn.zeros)

  nn.func private @compute(%bags: !nn.ragged<?x2x*xi64>, %others: !nn.ragged<?x2x*xi64>, %weight1: tensor<?x6xf32>, %weight2: tensor<?x6xf32>, %weight3: tensor<?x6xf32>, %weight4: tensor<?x6xf32>, %weight5: tensor<?x6xf32>, %weight6: tensor<?x6xf32>, %weight7: tensor<?x2xf32>, %weight8: tensor<?x6xf32>, %weight9: tensor<?x6xf32>, %weight10: tensor<?x6xf32>, %weight11: tensor<?x6xf32>, %weight12: tensor<?x6xf32>, %weight13: tensor<?x6xf32>, %weight14: tensor<?x6xf32>, %weight15: tensor<?x6xf32>, %x36_field: tensor<?x6xf32>, %weight16: tensor<?x6xf32>, %weight17: tensor<?x18xf32>, %weight18: tensor<?x6xf32>, %weight19: tensor<?x18xf32>, %weight20: tensor<?x6xf32>, %weight21: tensor<?x6xf32>, %weight22: tensor<?x6xf32>) -> (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x1xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>) {
    %v1 = nn.lookup @x_rows[%bags] pool(none) : (!nn.ragged<?x2x*xi64>) -> tensor<?x3xf32>
    %same = nn.same_bags %others like %bags : !nn.ragged<?x2x*xi64>
    %v2 = nn.lookup @y_rows[%same] pool(none) : (!nn.ragged<?x2x*xi64>) -> tensor<?x3xf32>
    %v3 = nn.segment_sum %v1 of %bags : (tensor<?x3xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x3xf32>
    %v4 = nn.segment_mean %v1 of %bags : tensor<?x3xf32>, !nn.ragged<?x2x*xi64>
    %v5 = nn.segment_sqrtn %v1 of %bags : tensor<?x3xf32>, !nn.ragged<?x2x*xi64>
    %v6 = nn.segment_max %v1 of %bags : (tensor<?x3xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x3xf32>
    %v7 = nn.segment_first %v1 of %bags : tensor<?x3xf32>, !nn.ragged<?x2x*xi64>
    %v8 = nn.segment_last %v1 of %bags : tensor<?x3xf32>, !nn.ragged<?x2x*xi64>
    %v9 = nn.segment_sizes %bags : (!nn.ragged<?x2x*xi64>) -> tensor<?x2x1xf32>
    %v10 = nn.segment_positions %bags : (!nn.ragged<?x2x*xi64>) -> tensor<?x1xf32>
    %v11 = nn.mul %v10, %v1 : tensor<?x1xf32>, tensor<?x3xf32>
    %v12 = nn.mul %v11, %v2 : tensor<?x3xf32>, tensor<?x3xf32>
    %v13 = nn.segment_sum %v12 of %bags : (tensor<?x3xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x3xf32>
    %v14 = nn.segment_positions %bags from_end : (!nn.ragged<?x2x*xi64>) -> tensor<?x1xf32>
    %v15 = nn.mul %v14, %v1 : tensor<?x1xf32>, tensor<?x3xf32>
    %v16 = nn.mul %v15, %v2 : tensor<?x3xf32>, tensor<?x3xf32>
    %v17 = nn.segment_sum %v16 of %bags : (tensor<?x3xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x3xf32>
    %v18 = nn.segment_softmax %v1 of %bags : tensor<?x3xf32>, !nn.ragged<?x2x*xi64>
    %v19 = nn.mul %v18, %v2 : tensor<?x3xf32>, tensor<?x3xf32>
    %v20 = nn.segment_sum %v19 of %bags : (tensor<?x3xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x3xf32>
    %v21 = nn.segment_reverse %v1 of %bags : tensor<?x3xf32>, !nn.ragged<?x2x*xi64>
    %v22 = nn.mul %v21, %v2 : tensor<?x3xf32>, tensor<?x3xf32>
    %v23 = nn.segment_sum %v22 of %bags : (tensor<?x3xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x3xf32>
    %v24 = nn.segment_shift %v1 of %bags by 1 : tensor<?x3xf32>, !nn.ragged<?x2x*xi64>
    %v25 = nn.mul %v24, %v2 : tensor<?x3xf32>, tensor<?x3xf32>
    %v26 = nn.segment_sum %v25 of %bags : (tensor<?x3xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x3xf32>
    %v27 = nn.segment_shift %v1 of %bags by -1 : tensor<?x3xf32>, !nn.ragged<?x2x*xi64>
    %v28 = nn.mul %v27, %v2 : tensor<?x3xf32>, tensor<?x3xf32>
    %v29 = nn.segment_sum %v28 of %bags : (tensor<?x3xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x3xf32>
    %v30 = nn.segment_shift %v1 of %bags by 2 : tensor<?x3xf32>, !nn.ragged<?x2x*xi64>
    %v31 = nn.mul %v30, %v2 : tensor<?x3xf32>, tensor<?x3xf32>
    %v32 = nn.segment_sum %v31 of %bags : (tensor<?x3xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x3xf32>
    %v33 = nn.segment_shift %v1 of %bags by 0 : tensor<?x3xf32>, !nn.ragged<?x2x*xi64>
    %v34 = nn.mul %v33, %v2 : tensor<?x3xf32>, tensor<?x3xf32>
    %v35 = nn.segment_sum %v34 of %bags : (tensor<?x3xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x3xf32>
    %x36_shift = nn.read @x36_shift : tensor<6xf32>
    %v37 = nn.add %x36_field, %x36_shift : tensor<?x6xf32>, tensor<6xf32>
    %v38 = nn.reshape %v37 : (tensor<?x6xf32>) -> tensor<?x2x3xf32>
    %v39 = nn.segment_repeat %v38 over %bags : tensor<?x2x3xf32>, !nn.ragged<?x2x*xi64>
    %v40 = nn.mul %v39, %v2 : tensor<?x3xf32>, tensor<?x3xf32>
    %v41 = nn.segment_sum %v40 of %bags : (tensor<?x3xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x3xf32>
    %v42 = nn.segment_pad %v1 of %bags : (tensor<?x3xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x3x3xf32>
    %v43 = nn.segment_unpad %v42 over %bags : tensor<?x2x3x3xf32>, !nn.ragged<?x2x*xi64>
    %v44 = nn.mul %v43, %v2 : tensor<?x3xf32>, tensor<?x3xf32>
    %v45 = nn.segment_sum %v44 of %bags : (tensor<?x3xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x3xf32>
    %v46 = nn.segment_pad %v1 of %bags from_end : (tensor<?x3xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x3x3xf32>
    %v47 = nn.segment_unpad %v46 over %bags from_end : tensor<?x2x3x3xf32>, !nn.ragged<?x2x*xi64>
    %v48 = nn.mul %v47, %v2 : tensor<?x3xf32>, tensor<?x3xf32>
    %v49 = nn.segment_sum %v48 of %bags : (tensor<?x3xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x3xf32>
    %v50 = nn.segment_positions %bags : (!nn.ragged<?x2x*xi64>) -> tensor<?x1xf32>
    %v51 = nn.bucketize %v50 boundaries [1.0, 2.0] : tensor<?x1xf32>
    %placed = nn.lookup @position_rows[%v51] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x3xf32>
    %v53 = nn.reshape %placed : (tensor<?x1x3xf32>) -> tensor<?x3xf32>
    %v54 = nn.mul %v53, %v2 : tensor<?x3xf32>, tensor<?x3xf32>
    %v55 = nn.segment_sum %v54 of %bags : (tensor<?x3xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x3xf32>
    %v56 = nn.linear %v1, @w act(tanh) : (tensor<?x3xf32>) -> tensor<?x3xf32>
    %v57 = nn.mul %v56, %v2 : tensor<?x3xf32>, tensor<?x3xf32>
    %v58 = nn.segment_sum %v57 of %bags : (tensor<?x3xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x3xf32>
    nn.return %v3, %v4, %v5, %v6, %v7, %v8, %v9, %v13, %v17, %v20, %v23, %v26, %v29, %v32, %v35, %v41, %v42, %v45, %v46, %v49, %v55, %v58 : tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x1xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>
  }

  nn.program @train reads(@sample) {
  ^bb0(%bags: !nn.ragged<?x2x*xi64>, %others: !nn.ragged<?x2x*xi64>, %weight1: tensor<?x6xf32>, %weight2: tensor<?x6xf32>, %weight3: tensor<?x6xf32>, %weight4: tensor<?x6xf32>, %weight5: tensor<?x6xf32>, %weight6: tensor<?x6xf32>, %weight7: tensor<?x2xf32>, %weight8: tensor<?x6xf32>, %weight9: tensor<?x6xf32>, %weight10: tensor<?x6xf32>, %weight11: tensor<?x6xf32>, %weight12: tensor<?x6xf32>, %weight13: tensor<?x6xf32>, %weight14: tensor<?x6xf32>, %weight15: tensor<?x6xf32>, %x36_field: tensor<?x6xf32>, %weight16: tensor<?x6xf32>, %weight17: tensor<?x18xf32>, %weight18: tensor<?x6xf32>, %weight19: tensor<?x18xf32>, %weight20: tensor<?x6xf32>, %weight21: tensor<?x6xf32>, %weight22: tensor<?x6xf32>):
    %r:22 = nn.call @compute(%bags, %others, %weight1, %weight2, %weight3, %weight4, %weight5, %weight6, %weight7, %weight8, %weight9, %weight10, %weight11, %weight12, %weight13, %weight14, %weight15, %x36_field, %weight16, %weight17, %weight18, %weight19, %weight20, %weight21, %weight22) : (!nn.ragged<?x2x*xi64>, !nn.ragged<?x2x*xi64>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x2xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x18xf32>, tensor<?x6xf32>, tensor<?x18xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>) -> (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x1xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>)
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
    %flat6 = nn.reshape %r#6 : (tensor<?x2x1xf32>) -> tensor<?x2xf32>
    %product6 = nn.mul %flat6, %weight7 : tensor<?x2xf32>, tensor<?x2xf32>
    %term6 = nn.reduce sum %product6 axes [1] keep : tensor<?x2xf32>
    %total6 = nn.add %total5, %term6 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat7 = nn.reshape %r#7 : (tensor<?x2x3xf32>) -> tensor<?x6xf32>
    %product7 = nn.mul %flat7, %weight8 : tensor<?x6xf32>, tensor<?x6xf32>
    %term7 = nn.reduce sum %product7 axes [1] keep : tensor<?x6xf32>
    %total7 = nn.add %total6, %term7 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat8 = nn.reshape %r#8 : (tensor<?x2x3xf32>) -> tensor<?x6xf32>
    %product8 = nn.mul %flat8, %weight9 : tensor<?x6xf32>, tensor<?x6xf32>
    %term8 = nn.reduce sum %product8 axes [1] keep : tensor<?x6xf32>
    %total8 = nn.add %total7, %term8 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat9 = nn.reshape %r#9 : (tensor<?x2x3xf32>) -> tensor<?x6xf32>
    %product9 = nn.mul %flat9, %weight10 : tensor<?x6xf32>, tensor<?x6xf32>
    %term9 = nn.reduce sum %product9 axes [1] keep : tensor<?x6xf32>
    %total9 = nn.add %total8, %term9 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat10 = nn.reshape %r#10 : (tensor<?x2x3xf32>) -> tensor<?x6xf32>
    %product10 = nn.mul %flat10, %weight11 : tensor<?x6xf32>, tensor<?x6xf32>
    %term10 = nn.reduce sum %product10 axes [1] keep : tensor<?x6xf32>
    %total10 = nn.add %total9, %term10 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat11 = nn.reshape %r#11 : (tensor<?x2x3xf32>) -> tensor<?x6xf32>
    %product11 = nn.mul %flat11, %weight12 : tensor<?x6xf32>, tensor<?x6xf32>
    %term11 = nn.reduce sum %product11 axes [1] keep : tensor<?x6xf32>
    %total11 = nn.add %total10, %term11 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat12 = nn.reshape %r#12 : (tensor<?x2x3xf32>) -> tensor<?x6xf32>
    %product12 = nn.mul %flat12, %weight13 : tensor<?x6xf32>, tensor<?x6xf32>
    %term12 = nn.reduce sum %product12 axes [1] keep : tensor<?x6xf32>
    %total12 = nn.add %total11, %term12 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat13 = nn.reshape %r#13 : (tensor<?x2x3xf32>) -> tensor<?x6xf32>
    %product13 = nn.mul %flat13, %weight14 : tensor<?x6xf32>, tensor<?x6xf32>
    %term13 = nn.reduce sum %product13 axes [1] keep : tensor<?x6xf32>
    %total13 = nn.add %total12, %term13 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat14 = nn.reshape %r#14 : (tensor<?x2x3xf32>) -> tensor<?x6xf32>
    %product14 = nn.mul %flat14, %weight15 : tensor<?x6xf32>, tensor<?x6xf32>
    %term14 = nn.reduce sum %product14 axes [1] keep : tensor<?x6xf32>
    %total14 = nn.add %total13, %term14 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat15 = nn.reshape %r#15 : (tensor<?x2x3xf32>) -> tensor<?x6xf32>
    %product15 = nn.mul %flat15, %weight16 : tensor<?x6xf32>, tensor<?x6xf32>
    %term15 = nn.reduce sum %product15 axes [1] keep : tensor<?x6xf32>
    %total15 = nn.add %total14, %term15 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat16 = nn.reshape %r#16 : (tensor<?x2x3x3xf32>) -> tensor<?x18xf32>
    %product16 = nn.mul %flat16, %weight17 : tensor<?x18xf32>, tensor<?x18xf32>
    %term16 = nn.reduce sum %product16 axes [1] keep : tensor<?x18xf32>
    %total16 = nn.add %total15, %term16 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat17 = nn.reshape %r#17 : (tensor<?x2x3xf32>) -> tensor<?x6xf32>
    %product17 = nn.mul %flat17, %weight18 : tensor<?x6xf32>, tensor<?x6xf32>
    %term17 = nn.reduce sum %product17 axes [1] keep : tensor<?x6xf32>
    %total17 = nn.add %total16, %term17 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat18 = nn.reshape %r#18 : (tensor<?x2x3x3xf32>) -> tensor<?x18xf32>
    %product18 = nn.mul %flat18, %weight19 : tensor<?x18xf32>, tensor<?x18xf32>
    %term18 = nn.reduce sum %product18 axes [1] keep : tensor<?x18xf32>
    %total18 = nn.add %total17, %term18 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat19 = nn.reshape %r#19 : (tensor<?x2x3xf32>) -> tensor<?x6xf32>
    %product19 = nn.mul %flat19, %weight20 : tensor<?x6xf32>, tensor<?x6xf32>
    %term19 = nn.reduce sum %product19 axes [1] keep : tensor<?x6xf32>
    %total19 = nn.add %total18, %term19 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat20 = nn.reshape %r#20 : (tensor<?x2x3xf32>) -> tensor<?x6xf32>
    %product20 = nn.mul %flat20, %weight21 : tensor<?x6xf32>, tensor<?x6xf32>
    %term20 = nn.reduce sum %product20 axes [1] keep : tensor<?x6xf32>
    %total20 = nn.add %total19, %term20 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat21 = nn.reshape %r#21 : (tensor<?x2x3xf32>) -> tensor<?x6xf32>
    %product21 = nn.mul %flat21, %weight22 : tensor<?x6xf32>, tensor<?x6xf32>
    %term21 = nn.reduce sum %product21 axes [1] keep : tensor<?x6xf32>
    %total21 = nn.add %total20, %term21 : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %total21 over [@descent] : tensor<?x1xf32>
  }

  nn.program @predict frozen reads(@sample) {
  ^bb0(%bags: !nn.ragged<?x2x*xi64>, %others: !nn.ragged<?x2x*xi64>, %weight1: tensor<?x6xf32>, %weight2: tensor<?x6xf32>, %weight3: tensor<?x6xf32>, %weight4: tensor<?x6xf32>, %weight5: tensor<?x6xf32>, %weight6: tensor<?x6xf32>, %weight7: tensor<?x2xf32>, %weight8: tensor<?x6xf32>, %weight9: tensor<?x6xf32>, %weight10: tensor<?x6xf32>, %weight11: tensor<?x6xf32>, %weight12: tensor<?x6xf32>, %weight13: tensor<?x6xf32>, %weight14: tensor<?x6xf32>, %weight15: tensor<?x6xf32>, %x36_field: tensor<?x6xf32>, %weight16: tensor<?x6xf32>, %weight17: tensor<?x18xf32>, %weight18: tensor<?x6xf32>, %weight19: tensor<?x18xf32>, %weight20: tensor<?x6xf32>, %weight21: tensor<?x6xf32>, %weight22: tensor<?x6xf32>):
    %r:22 = nn.call @compute(%bags, %others, %weight1, %weight2, %weight3, %weight4, %weight5, %weight6, %weight7, %weight8, %weight9, %weight10, %weight11, %weight12, %weight13, %weight14, %weight15, %x36_field, %weight16, %weight17, %weight18, %weight19, %weight20, %weight21, %weight22) : (!nn.ragged<?x2x*xi64>, !nn.ragged<?x2x*xi64>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x2xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x18xf32>, tensor<?x6xf32>, tensor<?x18xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>) -> (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x1xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>)
    nn.return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7, %r#8, %r#9, %r#10, %r#11, %r#12, %r#13, %r#14, %r#15, %r#16, %r#17, %r#18, %r#19, %r#20, %r#21 : tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x1xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>
  }
}
