//===- recurrence/model.mlir - Scans over rows of bags, and cells -*- mlir -*-===//
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

module @recurrence {
  nn.record @sample {
    nn.field @bags : !nn.ragged<?x2x*xi64>
    nn.field @weight1 : tensor<?x6xf32>
    nn.field @weight2 : tensor<?x6xf32>
    nn.field @weight3 : tensor<?x6xf32>
    nn.field @weight4 : tensor<?x6xf32>
    nn.field @weight5 : tensor<?x6xf32>
    nn.field @weight6 : tensor<?x6xf32>
    nn.field @weight7 : tensor<?x6xf32>
    nn.field @weight8 : tensor<?x6xf32>
    nn.field @x35_field : tensor<?x6xf32>
    nn.field @weight9 : tensor<?x6xf32>
    nn.field @weight10 : tensor<?x6xf32>
    nn.field @weight11 : tensor<?x6xf32>
    nn.field @weight12 : tensor<?x6xf32>
    nn.field @weight13 : tensor<?x6xf32>
    nn.field @weight14 : tensor<?x6xf32>
  }
  nn.group @descent rule(@sgd) rate(1.0)
  nn.table @x_rows : i64 -> tensor<2xf32> in @descent init(#nn.zeros)
  nn.table @y_rows : i64 -> tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @gru_w : tensor<2x9xf32> in @descent init(#nn.zeros)
  nn.param @gru_u : tensor<3x9xf32> in @descent init(#nn.zeros)
  nn.param @gru_b : tensor<9xf32> in @descent init(#nn.zeros)
  nn.param @gru_from_end_w : tensor<2x9xf32> in @descent init(#nn.zeros)
  nn.param @gru_from_end_u : tensor<3x9xf32> in @descent init(#nn.zeros)
  nn.param @lstm_w : tensor<2x12xf32> in @descent init(#nn.zeros)
  nn.param @lstm_u : tensor<3x12xf32> in @descent init(#nn.zeros)
  nn.param @lstm_b : tensor<12xf32> in @descent init(#nn.zeros)
  nn.param @lstm_from_end_w : tensor<2x12xf32> in @descent init(#nn.zeros)
  nn.param @lstm_from_end_u : tensor<3x12xf32> in @descent init(#nn.zeros)
  nn.param @m : tensor<3x3xf32> in @descent init(#nn.zeros)
  nn.param @v : tensor<2x3xf32> in @descent init(#nn.zeros)
  nn.param @x35_shift : tensor<6xf32> in @descent init(#nn.zeros)
  nn.param @gru_init_w : tensor<2x9xf32> in @descent init(#nn.zeros)
  nn.param @gru_init_u : tensor<3x9xf32> in @descent init(#nn.zeros)
  nn.param @lstm_from_end_init_w : tensor<2x12xf32> in @descent init(#nn.zeros)
  nn.param @lstm_from_end_init_u : tensor<3x12xf32> in @descent init(#nn.zeros)
  nn.param @lstm_from_end_init_b : tensor<12xf32> in @descent init(#nn.zeros)

  nn.func private @compute(%bags: !nn.ragged<?x2x*xi64>, %weight1: tensor<?x6xf32>, %weight2: tensor<?x6xf32>, %weight3: tensor<?x6xf32>, %weight4: tensor<?x6xf32>, %weight5: tensor<?x6xf32>, %weight6: tensor<?x6xf32>, %weight7: tensor<?x6xf32>, %weight8: tensor<?x6xf32>, %x35_field: tensor<?x6xf32>, %weight9: tensor<?x6xf32>, %weight10: tensor<?x6xf32>, %weight11: tensor<?x6xf32>, %weight12: tensor<?x6xf32>, %weight13: tensor<?x6xf32>, %weight14: tensor<?x6xf32>) -> (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>) {
    %v1 = nn.lookup @x_rows[%bags] pool(none) : (!nn.ragged<?x2x*xi64>) -> tensor<?x2xf32>
    %v2 = nn.lookup @y_rows[%bags] pool(none) : (!nn.ragged<?x2x*xi64>) -> tensor<?x3xf32>
    %v3 = nn.linear %v1, @gru_w : (tensor<?x2xf32>) -> tensor<?x9xf32>
    %v4 = nn.gru %v3 of %bags, @gru_u, @gru_b : tensor<?x9xf32>, !nn.ragged<?x2x*xi64>
    %v5 = nn.mul %v4, %v2 : tensor<?x3xf32>, tensor<?x3xf32>
    %v6 = nn.segment_sum %v5 of %bags : (tensor<?x3xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x3xf32>
    %v7 = nn.linear %v1, @gru_from_end_w : (tensor<?x2xf32>) -> tensor<?x9xf32>
    %v8 = nn.gru %v7 of %bags, @gru_from_end_u from_end : tensor<?x9xf32>, !nn.ragged<?x2x*xi64>
    %v9 = nn.mul %v8, %v2 : tensor<?x3xf32>, tensor<?x3xf32>
    %v10 = nn.segment_sum %v9 of %bags : (tensor<?x3xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x3xf32>
    %v11 = nn.linear %v1, @lstm_w : (tensor<?x2xf32>) -> tensor<?x12xf32>
    %v12 = nn.lstm %v11 of %bags, @lstm_u, @lstm_b : tensor<?x12xf32>, !nn.ragged<?x2x*xi64>
    %v13 = nn.mul %v12, %v2 : tensor<?x3xf32>, tensor<?x3xf32>
    %v14 = nn.segment_sum %v13 of %bags : (tensor<?x3xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x3xf32>
    %v15 = nn.linear %v1, @lstm_from_end_w : (tensor<?x2xf32>) -> tensor<?x12xf32>
    %v16 = nn.lstm %v15 of %bags, @lstm_from_end_u from_end : tensor<?x12xf32>, !nn.ragged<?x2x*xi64>
    %v17 = nn.mul %v16, %v2 : tensor<?x3xf32>, tensor<?x3xf32>
    %v18 = nn.segment_sum %v17 of %bags : (tensor<?x3xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x3xf32>
    %m = nn.read @m : tensor<3x3xf32>
    %plain:1 = nn.scan %v1 of %bags with (%m) {
    ^bb0(%row: tensor<?x2xf32>, %state0: tensor<?x3xf32>, %shared0: tensor<3x3xf32>):
      %scale = nn.mul %shared0, %shared0 : tensor<3x3xf32>, tensor<3x3xf32>
      %quarter = nn.constant dense<0.25> : tensor<1xf32>
      %a = nn.linear %row, @v : (tensor<?x2xf32>) -> tensor<?x3xf32>
      %b = nn.matmul %state0, %shared0 : tensor<?x3xf32>, tensor<3x3xf32>
      %c = nn.matmul %state0, %scale : tensor<?x3xf32>, tensor<3x3xf32>
      %ab = nn.add %a, %b : tensor<?x3xf32>, tensor<?x3xf32>
      %abc = nn.add %ab, %c : tensor<?x3xf32>, tensor<?x3xf32>
      %abcd = nn.add %abc, %quarter : tensor<?x3xf32>, tensor<1xf32>
      %after = nn.tanh %abcd : tensor<?x3xf32>
      nn.yield %after : tensor<?x3xf32>
    } : tensor<?x2xf32>, !nn.ragged<?x2x*xi64>, tensor<3x3xf32>
    %v20 = nn.neg %plain#0 : tensor<?x3xf32>
    %v21 = nn.mul %v20, %v2 : tensor<?x3xf32>, tensor<?x3xf32>
    %v22 = nn.segment_sum %v21 of %bags : (tensor<?x3xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x3xf32>
    %plain_from_end:1 = nn.scan %v1 of %bags from_end with (%m) {
    ^bb0(%row: tensor<?x2xf32>, %state0: tensor<?x3xf32>, %shared0: tensor<3x3xf32>):
      %scale = nn.mul %shared0, %shared0 : tensor<3x3xf32>, tensor<3x3xf32>
      %quarter = nn.constant dense<0.25> : tensor<1xf32>
      %a = nn.linear %row, @v : (tensor<?x2xf32>) -> tensor<?x3xf32>
      %b = nn.matmul %state0, %shared0 : tensor<?x3xf32>, tensor<3x3xf32>
      %c = nn.matmul %state0, %scale : tensor<?x3xf32>, tensor<3x3xf32>
      %ab = nn.add %a, %b : tensor<?x3xf32>, tensor<?x3xf32>
      %abc = nn.add %ab, %c : tensor<?x3xf32>, tensor<?x3xf32>
      %abcd = nn.add %abc, %quarter : tensor<?x3xf32>, tensor<1xf32>
      %after = nn.tanh %abcd : tensor<?x3xf32>
      nn.yield %after : tensor<?x3xf32>
    } : tensor<?x2xf32>, !nn.ragged<?x2x*xi64>, tensor<3x3xf32>
    %v24 = nn.neg %plain_from_end#0 : tensor<?x3xf32>
    %v25 = nn.mul %v24, %v2 : tensor<?x3xf32>, tensor<?x3xf32>
    %v26 = nn.segment_sum %v25 of %bags : (tensor<?x3xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x3xf32>
    %swapped:2 = nn.scan %v1 of %bags {
    ^bb0(%row: tensor<?x2xf32>, %state0: tensor<?x3xf32>, %state1: tensor<?x3xf32>):
      %half = nn.constant dense<0.5> : tensor<1xf32>
      %a = nn.linear %row, @v : (tensor<?x2xf32>) -> tensor<?x3xf32>
      %first = nn.add %state1, %a : tensor<?x3xf32>, tensor<?x3xf32>
      %second = nn.mul %state0, %half : tensor<?x3xf32>, tensor<1xf32>
      nn.yield %first, %second : tensor<?x3xf32>, tensor<?x3xf32>
    } : tensor<?x2xf32>, !nn.ragged<?x2x*xi64>
    %v28 = nn.neg %swapped#0 : tensor<?x3xf32>
    %v29 = nn.mul %v28, %v2 : tensor<?x3xf32>, tensor<?x3xf32>
    %v30 = nn.segment_sum %v29 of %bags : (tensor<?x3xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x3xf32>
    %stateless:1 = nn.scan %v1 of %bags {
    ^bb0(%row: tensor<?x2xf32>):
      %a = nn.linear %row, @v act(tanh) : (tensor<?x2xf32>) -> tensor<?x3xf32>
      nn.yield %a : tensor<?x3xf32>
    } : tensor<?x2xf32>, !nn.ragged<?x2x*xi64>
    %v32 = nn.neg %stateless#0 : tensor<?x3xf32>
    %v33 = nn.mul %v32, %v2 : tensor<?x3xf32>, tensor<?x3xf32>
    %v34 = nn.segment_sum %v33 of %bags : (tensor<?x3xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x3xf32>
    %x35_shift = nn.read @x35_shift : tensor<6xf32>
    %v36 = nn.add %x35_field, %x35_shift : tensor<?x6xf32>, tensor<6xf32>
    %v37 = nn.reshape %v36 : (tensor<?x6xf32>) -> tensor<?x2x3xf32>
    %v38 = nn.segment_last %v4 of %bags : tensor<?x3xf32>, !nn.ragged<?x2x*xi64>
    %v39 = nn.linear %v1, @gru_init_w : (tensor<?x2xf32>) -> tensor<?x9xf32>
    %v40 = nn.gru %v39 of %bags, @gru_init_u init(%v38) : tensor<?x9xf32>, !nn.ragged<?x2x*xi64>, tensor<?x2x3xf32>
    %v41 = nn.mul %v40, %v2 : tensor<?x3xf32>, tensor<?x3xf32>
    %v42 = nn.segment_sum %v41 of %bags : (tensor<?x3xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x3xf32>
    %v43 = nn.linear %v1, @lstm_from_end_init_w : (tensor<?x2xf32>) -> tensor<?x12xf32>
    %v44 = nn.lstm %v43 of %bags, @lstm_from_end_init_u, @lstm_from_end_init_b from_end init(%v37, %v38) : tensor<?x12xf32>, !nn.ragged<?x2x*xi64>, tensor<?x2x3xf32>, tensor<?x2x3xf32>
    %v45 = nn.mul %v44, %v2 : tensor<?x3xf32>, tensor<?x3xf32>
    %v46 = nn.segment_sum %v45 of %bags : (tensor<?x3xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x3xf32>
    %plain_init:1 = nn.scan %v1 of %bags init(%v37) with (%m) {
    ^bb0(%row: tensor<?x2xf32>, %state0: tensor<?x3xf32>, %shared0: tensor<3x3xf32>):
      %scale = nn.mul %shared0, %shared0 : tensor<3x3xf32>, tensor<3x3xf32>
      %quarter = nn.constant dense<0.25> : tensor<1xf32>
      %a = nn.linear %row, @v : (tensor<?x2xf32>) -> tensor<?x3xf32>
      %b = nn.matmul %state0, %shared0 : tensor<?x3xf32>, tensor<3x3xf32>
      %c = nn.matmul %state0, %scale : tensor<?x3xf32>, tensor<3x3xf32>
      %ab = nn.add %a, %b : tensor<?x3xf32>, tensor<?x3xf32>
      %abc = nn.add %ab, %c : tensor<?x3xf32>, tensor<?x3xf32>
      %abcd = nn.add %abc, %quarter : tensor<?x3xf32>, tensor<1xf32>
      %after = nn.tanh %abcd : tensor<?x3xf32>
      nn.yield %after : tensor<?x3xf32>
    } : tensor<?x2xf32>, !nn.ragged<?x2x*xi64>, tensor<?x2x3xf32>, tensor<3x3xf32>
    %v48 = nn.neg %plain_init#0 : tensor<?x3xf32>
    %v49 = nn.mul %v48, %v2 : tensor<?x3xf32>, tensor<?x3xf32>
    %v50 = nn.segment_sum %v49 of %bags : (tensor<?x3xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x3xf32>
    %plain_init_from_end:1 = nn.scan %v1 of %bags from_end init(%v38) with (%m) {
    ^bb0(%row: tensor<?x2xf32>, %state0: tensor<?x3xf32>, %shared0: tensor<3x3xf32>):
      %scale = nn.mul %shared0, %shared0 : tensor<3x3xf32>, tensor<3x3xf32>
      %quarter = nn.constant dense<0.25> : tensor<1xf32>
      %a = nn.linear %row, @v : (tensor<?x2xf32>) -> tensor<?x3xf32>
      %b = nn.matmul %state0, %shared0 : tensor<?x3xf32>, tensor<3x3xf32>
      %c = nn.matmul %state0, %scale : tensor<?x3xf32>, tensor<3x3xf32>
      %ab = nn.add %a, %b : tensor<?x3xf32>, tensor<?x3xf32>
      %abc = nn.add %ab, %c : tensor<?x3xf32>, tensor<?x3xf32>
      %abcd = nn.add %abc, %quarter : tensor<?x3xf32>, tensor<1xf32>
      %after = nn.tanh %abcd : tensor<?x3xf32>
      nn.yield %after : tensor<?x3xf32>
    } : tensor<?x2xf32>, !nn.ragged<?x2x*xi64>, tensor<?x2x3xf32>, tensor<3x3xf32>
    %v52 = nn.neg %plain_init_from_end#0 : tensor<?x3xf32>
    %v53 = nn.mul %v52, %v2 : tensor<?x3xf32>, tensor<?x3xf32>
    %v54 = nn.segment_sum %v53 of %bags : (tensor<?x3xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x3xf32>
    %swapped_init:2 = nn.scan %v1 of %bags init(%v37, %v38) {
    ^bb0(%row: tensor<?x2xf32>, %state0: tensor<?x3xf32>, %state1: tensor<?x3xf32>):
      %half = nn.constant dense<0.5> : tensor<1xf32>
      %a = nn.linear %row, @v : (tensor<?x2xf32>) -> tensor<?x3xf32>
      %first = nn.add %state1, %a : tensor<?x3xf32>, tensor<?x3xf32>
      %second = nn.mul %state0, %half : tensor<?x3xf32>, tensor<1xf32>
      nn.yield %first, %second : tensor<?x3xf32>, tensor<?x3xf32>
    } : tensor<?x2xf32>, !nn.ragged<?x2x*xi64>, tensor<?x2x3xf32>, tensor<?x2x3xf32>
    %v56 = nn.neg %swapped_init#0 : tensor<?x3xf32>
    %v57 = nn.mul %v56, %v2 : tensor<?x3xf32>, tensor<?x3xf32>
    %v58 = nn.segment_sum %v57 of %bags : (tensor<?x3xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x3xf32>
    %decayed_init:1 = nn.scan %v1 of %bags init(%v37) {
    ^bb0(%row: tensor<?x2xf32>, %state0: tensor<?x3xf32>):
      %half = nn.constant dense<0.5> : tensor<1xf32>
      %after = nn.mul %state0, %half : tensor<?x3xf32>, tensor<1xf32>
      nn.yield %after : tensor<?x3xf32>
    } : tensor<?x2xf32>, !nn.ragged<?x2x*xi64>, tensor<?x2x3xf32>
    %v60 = nn.neg %decayed_init#0 : tensor<?x3xf32>
    %v61 = nn.mul %v60, %v2 : tensor<?x3xf32>, tensor<?x3xf32>
    %v62 = nn.segment_sum %v61 of %bags : (tensor<?x3xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x3xf32>
    nn.return %v6, %v10, %v14, %v18, %v22, %v26, %v30, %v34, %v42, %v46, %v50, %v54, %v58, %v62 : tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>
  }

  nn.program @train reads(@sample) {
  ^bb0(%bags: !nn.ragged<?x2x*xi64>, %weight1: tensor<?x6xf32>, %weight2: tensor<?x6xf32>, %weight3: tensor<?x6xf32>, %weight4: tensor<?x6xf32>, %weight5: tensor<?x6xf32>, %weight6: tensor<?x6xf32>, %weight7: tensor<?x6xf32>, %weight8: tensor<?x6xf32>, %x35_field: tensor<?x6xf32>, %weight9: tensor<?x6xf32>, %weight10: tensor<?x6xf32>, %weight11: tensor<?x6xf32>, %weight12: tensor<?x6xf32>, %weight13: tensor<?x6xf32>, %weight14: tensor<?x6xf32>):
    %r:14 = nn.call @compute(%bags, %weight1, %weight2, %weight3, %weight4, %weight5, %weight6, %weight7, %weight8, %x35_field, %weight9, %weight10, %weight11, %weight12, %weight13, %weight14) : (!nn.ragged<?x2x*xi64>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>) -> (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>)
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
    nn.minimize %total13 over [@descent] : tensor<?x1xf32>
  }

  nn.program @predict frozen reads(@sample) {
  ^bb0(%bags: !nn.ragged<?x2x*xi64>, %weight1: tensor<?x6xf32>, %weight2: tensor<?x6xf32>, %weight3: tensor<?x6xf32>, %weight4: tensor<?x6xf32>, %weight5: tensor<?x6xf32>, %weight6: tensor<?x6xf32>, %weight7: tensor<?x6xf32>, %weight8: tensor<?x6xf32>, %x35_field: tensor<?x6xf32>, %weight9: tensor<?x6xf32>, %weight10: tensor<?x6xf32>, %weight11: tensor<?x6xf32>, %weight12: tensor<?x6xf32>, %weight13: tensor<?x6xf32>, %weight14: tensor<?x6xf32>):
    %r:14 = nn.call @compute(%bags, %weight1, %weight2, %weight3, %weight4, %weight5, %weight6, %weight7, %weight8, %x35_field, %weight9, %weight10, %weight11, %weight12, %weight13, %weight14) : (!nn.ragged<?x2x*xi64>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x6xf32>) -> (tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>)
    nn.return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7, %r#8, %r#9, %r#10, %r#11, %r#12, %r#13 : tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, tensor<?x2x3xf32>
  }
}
