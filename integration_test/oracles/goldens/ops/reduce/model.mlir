//===- reduce/model.mlir - Sum, mean and maximum over axes -*- mlir -*-===//
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

module @reduce {
  nn.record @sample {
    nn.field @x1_field : tensor<?x37xf32>
    nn.field @x3_field : tensor<?x12xf32>
    nn.field @weight1 : tensor<?x1xf32>
    nn.field @weight2 : tensor<?x1xf32>
    nn.field @weight3 : tensor<?x3xf32>
    nn.field @weight4 : tensor<?x4xf32>
    nn.field @weight5 : tensor<?x4xf32>
    nn.field @weight6 : tensor<?x1xf32>
    nn.field @weight7 : tensor<?x3xf32>
    nn.field @weight8 : tensor<?x5xf32>
    nn.field @x18_field : tensor<?x37xf32>
    nn.field @x20_field : tensor<?x12xf32>
    nn.field @weight9 : tensor<?x1xf32>
    nn.field @weight10 : tensor<?x1xf32>
    nn.field @weight11 : tensor<?x3xf32>
    nn.field @weight12 : tensor<?x4xf32>
    nn.field @weight13 : tensor<?x4xf32>
    nn.field @weight14 : tensor<?x1xf32>
    nn.field @weight15 : tensor<?x3xf32>
    nn.field @weight16 : tensor<?x5xf32>
    nn.field @x35_field : tensor<?x37xf32>
    nn.field @x37_field : tensor<?x12xf32>
    nn.field @weight17 : tensor<?x1xf32>
    nn.field @weight18 : tensor<?x1xf32>
    nn.field @weight19 : tensor<?x3xf32>
    nn.field @weight20 : tensor<?x4xf32>
    nn.field @weight21 : tensor<?x4xf32>
    nn.field @weight22 : tensor<?x1xf32>
    nn.field @weight23 : tensor<?x3xf32>
    nn.field @weight24 : tensor<?x5xf32>
  }
  nn.group @descent rule(@sgd) rate(1.0)
  nn.param @x1_shift : tensor<37xf32> in @descent init(#nn.zeros)
  nn.param @x3_shift : tensor<12xf32> in @descent init(#nn.zeros)
  nn.param @sum_fixed : tensor<5x3xf32> in @descent init(#nn.zeros)
  nn.param @x18_shift : tensor<37xf32> in @descent init(#nn.zeros)
  nn.param @x20_shift : tensor<12xf32> in @descent init(#nn.zeros)
  nn.param @mean_fixed : tensor<5x3xf32> in @descent init(#nn.zeros)
  nn.param @x35_shift : tensor<37xf32> in @descent init(#nn.zeros)
  nn.param @x37_shift : tensor<12xf32> in @descent init(#nn.zeros)
  nn.param @max_fixed : tensor<5x3xf32> in @descent init(#nn.zeros)

  nn.func private @compute(%x1_field: tensor<?x37xf32>, %x3_field: tensor<?x12xf32>, %weight1: tensor<?x1xf32>, %weight2: tensor<?x1xf32>, %weight3: tensor<?x3xf32>, %weight4: tensor<?x4xf32>, %weight5: tensor<?x4xf32>, %weight6: tensor<?x1xf32>, %weight7: tensor<?x3xf32>, %weight8: tensor<?x5xf32>, %x18_field: tensor<?x37xf32>, %x20_field: tensor<?x12xf32>, %weight9: tensor<?x1xf32>, %weight10: tensor<?x1xf32>, %weight11: tensor<?x3xf32>, %weight12: tensor<?x4xf32>, %weight13: tensor<?x4xf32>, %weight14: tensor<?x1xf32>, %weight15: tensor<?x3xf32>, %weight16: tensor<?x5xf32>, %x35_field: tensor<?x37xf32>, %x37_field: tensor<?x12xf32>, %weight17: tensor<?x1xf32>, %weight18: tensor<?x1xf32>, %weight19: tensor<?x3xf32>, %weight20: tensor<?x4xf32>, %weight21: tensor<?x4xf32>, %weight22: tensor<?x1xf32>, %weight23: tensor<?x3xf32>, %weight24: tensor<?x5xf32>) -> (tensor<?xf32>, tensor<?x1xf32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x1x4xf32>, tensor<?xf32>, tensor<?x3xf32>, tensor<?x5xf32>, tensor<?xf32>, tensor<?x1xf32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x1x4xf32>, tensor<?xf32>, tensor<?x3xf32>, tensor<?x5xf32>, tensor<?xf32>, tensor<?x1xf32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x1x4xf32>, tensor<?xf32>, tensor<?x3xf32>, tensor<?x5xf32>) {
    %x1_shift = nn.read @x1_shift : tensor<37xf32>
    %v2 = nn.add %x1_field, %x1_shift : tensor<?x37xf32>, tensor<37xf32>
    %x3_shift = nn.read @x3_shift : tensor<12xf32>
    %v4 = nn.add %x3_field, %x3_shift : tensor<?x12xf32>, tensor<12xf32>
    %v5 = nn.reshape %v4 : (tensor<?x12xf32>) -> tensor<?x3x4xf32>
    %sum_fixed = nn.read @sum_fixed : tensor<5x3xf32>
    %v6 = nn.reduce sum %v2 axes [1] : tensor<?x37xf32>
    %v7 = nn.reduce sum %v2 axes [1] keep : tensor<?x37xf32>
    %v8 = nn.reduce sum %v5 axes [2] : tensor<?x3x4xf32>
    %v9 = nn.reduce sum %v5 axes [1] : tensor<?x3x4xf32>
    %v10 = nn.reduce sum %v5 axes [1] keep : tensor<?x3x4xf32>
    %v11 = nn.reduce sum %v5 axes [1, 2] : tensor<?x3x4xf32>
    %v12 = nn.reduce sum %sum_fixed axes [0] : tensor<5x3xf32>
    %v13 = nn.slice %x1_field axis 1 offset 0 size 1 : tensor<?x37xf32>
    %v14 = nn.broadcast %v12 like %v13 : (tensor<3xf32>, tensor<?x1xf32>) -> tensor<?x3xf32>
    %v15 = nn.reduce sum %sum_fixed axes [1] : tensor<5x3xf32>
    %v16 = nn.slice %x1_field axis 1 offset 0 size 1 : tensor<?x37xf32>
    %v17 = nn.broadcast %v15 like %v16 : (tensor<5xf32>, tensor<?x1xf32>) -> tensor<?x5xf32>
    %x18_shift = nn.read @x18_shift : tensor<37xf32>
    %v19 = nn.add %x18_field, %x18_shift : tensor<?x37xf32>, tensor<37xf32>
    %x20_shift = nn.read @x20_shift : tensor<12xf32>
    %v21 = nn.add %x20_field, %x20_shift : tensor<?x12xf32>, tensor<12xf32>
    %v22 = nn.reshape %v21 : (tensor<?x12xf32>) -> tensor<?x3x4xf32>
    %mean_fixed = nn.read @mean_fixed : tensor<5x3xf32>
    %v23 = nn.reduce mean %v19 axes [1] : tensor<?x37xf32>
    %v24 = nn.reduce mean %v19 axes [1] keep : tensor<?x37xf32>
    %v25 = nn.reduce mean %v22 axes [2] : tensor<?x3x4xf32>
    %v26 = nn.reduce mean %v22 axes [1] : tensor<?x3x4xf32>
    %v27 = nn.reduce mean %v22 axes [1] keep : tensor<?x3x4xf32>
    %v28 = nn.reduce mean %v22 axes [1, 2] : tensor<?x3x4xf32>
    %v29 = nn.reduce mean %mean_fixed axes [0] : tensor<5x3xf32>
    %v30 = nn.slice %x1_field axis 1 offset 0 size 1 : tensor<?x37xf32>
    %v31 = nn.broadcast %v29 like %v30 : (tensor<3xf32>, tensor<?x1xf32>) -> tensor<?x3xf32>
    %v32 = nn.reduce mean %mean_fixed axes [1] : tensor<5x3xf32>
    %v33 = nn.slice %x1_field axis 1 offset 0 size 1 : tensor<?x37xf32>
    %v34 = nn.broadcast %v32 like %v33 : (tensor<5xf32>, tensor<?x1xf32>) -> tensor<?x5xf32>
    %x35_shift = nn.read @x35_shift : tensor<37xf32>
    %v36 = nn.add %x35_field, %x35_shift : tensor<?x37xf32>, tensor<37xf32>
    %x37_shift = nn.read @x37_shift : tensor<12xf32>
    %v38 = nn.add %x37_field, %x37_shift : tensor<?x12xf32>, tensor<12xf32>
    %v39 = nn.reshape %v38 : (tensor<?x12xf32>) -> tensor<?x3x4xf32>
    %max_fixed = nn.read @max_fixed : tensor<5x3xf32>
    %v40 = nn.reduce max %v36 axes [1] : tensor<?x37xf32>
    %v41 = nn.reduce max %v36 axes [1] keep : tensor<?x37xf32>
    %v42 = nn.reduce max %v39 axes [2] : tensor<?x3x4xf32>
    %v43 = nn.reduce max %v39 axes [1] : tensor<?x3x4xf32>
    %v44 = nn.reduce max %v39 axes [1] keep : tensor<?x3x4xf32>
    %v45 = nn.reduce max %v39 axes [1, 2] : tensor<?x3x4xf32>
    %v46 = nn.reduce max %max_fixed axes [0] : tensor<5x3xf32>
    %v47 = nn.slice %x1_field axis 1 offset 0 size 1 : tensor<?x37xf32>
    %v48 = nn.broadcast %v46 like %v47 : (tensor<3xf32>, tensor<?x1xf32>) -> tensor<?x3xf32>
    %v49 = nn.reduce max %max_fixed axes [1] : tensor<5x3xf32>
    %v50 = nn.slice %x1_field axis 1 offset 0 size 1 : tensor<?x37xf32>
    %v51 = nn.broadcast %v49 like %v50 : (tensor<5xf32>, tensor<?x1xf32>) -> tensor<?x5xf32>
    nn.return %v6, %v7, %v8, %v9, %v10, %v11, %v14, %v17, %v23, %v24, %v25, %v26, %v27, %v28, %v31, %v34, %v40, %v41, %v42, %v43, %v44, %v45, %v48, %v51 : tensor<?xf32>, tensor<?x1xf32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x1x4xf32>, tensor<?xf32>, tensor<?x3xf32>, tensor<?x5xf32>, tensor<?xf32>, tensor<?x1xf32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x1x4xf32>, tensor<?xf32>, tensor<?x3xf32>, tensor<?x5xf32>, tensor<?xf32>, tensor<?x1xf32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x1x4xf32>, tensor<?xf32>, tensor<?x3xf32>, tensor<?x5xf32>
  }

  nn.program @train reads(@sample) {
  ^bb0(%x1_field: tensor<?x37xf32>, %x3_field: tensor<?x12xf32>, %weight1: tensor<?x1xf32>, %weight2: tensor<?x1xf32>, %weight3: tensor<?x3xf32>, %weight4: tensor<?x4xf32>, %weight5: tensor<?x4xf32>, %weight6: tensor<?x1xf32>, %weight7: tensor<?x3xf32>, %weight8: tensor<?x5xf32>, %x18_field: tensor<?x37xf32>, %x20_field: tensor<?x12xf32>, %weight9: tensor<?x1xf32>, %weight10: tensor<?x1xf32>, %weight11: tensor<?x3xf32>, %weight12: tensor<?x4xf32>, %weight13: tensor<?x4xf32>, %weight14: tensor<?x1xf32>, %weight15: tensor<?x3xf32>, %weight16: tensor<?x5xf32>, %x35_field: tensor<?x37xf32>, %x37_field: tensor<?x12xf32>, %weight17: tensor<?x1xf32>, %weight18: tensor<?x1xf32>, %weight19: tensor<?x3xf32>, %weight20: tensor<?x4xf32>, %weight21: tensor<?x4xf32>, %weight22: tensor<?x1xf32>, %weight23: tensor<?x3xf32>, %weight24: tensor<?x5xf32>):
    %r:24 = nn.call @compute(%x1_field, %x3_field, %weight1, %weight2, %weight3, %weight4, %weight5, %weight6, %weight7, %weight8, %x18_field, %x20_field, %weight9, %weight10, %weight11, %weight12, %weight13, %weight14, %weight15, %weight16, %x35_field, %x37_field, %weight17, %weight18, %weight19, %weight20, %weight21, %weight22, %weight23, %weight24) : (tensor<?x37xf32>, tensor<?x12xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x3xf32>, tensor<?x5xf32>, tensor<?x37xf32>, tensor<?x12xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x3xf32>, tensor<?x5xf32>, tensor<?x37xf32>, tensor<?x12xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x3xf32>, tensor<?x5xf32>) -> (tensor<?xf32>, tensor<?x1xf32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x1x4xf32>, tensor<?xf32>, tensor<?x3xf32>, tensor<?x5xf32>, tensor<?xf32>, tensor<?x1xf32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x1x4xf32>, tensor<?xf32>, tensor<?x3xf32>, tensor<?x5xf32>, tensor<?xf32>, tensor<?x1xf32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x1x4xf32>, tensor<?xf32>, tensor<?x3xf32>, tensor<?x5xf32>)
    %flat0 = nn.reshape %r#0 : (tensor<?xf32>) -> tensor<?x1xf32>
    %product0 = nn.mul %flat0, %weight1 : tensor<?x1xf32>, tensor<?x1xf32>
    %term0 = nn.reduce sum %product0 axes [1] keep : tensor<?x1xf32>
    %product1 = nn.mul %r#1, %weight2 : tensor<?x1xf32>, tensor<?x1xf32>
    %term1 = nn.reduce sum %product1 axes [1] keep : tensor<?x1xf32>
    %total1 = nn.add %term0, %term1 : tensor<?x1xf32>, tensor<?x1xf32>
    %product2 = nn.mul %r#2, %weight3 : tensor<?x3xf32>, tensor<?x3xf32>
    %term2 = nn.reduce sum %product2 axes [1] keep : tensor<?x3xf32>
    %total2 = nn.add %total1, %term2 : tensor<?x1xf32>, tensor<?x1xf32>
    %product3 = nn.mul %r#3, %weight4 : tensor<?x4xf32>, tensor<?x4xf32>
    %term3 = nn.reduce sum %product3 axes [1] keep : tensor<?x4xf32>
    %total3 = nn.add %total2, %term3 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat4 = nn.reshape %r#4 : (tensor<?x1x4xf32>) -> tensor<?x4xf32>
    %product4 = nn.mul %flat4, %weight5 : tensor<?x4xf32>, tensor<?x4xf32>
    %term4 = nn.reduce sum %product4 axes [1] keep : tensor<?x4xf32>
    %total4 = nn.add %total3, %term4 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat5 = nn.reshape %r#5 : (tensor<?xf32>) -> tensor<?x1xf32>
    %product5 = nn.mul %flat5, %weight6 : tensor<?x1xf32>, tensor<?x1xf32>
    %term5 = nn.reduce sum %product5 axes [1] keep : tensor<?x1xf32>
    %total5 = nn.add %total4, %term5 : tensor<?x1xf32>, tensor<?x1xf32>
    %product6 = nn.mul %r#6, %weight7 : tensor<?x3xf32>, tensor<?x3xf32>
    %term6 = nn.reduce sum %product6 axes [1] keep : tensor<?x3xf32>
    %total6 = nn.add %total5, %term6 : tensor<?x1xf32>, tensor<?x1xf32>
    %product7 = nn.mul %r#7, %weight8 : tensor<?x5xf32>, tensor<?x5xf32>
    %term7 = nn.reduce sum %product7 axes [1] keep : tensor<?x5xf32>
    %total7 = nn.add %total6, %term7 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat8 = nn.reshape %r#8 : (tensor<?xf32>) -> tensor<?x1xf32>
    %product8 = nn.mul %flat8, %weight9 : tensor<?x1xf32>, tensor<?x1xf32>
    %term8 = nn.reduce sum %product8 axes [1] keep : tensor<?x1xf32>
    %total8 = nn.add %total7, %term8 : tensor<?x1xf32>, tensor<?x1xf32>
    %product9 = nn.mul %r#9, %weight10 : tensor<?x1xf32>, tensor<?x1xf32>
    %term9 = nn.reduce sum %product9 axes [1] keep : tensor<?x1xf32>
    %total9 = nn.add %total8, %term9 : tensor<?x1xf32>, tensor<?x1xf32>
    %product10 = nn.mul %r#10, %weight11 : tensor<?x3xf32>, tensor<?x3xf32>
    %term10 = nn.reduce sum %product10 axes [1] keep : tensor<?x3xf32>
    %total10 = nn.add %total9, %term10 : tensor<?x1xf32>, tensor<?x1xf32>
    %product11 = nn.mul %r#11, %weight12 : tensor<?x4xf32>, tensor<?x4xf32>
    %term11 = nn.reduce sum %product11 axes [1] keep : tensor<?x4xf32>
    %total11 = nn.add %total10, %term11 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat12 = nn.reshape %r#12 : (tensor<?x1x4xf32>) -> tensor<?x4xf32>
    %product12 = nn.mul %flat12, %weight13 : tensor<?x4xf32>, tensor<?x4xf32>
    %term12 = nn.reduce sum %product12 axes [1] keep : tensor<?x4xf32>
    %total12 = nn.add %total11, %term12 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat13 = nn.reshape %r#13 : (tensor<?xf32>) -> tensor<?x1xf32>
    %product13 = nn.mul %flat13, %weight14 : tensor<?x1xf32>, tensor<?x1xf32>
    %term13 = nn.reduce sum %product13 axes [1] keep : tensor<?x1xf32>
    %total13 = nn.add %total12, %term13 : tensor<?x1xf32>, tensor<?x1xf32>
    %product14 = nn.mul %r#14, %weight15 : tensor<?x3xf32>, tensor<?x3xf32>
    %term14 = nn.reduce sum %product14 axes [1] keep : tensor<?x3xf32>
    %total14 = nn.add %total13, %term14 : tensor<?x1xf32>, tensor<?x1xf32>
    %product15 = nn.mul %r#15, %weight16 : tensor<?x5xf32>, tensor<?x5xf32>
    %term15 = nn.reduce sum %product15 axes [1] keep : tensor<?x5xf32>
    %total15 = nn.add %total14, %term15 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat16 = nn.reshape %r#16 : (tensor<?xf32>) -> tensor<?x1xf32>
    %product16 = nn.mul %flat16, %weight17 : tensor<?x1xf32>, tensor<?x1xf32>
    %term16 = nn.reduce sum %product16 axes [1] keep : tensor<?x1xf32>
    %total16 = nn.add %total15, %term16 : tensor<?x1xf32>, tensor<?x1xf32>
    %product17 = nn.mul %r#17, %weight18 : tensor<?x1xf32>, tensor<?x1xf32>
    %term17 = nn.reduce sum %product17 axes [1] keep : tensor<?x1xf32>
    %total17 = nn.add %total16, %term17 : tensor<?x1xf32>, tensor<?x1xf32>
    %product18 = nn.mul %r#18, %weight19 : tensor<?x3xf32>, tensor<?x3xf32>
    %term18 = nn.reduce sum %product18 axes [1] keep : tensor<?x3xf32>
    %total18 = nn.add %total17, %term18 : tensor<?x1xf32>, tensor<?x1xf32>
    %product19 = nn.mul %r#19, %weight20 : tensor<?x4xf32>, tensor<?x4xf32>
    %term19 = nn.reduce sum %product19 axes [1] keep : tensor<?x4xf32>
    %total19 = nn.add %total18, %term19 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat20 = nn.reshape %r#20 : (tensor<?x1x4xf32>) -> tensor<?x4xf32>
    %product20 = nn.mul %flat20, %weight21 : tensor<?x4xf32>, tensor<?x4xf32>
    %term20 = nn.reduce sum %product20 axes [1] keep : tensor<?x4xf32>
    %total20 = nn.add %total19, %term20 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat21 = nn.reshape %r#21 : (tensor<?xf32>) -> tensor<?x1xf32>
    %product21 = nn.mul %flat21, %weight22 : tensor<?x1xf32>, tensor<?x1xf32>
    %term21 = nn.reduce sum %product21 axes [1] keep : tensor<?x1xf32>
    %total21 = nn.add %total20, %term21 : tensor<?x1xf32>, tensor<?x1xf32>
    %product22 = nn.mul %r#22, %weight23 : tensor<?x3xf32>, tensor<?x3xf32>
    %term22 = nn.reduce sum %product22 axes [1] keep : tensor<?x3xf32>
    %total22 = nn.add %total21, %term22 : tensor<?x1xf32>, tensor<?x1xf32>
    %product23 = nn.mul %r#23, %weight24 : tensor<?x5xf32>, tensor<?x5xf32>
    %term23 = nn.reduce sum %product23 axes [1] keep : tensor<?x5xf32>
    %total23 = nn.add %total22, %term23 : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %total23 over [@descent] : tensor<?x1xf32>
  }

  nn.program @predict frozen reads(@sample) {
  ^bb0(%x1_field: tensor<?x37xf32>, %x3_field: tensor<?x12xf32>, %weight1: tensor<?x1xf32>, %weight2: tensor<?x1xf32>, %weight3: tensor<?x3xf32>, %weight4: tensor<?x4xf32>, %weight5: tensor<?x4xf32>, %weight6: tensor<?x1xf32>, %weight7: tensor<?x3xf32>, %weight8: tensor<?x5xf32>, %x18_field: tensor<?x37xf32>, %x20_field: tensor<?x12xf32>, %weight9: tensor<?x1xf32>, %weight10: tensor<?x1xf32>, %weight11: tensor<?x3xf32>, %weight12: tensor<?x4xf32>, %weight13: tensor<?x4xf32>, %weight14: tensor<?x1xf32>, %weight15: tensor<?x3xf32>, %weight16: tensor<?x5xf32>, %x35_field: tensor<?x37xf32>, %x37_field: tensor<?x12xf32>, %weight17: tensor<?x1xf32>, %weight18: tensor<?x1xf32>, %weight19: tensor<?x3xf32>, %weight20: tensor<?x4xf32>, %weight21: tensor<?x4xf32>, %weight22: tensor<?x1xf32>, %weight23: tensor<?x3xf32>, %weight24: tensor<?x5xf32>):
    %r:24 = nn.call @compute(%x1_field, %x3_field, %weight1, %weight2, %weight3, %weight4, %weight5, %weight6, %weight7, %weight8, %x18_field, %x20_field, %weight9, %weight10, %weight11, %weight12, %weight13, %weight14, %weight15, %weight16, %x35_field, %x37_field, %weight17, %weight18, %weight19, %weight20, %weight21, %weight22, %weight23, %weight24) : (tensor<?x37xf32>, tensor<?x12xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x3xf32>, tensor<?x5xf32>, tensor<?x37xf32>, tensor<?x12xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x3xf32>, tensor<?x5xf32>, tensor<?x37xf32>, tensor<?x12xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x3xf32>, tensor<?x5xf32>) -> (tensor<?xf32>, tensor<?x1xf32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x1x4xf32>, tensor<?xf32>, tensor<?x3xf32>, tensor<?x5xf32>, tensor<?xf32>, tensor<?x1xf32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x1x4xf32>, tensor<?xf32>, tensor<?x3xf32>, tensor<?x5xf32>, tensor<?xf32>, tensor<?x1xf32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x1x4xf32>, tensor<?xf32>, tensor<?x3xf32>, tensor<?x5xf32>)
    nn.return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7, %r#8, %r#9, %r#10, %r#11, %r#12, %r#13, %r#14, %r#15, %r#16, %r#17, %r#18, %r#19, %r#20, %r#21, %r#22, %r#23 : tensor<?xf32>, tensor<?x1xf32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x1x4xf32>, tensor<?xf32>, tensor<?x3xf32>, tensor<?x5xf32>, tensor<?xf32>, tensor<?x1xf32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x1x4xf32>, tensor<?xf32>, tensor<?x3xf32>, tensor<?x5xf32>, tensor<?xf32>, tensor<?x1xf32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x1x4xf32>, tensor<?xf32>, tensor<?x3xf32>, tensor<?x5xf32>
  }
}
