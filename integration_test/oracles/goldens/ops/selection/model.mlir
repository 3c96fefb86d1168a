//===- selection/model.mlir - The largest of a row, entries by their places, sums up to them -*- mlir -*-===//
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

module @selection {
  nn.record @sample {
    nn.field @far : tensor<?x6xf32>
    nn.field @equal : tensor<?x6xf32>
    nn.field @weight1 : tensor<?x1xf32>
    nn.field @weight2 : tensor<?x1xf32>
    nn.field @weight3 : tensor<?x4xf32>
    nn.field @weight4 : tensor<?x4xf32>
    nn.field @weight5 : tensor<?x6xf32>
    nn.field @weight6 : tensor<?x6xf32>
    nn.field @weight7 : tensor<?x4xf32>
    nn.field @weight8 : tensor<?x4xf32>
    nn.field @places : tensor<?x3xi64>
    nn.field @x14_field : tensor<?x8xf32>
    nn.field @weight9 : tensor<?x6xf32>
    nn.field @x18_field : tensor<?x5xf32>
    nn.field @weight10 : tensor<?x5xf32>
    nn.field @x21_field : tensor<?x6xf32>
    nn.field @weight11 : tensor<?x6xf32>
    nn.field @x25_field : tensor<?x5xf32>
    nn.field @weight12 : tensor<?x5xf32>
    nn.field @x28_field : tensor<?x6xf32>
    nn.field @weight13 : tensor<?x6xf32>
    nn.field @x32_field : tensor<?x5xf32>
    nn.field @weight14 : tensor<?x5xf32>
    nn.field @x35_field : tensor<?x6xf32>
    nn.field @weight15 : tensor<?x6xf32>
    nn.field @x39_field : tensor<?x5xf32>
    nn.field @weight16 : tensor<?x5xf32>
    nn.field @x42_field : tensor<?x6xf32>
    nn.field @weight17 : tensor<?x6xf32>
    nn.field @x46_field : tensor<?x4xf32>
    nn.field @weight18 : tensor<?x4xf32>
    nn.field @x49_field : tensor<?x4xf32>
    nn.field @weight19 : tensor<?x4xf32>
    nn.field @x52_field : tensor<?x4xf32>
    nn.field @weight20 : tensor<?x4xf32>
    nn.field @x55_field : tensor<?x4xf32>
    nn.field @weight21 : tensor<?x4xf32>
  }
  nn.group @descent rule(@sgd) rate(1.0)
  nn.param @moved : tensor<6xf32> in @descent init(#nn.zeros)
  nn.param @x14_shift : tensor<8xf32> in @descent init(#nn.zeros)
  nn.param @x18_shift : tensor<5xf32> in @descent init(#nn.zeros)
  nn.param @x21_shift : tensor<6xf32> in @descent init(#nn.zeros)
  nn.param @x25_shift : tensor<5xf32> in @descent init(#nn.zeros)
  nn.param @x28_shift : tensor<6xf32> in @descent init(#nn.zeros)
  nn.param @x32_shift : tensor<5xf32> in @descent init(#nn.zeros)
  nn.param @x35_shift : tensor<6xf32> in @descent init(#nn.zeros)
  nn.param @x39_shift : tensor<5xf32> in @descent init(#nn.zeros)
  nn.param @x42_shift : tensor<6xf32> in @descent init(#nn.zeros)
  nn.param @x46_shift : tensor<4xf32> in @descent init(#nn.zeros)
  nn.param @x49_shift : tensor<4xf32> in @descent init(#nn.zeros)
  nn.param @x52_shift : tensor<4xf32> in @descent init(#nn.zeros)
  nn.param @x55_shift : tensor<4xf32> in @descent init(#nn.zeros)

  nn.func private @compute(%far: tensor<?x6xf32>, %equal: tensor<?x6xf32>, %weight1: tensor<?x1xf32>, %weight2: tensor<?x1xf32>, %weight3: tensor<?x4xf32>, %weight4: tensor<?x4xf32>, %weight5: tensor<?x6xf32>, %weight6: tensor<?x6xf32>, %weight7: tensor<?x4xf32>, %weight8: tensor<?x4xf32>, %places: tensor<?x3xi64>, %x14_field: tensor<?x8xf32>, %weight9: tensor<?x6xf32>, %x18_field: tensor<?x5xf32>, %weight10: tensor<?x5xf32>, %x21_field: tensor<?x6xf32>, %weight11: tensor<?x6xf32>, %x25_field: tensor<?x5xf32>, %weight12: tensor<?x5xf32>, %x28_field: tensor<?x6xf32>, %weight13: tensor<?x6xf32>, %x32_field: tensor<?x5xf32>, %weight14: tensor<?x5xf32>, %x35_field: tensor<?x6xf32>, %weight15: tensor<?x6xf32>, %x39_field: tensor<?x5xf32>, %weight16: tensor<?x5xf32>, %x42_field: tensor<?x6xf32>, %weight17: tensor<?x6xf32>, %x46_field: tensor<?x4xf32>, %weight18: tensor<?x4xf32>, %x49_field: tensor<?x4xf32>, %weight19: tensor<?x4xf32>, %x52_field: tensor<?x4xf32>, %weight20: tensor<?x4xf32>, %x55_field: tensor<?x4xf32>, %weight21: tensor<?x4xf32>) -> (tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x3x2xf32>, tensor<?x5xf32>, tensor<?x2x3xf32>, tensor<?x5xf32>, tensor<?x2x3xf32>, tensor<?x5xf32>, tensor<?x2x3xf32>, tensor<?x5xf32>, tensor<?x2x3xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) {
    %moved = nn.read @moved : tensor<6xf32>
    %v1 = nn.add %far, %moved : tensor<?x6xf32>, tensor<6xf32>
    %v2 = nn.top_k %v1 count 1 : tensor<?x6xf32>
    %v3 = nn.cast %v2 : (tensor<?x1xi64>) -> tensor<?x1xf32>
    %v4 = nn.gather %v1 at %v2 : tensor<?x6xf32>, tensor<?x1xi64>
    %v5 = nn.top_k %v1 count 4 : tensor<?x6xf32>
    %v6 = nn.cast %v5 : (tensor<?x4xi64>) -> tensor<?x4xf32>
    %v7 = nn.gather %v1 at %v5 : tensor<?x6xf32>, tensor<?x4xi64>
    %v8 = nn.top_k %v1 count 6 : tensor<?x6xf32>
    %v9 = nn.cast %v8 : (tensor<?x6xi64>) -> tensor<?x6xf32>
    %v10 = nn.gather %v1 at %v8 : tensor<?x6xf32>, tensor<?x6xi64>
    %v11 = nn.top_k %equal count 4 : tensor<?x6xf32>
    %v12 = nn.cast %v11 : (tensor<?x4xi64>) -> tensor<?x4xf32>
    %v13 = nn.gather %equal at %v11 : tensor<?x6xf32>, tensor<?x4xi64>
    %x14_shift = nn.read @x14_shift : tensor<8xf32>
    %v15 = nn.add %x14_field, %x14_shift : tensor<?x8xf32>, tensor<8xf32>
    %v16 = nn.reshape %v15 : (tensor<?x8xf32>) -> tensor<?x4x2xf32>
    %v17 = nn.gather %v16 at %places : tensor<?x4x2xf32>, tensor<?x3xi64>
    %x18_shift = nn.read @x18_shift : tensor<5xf32>
    %v19 = nn.add %x18_field, %x18_shift : tensor<?x5xf32>, tensor<5xf32>
    %v20 = nn.cumulative_sum %v19 : tensor<?x5xf32>
    %x21_shift = nn.read @x21_shift : tensor<6xf32>
    %v22 = nn.add %x21_field, %x21_shift : tensor<?x6xf32>, tensor<6xf32>
    %v23 = nn.reshape %v22 : (tensor<?x6xf32>) -> tensor<?x2x3xf32>
    %v24 = nn.cumulative_sum %v23 : tensor<?x2x3xf32>
    %x25_shift = nn.read @x25_shift : tensor<5xf32>
    %v26 = nn.add %x25_field, %x25_shift : tensor<?x5xf32>, tensor<5xf32>
    %v27 = nn.cumulative_sum %v26 exclusive : tensor<?x5xf32>
    %x28_shift = nn.read @x28_shift : tensor<6xf32>
    %v29 = nn.add %x28_field, %x28_shift : tensor<?x6xf32>, tensor<6xf32>
    %v30 = nn.reshape %v29 : (tensor<?x6xf32>) -> tensor<?x2x3xf32>
    %v31 = nn.cumulative_sum %v30 exclusive : tensor<?x2x3xf32>
    %x32_shift = nn.read @x32_shift : tensor<5xf32>
    %v33 = nn.add %x32_field, %x32_shift : tensor<?x5xf32>, tensor<5xf32>
    %v34 = nn.cumulative_sum %v33 reversed : tensor<?x5xf32>
    %x35_shift = nn.read @x35_shift : tensor<6xf32>
    %v36 = nn.add %x35_field, %x35_shift : tensor<?x6xf32>, tensor<6xf32>
    %v37 = nn.reshape %v36 : (tensor<?x6xf32>) -> tensor<?x2x3xf32>
    %v38 = nn.cumulative_sum %v37 reversed : tensor<?x2x3xf32>
    %x39_shift = nn.read @x39_shift : tensor<5xf32>
    %v40 = nn.add %x39_field, %x39_shift : tensor<?x5xf32>, tensor<5xf32>
    %v41 = nn.cumulative_sum %v40 exclusive reversed : tensor<?x5xf32>
    %x42_shift = nn.read @x42_shift : tensor<6xf32>
    %v43 = nn.add %x42_field, %x42_shift : tensor<?x6xf32>, tensor<6xf32>
    %v44 = nn.reshape %v43 : (tensor<?x6xf32>) -> tensor<?x2x3xf32>
    %v45 = nn.cumulative_sum %v44 exclusive reversed : tensor<?x2x3xf32>
    %x46_shift = nn.read @x46_shift : tensor<4xf32>
    %v47 = nn.add %x46_field, %x46_shift : tensor<?x4xf32>, tensor<4xf32>
    %v48 = nn.sin %v47 : tensor<?x4xf32>
    %x49_shift = nn.read @x49_shift : tensor<4xf32>
    %v50 = nn.add %x49_field, %x49_shift : tensor<?x4xf32>, tensor<4xf32>
    %v51 = nn.sin %v50 : tensor<?x4xf32>
    %x52_shift = nn.read @x52_shift : tensor<4xf32>
    %v53 = nn.add %x52_field, %x52_shift : tensor<?x4xf32>, tensor<4xf32>
    %v54 = nn.cos %v53 : tensor<?x4xf32>
    %x55_shift = nn.read @x55_shift : tensor<4xf32>
    %v56 = nn.add %x55_field, %x55_shift : tensor<?x4xf32>, tensor<4xf32>
    %v57 = nn.cos %v56 : tensor<?x4xf32>
    nn.return %v3, %v4, %v6, %v7, %v9, %v10, %v12, %v13, %v17, %v20, %v24, %v27, %v31, %v34, %v38, %v41, %v45, %v48, %v51, %v54, %v57 : tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x3x2xf32>, tensor<?x5xf32>, tensor<?x2x3xf32>, tensor<?x5xf32>, tensor<?x2x3xf32>, tensor<?x5xf32>, tensor<?x2x3xf32>, tensor<?x5xf32>, tensor<?x2x3xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>
  }

  nn.program @train reads(@sample) {
  ^bb0(%far: tensor<?x6xf32>, %equal: tensor<?x6xf32>, %weight1: tensor<?x1xf32>, %weight2: tensor<?x1xf32>, %weight3: tensor<?x4xf32>, %weight4: tensor<?x4xf32>, %weight5: tensor<?x6xf32>, %weight6: tensor<?x6xf32>, %weight7: tensor<?x4xf32>, %weight8: tensor<?x4xf32>, %places: tensor<?x3xi64>, %x14_field: tensor<?x8xf32>, %weight9: tensor<?x6xf32>, %x18_field: tensor<?x5xf32>, %weight10: tensor<?x5xf32>, %x21_field: tensor<?x6xf32>, %weight11: tensor<?x6xf32>, %x25_field: tensor<?x5xf32>, %weight12: tensor<?x5xf32>, %x28_field: tensor<?x6xf32>, %weight13: tensor<?x6xf32>, %x32_field: tensor<?x5xf32>, %weight14: tensor<?x5xf32>, %x35_field: tensor<?x6xf32>, %weight15: tensor<?x6xf32>, %x39_field: tensor<?x5xf32>, %weight16: tensor<?x5xf32>, %x42_field: tensor<?x6xf32>, %weight17: tensor<?x6xf32>, %x46_field: tensor<?x4xf32>, %weight18: tensor<?x4xf32>, %x49_field: tensor<?x4xf32>, %weight19: tensor<?x4xf32>, %x52_field: tensor<?x4xf32>, %weight20: tensor<?x4xf32>, %x55_field: tensor<?x4xf32>, %weight21: tensor<?x4xf32>):
    %r:21 = nn.call @compute(%far, %equal, %weight1, %weight2, %weight3, %weight4, %weight5, %weight6, %weight7, %weight8, %places, %x14_field, %weight9, %x18_field, %weight10, %x21_field, %weight11, %x25_field, %weight12, %x28_field, %weight13, %x32_field, %weight14, %x35_field, %weight15, %x39_field, %weight16, %x42_field, %weight17, %x46_field, %weight18, %x49_field, %weight19, %x52_field, %weight20, %x55_field, %weight21) : (tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x3xi64>, tensor<?x8xf32>, tensor<?x6xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> (tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x3x2xf32>, tensor<?x5xf32>, tensor<?x2x3xf32>, tensor<?x5xf32>, tensor<?x2x3xf32>, tensor<?x5xf32>, tensor<?x2x3xf32>, tensor<?x5xf32>, tensor<?x2x3xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>)
    %product0 = nn.mul %r#0, %weight1 : tensor<?x1xf32>, tensor<?x1xf32>
    %term0 = nn.reduce sum %product0 axes [1] keep : tensor<?x1xf32>
    %product1 = nn.mul %r#1, %weight2 : tensor<?x1xf32>, tensor<?x1xf32>
    %term1 = nn.reduce sum %product1 axes [1] keep : tensor<?x1xf32>
    %total1 = nn.add %term0, %term1 : tensor<?x1xf32>, tensor<?x1xf32>
    %product2 = nn.mul %r#2, %weight3 : tensor<?x4xf32>, tensor<?x4xf32>
    %term2 = nn.reduce sum %product2 axes [1] keep : tensor<?x4xf32>
    %total2 = nn.add %total1, %term2 : tensor<?x1xf32>, tensor<?x1xf32>
    %product3 = nn.mul %r#3, %weight4 : tensor<?x4xf32>, tensor<?x4xf32>
    %term3 = nn.reduce sum %product3 axes [1] keep : tensor<?x4xf32>
    %total3 = nn.add %total2, %term3 : tensor<?x1xf32>, tensor<?x1xf32>
    %product4 = nn.mul %r#4, %weight5 : tensor<?x6xf32>, tensor<?x6xf32>
    %term4 = nn.reduce sum %product4 axes [1] keep : tensor<?x6xf32>
    %total4 = nn.add %total3, %term4 : tensor<?x1xf32>, tensor<?x1xf32>
    %product5 = nn.mul %r#5, %weight6 : tensor<?x6xf32>, tensor<?x6xf32>
    %term5 = nn.reduce sum %product5 axes [1] keep : tensor<?x6xf32>
    %total5 = nn.add %total4, %term5 : tensor<?x1xf32>, tensor<?x1xf32>
    %product6 = nn.mul %r#6, %weight7 : tensor<?x4xf32>, tensor<?x4xf32>
    %term6 = nn.reduce sum %product6 axes [1] keep : tensor<?x4xf32>
    %total6 = nn.add %total5, %term6 : tensor<?x1xf32>, tensor<?x1xf32>
    %product7 = nn.mul %r#7, %weight8 : tensor<?x4xf32>, tensor<?x4xf32>
    %term7 = nn.reduce sum %product7 axes [1] keep : tensor<?x4xf32>
    %total7 = nn.add %total6, %term7 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat8 = nn.reshape %r#8 : (tensor<?x3x2xf32>) -> tensor<?x6xf32>
    %product8 = nn.mul %flat8, %weight9 : tensor<?x6xf32>, tensor<?x6xf32>
    %term8 = nn.reduce sum %product8 axes [1] keep : tensor<?x6xf32>
    %total8 = nn.add %total7, %term8 : tensor<?x1xf32>, tensor<?x1xf32>
    %product9 = nn.mul %r#9, %weight10 : tensor<?x5xf32>, tensor<?x5xf32>
    %term9 = nn.reduce sum %product9 axes [1] keep : tensor<?x5xf32>
    %total9 = nn.add %total8, %term9 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat10 = nn.reshape %r#10 : (tensor<?x2x3xf32>) -> tensor<?x6xf32>
    %product10 = nn.mul %flat10, %weight11 : tensor<?x6xf32>, tensor<?x6xf32>
    %term10 = nn.reduce sum %product10 axes [1] keep : tensor<?x6xf32>
    %total10 = nn.add %total9, %term10 : tensor<?x1xf32>, tensor<?x1xf32>
    %product11 = nn.mul %r#11, %weight12 : tensor<?x5xf32>, tensor<?x5xf32>
    %term11 = nn.reduce sum %product11 axes [1] keep : tensor<?x5xf32>
    %total11 = nn.add %total10, %term11 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat12 = nn.reshape %r#12 : (tensor<?x2x3xf32>) -> tensor<?x6xf32>
    %product12 = nn.mul %flat12, %weight13 : tensor<?x6xf32>, tensor<?x6xf32>
    %term12 = nn.reduce sum %product12 axes [1] keep : tensor<?x6xf32>
    %total12 = nn.add %total11, %term12 : tensor<?x1xf32>, tensor<?x1xf32>
    %product13 = nn.mul %r#13, %weight14 : tensor<?x5xf32>, tensor<?x5xf32>
    %term13 = nn.reduce sum %product13 axes [1] keep : tensor<?x5xf32>
    %total13 = nn.add %total12, %term13 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat14 = nn.reshape %r#14 : (tensor<?x2x3xf32>) -> tensor<?x6xf32>
    %product14 = nn.mul %flat14, %weight15 : tensor<?x6xf32>, tensor<?x6xf32>
    %term14 = nn.reduce sum %product14 axes [1] keep : tensor<?x6xf32>
    %total14 = nn.add %total13, %term14 : tensor<?x1xf32>, tensor<?x1xf32>
    %product15 = nn.mul %r#15, %weight16 : tensor<?x5xf32>, tensor<?x5xf32>
    %term15 = nn.reduce sum %product15 axes [1] keep : tensor<?x5xf32>
    %total15 = nn.add %total14, %term15 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat16 = nn.reshape %r#16 : (tensor<?x2x3xf32>) -> tensor<?x6xf32>
    %product16 = nn.mul %flat16, %weight17 : tensor<?x6xf32>, tensor<?x6xf32>
    %term16 = nn.reduce sum %product16 axes [1] keep : tensor<?x6xf32>
    %total16 = nn.add %total15, %term16 : tensor<?x1xf32>, tensor<?x1xf32>
    %product17 = nn.mul %r#17, %weight18 : tensor<?x4xf32>, tensor<?x4xf32>
    %term17 = nn.reduce sum %product17 axes [1] keep : tensor<?x4xf32>
    %total17 = nn.add %total16, %term17 : tensor<?x1xf32>, tensor<?x1xf32>
    %product18 = nn.mul %r#18, %weight19 : tensor<?x4xf32>, tensor<?x4xf32>
    %term18 = nn.reduce sum %product18 axes [1] keep : tensor<?x4xf32>
    %total18 = nn.add %total17, %term18 : tensor<?x1xf32>, tensor<?x1xf32>
    %product19 = nn.mul %r#19, %weight20 : tensor<?x4xf32>, tensor<?x4xf32>
    %term19 = nn.reduce sum %product19 axes [1] keep : tensor<?x4xf32>
    %total19 = nn.add %total18, %term19 : tensor<?x1xf32>, tensor<?x1xf32>
    %product20 = nn.mul %r#20, %weight21 : tensor<?x4xf32>, tensor<?x4xf32>
    %term20 = nn.reduce sum %product20 axes [1] keep : tensor<?x4xf32>
    %total20 = nn.add %total19, %term20 : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %total20 over [@descent] : tensor<?x1xf32>
  }

  nn.program @predict frozen reads(@sample) {
  ^bb0(%far: tensor<?x6xf32>, %equal: tensor<?x6xf32>, %weight1: tensor<?x1xf32>, %weight2: tensor<?x1xf32>, %weight3: tensor<?x4xf32>, %weight4: tensor<?x4xf32>, %weight5: tensor<?x6xf32>, %weight6: tensor<?x6xf32>, %weight7: tensor<?x4xf32>, %weight8: tensor<?x4xf32>, %places: tensor<?x3xi64>, %x14_field: tensor<?x8xf32>, %weight9: tensor<?x6xf32>, %x18_field: tensor<?x5xf32>, %weight10: tensor<?x5xf32>, %x21_field: tensor<?x6xf32>, %weight11: tensor<?x6xf32>, %x25_field: tensor<?x5xf32>, %weight12: tensor<?x5xf32>, %x28_field: tensor<?x6xf32>, %weight13: tensor<?x6xf32>, %x32_field: tensor<?x5xf32>, %weight14: tensor<?x5xf32>, %x35_field: tensor<?x6xf32>, %weight15: tensor<?x6xf32>, %x39_field: tensor<?x5xf32>, %weight16: tensor<?x5xf32>, %x42_field: tensor<?x6xf32>, %weight17: tensor<?x6xf32>, %x46_field: tensor<?x4xf32>, %weight18: tensor<?x4xf32>, %x49_field: tensor<?x4xf32>, %weight19: tensor<?x4xf32>, %x52_field: tensor<?x4xf32>, %weight20: tensor<?x4xf32>, %x55_field: tensor<?x4xf32>, %weight21: tensor<?x4xf32>):
    %r:21 = nn.call @compute(%far, %equal, %weight1, %weight2, %weight3, %weight4, %weight5, %weight6, %weight7, %weight8, %places, %x14_field, %weight9, %x18_field, %weight10, %x21_field, %weight11, %x25_field, %weight12, %x28_field, %weight13, %x32_field, %weight14, %x35_field, %weight15, %x39_field, %weight16, %x42_field, %weight17, %x46_field, %weight18, %x49_field, %weight19, %x52_field, %weight20, %x55_field, %weight21) : (tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x3xi64>, tensor<?x8xf32>, tensor<?x6xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> (tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x3x2xf32>, tensor<?x5xf32>, tensor<?x2x3xf32>, tensor<?x5xf32>, tensor<?x2x3xf32>, tensor<?x5xf32>, tensor<?x2x3xf32>, tensor<?x5xf32>, tensor<?x2x3xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>)
    nn.return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7, %r#8, %r#9, %r#10, %r#11, %r#12, %r#13, %r#14, %r#15, %r#16, %r#17, %r#18, %r#19, %r#20 : tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x3x2xf32>, tensor<?x5xf32>, tensor<?x2x3xf32>, tensor<?x5xf32>, tensor<?x2x3xf32>, tensor<?x5xf32>, tensor<?x2x3xf32>, tensor<?x5xf32>, tensor<?x2x3xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>
  }
}
