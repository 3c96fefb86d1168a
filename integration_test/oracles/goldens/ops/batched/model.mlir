//===- batched/model.mlir - Products of samples, and other orders of elements -*- mlir -*-===//
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

module @batched {
  nn.record @sample {
    nn.field @x1_field : tensor<?x12xf32>
    nn.field @x4_field : tensor<?x8xf32>
    nn.field @x7_field : tensor<?x12xf32>
    nn.field @x10_field : tensor<?x6xf32>
    nn.field @weight1 : tensor<?x6xf32>
    nn.field @weight2 : tensor<?x9xf32>
    nn.field @weight3 : tensor<?x8xf32>
    nn.field @weight4 : tensor<?x6xf32>
    nn.field @weight5 : tensor<?x15xf32>
    nn.field @weight6 : tensor<?x9xf32>
    nn.field @x19_field : tensor<?x24xf32>
    nn.field @x22_field : tensor<?x16xf32>
    nn.field @weight7 : tensor<?x12xf32>
    nn.field @weight8 : tensor<?x30xf32>
    nn.field @weight9 : tensor<?x18xf32>
    nn.field @weight10 : tensor<?x9xf32>
    nn.field @weight11 : tensor<?x12xf32>
    nn.field @weight12 : tensor<?x24xf32>
    nn.field @weight13 : tensor<?x24xf32>
    nn.field @weight14 : tensor<?x20xf32>
    nn.field @x40_field : tensor<?x5xf32>
    nn.field @weight15 : tensor<?x3xf32>
    nn.field @weight16 : tensor<?x6xf32>
    nn.field @weight17 : tensor<?x12xf32>
    nn.field @weight18 : tensor<?x6xf32>
    nn.field @weight19 : tensor<?x10xf32>
    nn.field @weight20 : tensor<?x9xf32>
  }
  nn.group @descent rule(@sgd) rate(1.0)
  nn.param @x1_shift : tensor<12xf32> in @descent init(#nn.zeros)
  nn.param @x4_shift : tensor<8xf32> in @descent init(#nn.zeros)
  nn.param @x7_shift : tensor<12xf32> in @descent init(#nn.zeros)
  nn.param @x10_shift : tensor<6xf32> in @descent init(#nn.zeros)
  nn.param @w : tensor<4x5xf32> in @descent init(#nn.zeros)
  nn.param @v : tensor<2x3x4xf32> in @descent init(#nn.zeros)
  nn.param @fixed : tensor<2x4x3xf32> in @descent init(#nn.zeros)
  nn.param @u : tensor<3x2xf32> in @descent init(#nn.zeros)
  nn.param @x19_shift : tensor<24xf32> in @descent init(#nn.zeros)
  nn.param @x22_shift : tensor<16xf32> in @descent init(#nn.zeros)
  nn.param @x40_shift : tensor<5xf32> in @descent init(#nn.zeros)
  nn.param @layer_w : tensor<4x3xf32> in @descent init(#nn.zeros)
  nn.param @layer_b : tensor<3xf32> in @descent init(#nn.zeros)

  nn.func private @compute(%x1_field: tensor<?x12xf32>, %x4_field: tensor<?x8xf32>, %x7_field: tensor<?x12xf32>, %x10_field: tensor<?x6xf32>, %weight1: tensor<?x6xf32>, %weight2: tensor<?x9xf32>, %weight3: tensor<?x8xf32>, %weight4: tensor<?x6xf32>, %weight5: tensor<?x15xf32>, %weight6: tensor<?x9xf32>, %x19_field: tensor<?x24xf32>, %x22_field: tensor<?x16xf32>, %weight7: tensor<?x12xf32>, %weight8: tensor<?x30xf32>, %weight9: tensor<?x18xf32>, %weight10: tensor<?x9xf32>, %weight11: tensor<?x12xf32>, %weight12: tensor<?x24xf32>, %weight13: tensor<?x24xf32>, %weight14: tensor<?x20xf32>, %x40_field: tensor<?x5xf32>, %weight15: tensor<?x3xf32>, %weight16: tensor<?x6xf32>, %weight17: tensor<?x12xf32>, %weight18: tensor<?x6xf32>, %weight19: tensor<?x10xf32>, %weight20: tensor<?x9xf32>) -> (tensor<?x3x2xf32>, tensor<?x3x3xf32>, tensor<?x4x2xf32>, tensor<?x2x3xf32>, tensor<?x3x5xf32>, tensor<?x3x3xf32>, tensor<?x2x3x2xf32>, tensor<?x2x3x5xf32>, tensor<?x18xf32>, tensor<?x3x3xf32>, tensor<?x4x3xf32>, tensor<?x3x4x2xf32>, tensor<?x2x3x4xf32>, tensor<?x20xf32>, tensor<?x3xf32>, tensor<?x6xf32>, tensor<?x3x4xf32>, tensor<?x3x2xf32>, tensor<?x10xf32>, tensor<?x3x3xf32>) {
    %x1_shift = nn.read @x1_shift : tensor<12xf32>
    %v2 = nn.add %x1_field, %x1_shift : tensor<?x12xf32>, tensor<12xf32>
    %v3 = nn.reshape %v2 : (tensor<?x12xf32>) -> tensor<?x3x4xf32>
    %x4_shift = nn.read @x4_shift : tensor<8xf32>
    %v5 = nn.add %x4_field, %x4_shift : tensor<?x8xf32>, tensor<8xf32>
    %v6 = nn.reshape %v5 : (tensor<?x8xf32>) -> tensor<?x4x2xf32>
    %x7_shift = nn.read @x7_shift : tensor<12xf32>
    %v8 = nn.add %x7_field, %x7_shift : tensor<?x12xf32>, tensor<12xf32>
    %v9 = nn.reshape %v8 : (tensor<?x12xf32>) -> tensor<?x3x4xf32>
    %x10_shift = nn.read @x10_shift : tensor<6xf32>
    %v11 = nn.add %x10_field, %x10_shift : tensor<?x6xf32>, tensor<6xf32>
    %v12 = nn.reshape %v11 : (tensor<?x6xf32>) -> tensor<?x3x2xf32>
    %w = nn.read @w : tensor<4x5xf32>
    %v = nn.read @v : tensor<2x3x4xf32>
    %fixed = nn.read @fixed : tensor<2x4x3xf32>
    %v13 = nn.matmul %v3, %v6 : tensor<?x3x4xf32>, tensor<?x4x2xf32>
    %v14 = nn.matmul %v3, %v9 transposed : tensor<?x3x4xf32>, tensor<?x3x4xf32>
    %v15 = nn.matmul %v3 transposed, %v12 : tensor<?x3x4xf32>, tensor<?x3x2xf32>
    %v16 = nn.matmul %v6 transposed, %v3 transposed : tensor<?x4x2xf32>, tensor<?x3x4xf32>
    %v17 = nn.matmul %v3, %w : tensor<?x3x4xf32>, tensor<4x5xf32>
    %u = nn.read @u : tensor<3x2xf32>
    %v18 = nn.matmul %v12, %u transposed : tensor<?x3x2xf32>, tensor<3x2xf32>
    %x19_shift = nn.read @x19_shift : tensor<24xf32>
    %v20 = nn.add %x19_field, %x19_shift : tensor<?x24xf32>, tensor<24xf32>
    %v21 = nn.reshape %v20 : (tensor<?x24xf32>) -> tensor<?x2x3x4xf32>
    %x22_shift = nn.read @x22_shift : tensor<16xf32>
    %v23 = nn.add %x22_field, %x22_shift : tensor<?x16xf32>, tensor<16xf32>
    %v24 = nn.reshape %v23 : (tensor<?x16xf32>) -> tensor<?x2x4x2xf32>
    %v25 = nn.matmul %v21, %v24 : tensor<?x2x3x4xf32>, tensor<?x2x4x2xf32>
    %v26 = nn.matmul %v21, %w : tensor<?x2x3x4xf32>, tensor<4x5xf32>
    %v27 = nn.matmul %v, %fixed : tensor<2x3x4xf32>, tensor<2x4x3xf32>
    %v28 = nn.reshape %v27 : (tensor<2x3x3xf32>) -> tensor<18xf32>
    %v29 = nn.slice %x1_field axis 1 offset 0 size 1 : tensor<?x12xf32>
    %v30 = nn.broadcast %v28 like %v29 : (tensor<18xf32>, tensor<?x1xf32>) -> tensor<?x18xf32>
    %v31 = nn.matmul %v3, %v3 transposed : tensor<?x3x4xf32>, tensor<?x3x4xf32>
    %v32 = nn.transpose %v3 permutation [0, 2, 1] : tensor<?x3x4xf32>
    %v33 = nn.transpose %v21 permutation [0, 2, 3, 1] : tensor<?x2x3x4xf32>
    %v34 = nn.transpose %v21 permutation [0, 3, 1, 2] : tensor<?x2x3x4xf32>
    %v35 = nn.transpose %v34 permutation [0, 2, 3, 1] : tensor<?x4x2x3xf32>
    %v36 = nn.transpose %w permutation [1, 0] : tensor<4x5xf32>
    %v37 = nn.reshape %v36 : (tensor<5x4xf32>) -> tensor<20xf32>
    %v38 = nn.slice %x1_field axis 1 offset 0 size 1 : tensor<?x12xf32>
    %v39 = nn.broadcast %v37 like %v38 : (tensor<20xf32>, tensor<?x1xf32>) -> tensor<?x20xf32>
    %x40_shift = nn.read @x40_shift : tensor<5xf32>
    %v41 = nn.add %x40_field, %x40_shift : tensor<?x5xf32>, tensor<5xf32>
    %v42 = nn.take %v41 axis 1 at [4, 0, 2] : tensor<?x5xf32>
    %v43 = nn.take %v41 axis 1 at [1, -1, 1, 3, 1, -1] : tensor<?x5xf32>
    %v44 = nn.take %v3 axis 1 at [2, 2, 0] : tensor<?x3x4xf32>
    %v45 = nn.take %v3 axis 2 at [3, -1] : tensor<?x3x4xf32>
    %v46 = nn.take %w axis 0 at [3, 1] : tensor<4x5xf32>
    %v47 = nn.reshape %v46 : (tensor<2x5xf32>) -> tensor<10xf32>
    %v48 = nn.slice %x1_field axis 1 offset 0 size 1 : tensor<?x12xf32>
    %v49 = nn.broadcast %v47 like %v48 : (tensor<10xf32>, tensor<?x1xf32>) -> tensor<?x10xf32>
    %v50 = nn.linear %v3, @layer_w, @layer_b act(tanh) : (tensor<?x3x4xf32>) -> tensor<?x3x3xf32>
    nn.return %v13, %v14, %v15, %v16, %v17, %v18, %v25, %v26, %v30, %v31, %v32, %v33, %v35, %v39, %v42, %v43, %v44, %v45, %v49, %v50 : tensor<?x3x2xf32>, tensor<?x3x3xf32>, tensor<?x4x2xf32>, tensor<?x2x3xf32>, tensor<?x3x5xf32>, tensor<?x3x3xf32>, tensor<?x2x3x2xf32>, tensor<?x2x3x5xf32>, tensor<?x18xf32>, tensor<?x3x3xf32>, tensor<?x4x3xf32>, tensor<?x3x4x2xf32>, tensor<?x2x3x4xf32>, tensor<?x20xf32>, tensor<?x3xf32>, tensor<?x6xf32>, tensor<?x3x4xf32>, tensor<?x3x2xf32>, tensor<?x10xf32>, tensor<?x3x3xf32>
  }

  nn.program @train reads(@sample) {
  ^bb0(%x1_field: tensor<?x12xf32>, %x4_field: tensor<?x8xf32>, %x7_field: tensor<?x12xf32>, %x10_field: tensor<?x6xf32>, %weight1: tensor<?x6xf32>, %weight2: tensor<?x9xf32>, %weight3: tensor<?x8xf32>, %weight4: tensor<?x6xf32>, %weight5: tensor<?x15xf32>, %weight6: tensor<?x9xf32>, %x19_field: tensor<?x24xf32>, %x22_field: tensor<?x16xf32>, %weight7: tensor<?x12xf32>, %weight8: tensor<?x30xf32>, %weight9: tensor<?x18xf32>, %weight10: tensor<?x9xf32>, %weight11: tensor<?x12xf32>, %weight12: tensor<?x24xf32>, %weight13: tensor<?x24xf32>, %weight14: tensor<?x20xf32>, %x40_field: tensor<?x5xf32>, %weight15: tensor<?x3xf32>, %weight16: tensor<?x6xf32>, %weight17: tensor<?x12xf32>, %weight18: tensor<?x6xf32>, %weight19: tensor<?x10xf32>, %weight20: tensor<?x9xf32>):
    %r:20 = nn.call @compute(%x1_field, %x4_field, %x7_field, %x10_field, %weight1, %weight2, %weight3, %weight4, %weight5, %weight6, %x19_field, %x22_field, %weight7, %weight8, %weight9, %weight10, %weight11, %weight12, %weight13, %weight14, %x40_field, %weight15, %weight16, %weight17, %weight18, %weight19, %weight20) : (tensor<?x12xf32>, tensor<?x8xf32>, tensor<?x12xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x9xf32>, tensor<?x8xf32>, tensor<?x6xf32>, tensor<?x15xf32>, tensor<?x9xf32>, tensor<?x24xf32>, tensor<?x16xf32>, tensor<?x12xf32>, tensor<?x30xf32>, tensor<?x18xf32>, tensor<?x9xf32>, tensor<?x12xf32>, tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x20xf32>, tensor<?x5xf32>, tensor<?x3xf32>, tensor<?x6xf32>, tensor<?x12xf32>, tensor<?x6xf32>, tensor<?x10xf32>, tensor<?x9xf32>) -> (tensor<?x3x2xf32>, tensor<?x3x3xf32>, tensor<?x4x2xf32>, tensor<?x2x3xf32>, tensor<?x3x5xf32>, tensor<?x3x3xf32>, tensor<?x2x3x2xf32>, tensor<?x2x3x5xf32>, tensor<?x18xf32>, tensor<?x3x3xf32>, tensor<?x4x3xf32>, tensor<?x3x4x2xf32>, tensor<?x2x3x4xf32>, tensor<?x20xf32>, tensor<?x3xf32>, tensor<?x6xf32>, tensor<?x3x4xf32>, tensor<?x3x2xf32>, tensor<?x10xf32>, tensor<?x3x3xf32>)
    %flat0 = nn.reshape %r#0 : (tensor<?x3x2xf32>) -> tensor<?x6xf32>
    %product0 = nn.mul %flat0, %weight1 : tensor<?x6xf32>, tensor<?x6xf32>
    %term0 = nn.reduce sum %product0 axes [1] keep : tensor<?x6xf32>
    %flat1 = nn.reshape %r#1 : (tensor<?x3x3xf32>) -> tensor<?x9xf32>
    %product1 = nn.mul %flat1, %weight2 : tensor<?x9xf32>, tensor<?x9xf32>
    %term1 = nn.reduce sum %product1 axes [1] keep : tensor<?x9xf32>
    %total1 = nn.add %term0, %term1 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat2 = nn.reshape %r#2 : (tensor<?x4x2xf32>) -> tensor<?x8xf32>
    %product2 = nn.mul %flat2, %weight3 : tensor<?x8xf32>, tensor<?x8xf32>
    %term2 = nn.reduce sum %product2 axes [1] keep : tensor<?x8xf32>
    %total2 = nn.add %total1, %term2 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat3 = nn.reshape %r#3 : (tensor<?x2x3xf32>) -> tensor<?x6xf32>
    %product3 = nn.mul %flat3, %weight4 : tensor<?x6xf32>, tensor<?x6xf32>
    %term3 = nn.reduce sum %product3 axes [1] keep : tensor<?x6xf32>
    %total3 = nn.add %total2, %term3 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat4 = nn.reshape %r#4 : (tensor<?x3x5xf32>) -> tensor<?x15xf32>
    %product4 = nn.mul %flat4, %weight5 : tensor<?x15xf32>, tensor<?x15xf32>
    %term4 = nn.reduce sum %product4 axes [1] keep : tensor<?x15xf32>
    %total4 = nn.add %total3, %term4 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat5 = nn.reshape %r#5 : (tensor<?x3x3xf32>) -> tensor<?x9xf32>
    %product5 = nn.mul %flat5, %weight6 : tensor<?x9xf32>, tensor<?x9xf32>
    %term5 = nn.reduce sum %product5 axes [1] keep : tensor<?x9xf32>
    %total5 = nn.add %total4, %term5 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat6 = nn.reshape %r#6 : (tensor<?x2x3x2xf32>) -> tensor<?x12xf32>
    %product6 = nn.mul %flat6, %weight7 : tensor<?x12xf32>, tensor<?x12xf32>
    %term6 = nn.reduce sum %product6 axes [1] keep : tensor<?x12xf32>
    %total6 = nn.add %total5, %term6 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat7 = nn.reshape %r#7 : (tensor<?x2x3x5xf32>) -> tensor<?x30xf32>
    %product7 = nn.mul %flat7, %weight8 : tensor<?x30xf32>, tensor<?x30xf32>
    %term7 = nn.reduce sum %product7 axes [1] keep : tensor<?x30xf32>
    %total7 = nn.add %total6, %term7 : tensor<?x1xf32>, tensor<?x1xf32>
    %product8 = nn.mul %r#8, %weight9 : tensor<?x18xf32>, tensor<?x18xf32>
    %term8 = nn.reduce sum %product8 axes [1] keep : tensor<?x18xf32>
    %total8 = nn.add %total7, %term8 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat9 = nn.reshape %r#9 : (tensor<?x3x3xf32>) -> tensor<?x9xf32>
    %product9 = nn.mul %flat9, %weight10 : tensor<?x9xf32>, tensor<?x9xf32>
    %term9 = nn.reduce sum %product9 axes [1] keep : tensor<?x9xf32>
    %total9 = nn.add %total8, %term9 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat10 = nn.reshape %r#10 : (tensor<?x4x3xf32>) -> tensor<?x12xf32>
    %product10 = nn.mul %flat10, %weight11 : tensor<?x12xf32>, tensor<?x12xf32>
    %term10 = nn.reduce sum %product10 axes [1] keep : tensor<?x12xf32>
    %total10 = nn.add %total9, %term10 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat11 = nn.reshape %r#11 : (tensor<?x3x4x2xf32>) -> tensor<?x24xf32>
    %product11 = nn.mul %flat11, %weight12 : tensor<?x24xf32>, tensor<?x24xf32>
    %term11 = nn.reduce sum %product11 axes [1] keep : tensor<?x24xf32>
    %total11 = nn.add %total10, %term11 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat12 = nn.reshape %r#12 : (tensor<?x2x3x4xf32>) -> tensor<?x24xf32>
    %product12 = nn.mul %flat12, %weight13 : tensor<?x24xf32>, tensor<?x24xf32>
    %term12 = nn.reduce sum %product12 axes [1] keep : tensor<?x24xf32>
    %total12 = nn.add %total11, %term12 : tensor<?x1xf32>, tensor<?x1xf32>
    %product13 = nn.mul %r#13, %weight14 : tensor<?x20xf32>, tensor<?x20xf32>
    %term13 = nn.reduce sum %product13 axes [1] keep : tensor<?x20xf32>
    %total13 = nn.add %total12, %term13 : tensor<?x1xf32>, tensor<?x1xf32>
    %product14 = nn.mul %r#14, %weight15 : tensor<?x3xf32>, tensor<?x3xf32>
    %term14 = nn.reduce sum %product14 axes [1] keep : tensor<?x3xf32>
    %total14 = nn.add %total13, %term14 : tensor<?x1xf32>, tensor<?x1xf32>
    %product15 = nn.mul %r#15, %weight16 : tensor<?x6xf32>, tensor<?x6xf32>
    %term15 = nn.reduce sum %product15 axes [1] keep : tensor<?x6xf32>
    %total15 = nn.add %total14, %term15 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat16 = nn.reshape %r#16 : (tensor<?x3x4xf32>) -> tensor<?x12xf32>
    %product16 = nn.mul %flat16, %weight17 : tensor<?x12xf32>, tensor<?x12xf32>
    %term16 = nn.reduce sum %product16 axes [1] keep : tensor<?x12xf32>
    %total16 = nn.add %total15, %term16 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat17 = nn.reshape %r#17 : (tensor<?x3x2xf32>) -> tensor<?x6xf32>
    %product17 = nn.mul %flat17, %weight18 : tensor<?x6xf32>, tensor<?x6xf32>
    %term17 = nn.reduce sum %product17 axes [1] keep : tensor<?x6xf32>
    %total17 = nn.add %total16, %term17 : tensor<?x1xf32>, tensor<?x1xf32>
    %product18 = nn.mul %r#18, %weight19 : tensor<?x10xf32>, tensor<?x10xf32>
    %term18 = nn.reduce sum %product18 axes [1] keep : tensor<?x10xf32>
    %total18 = nn.add %total17, %term18 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat19 = nn.reshape %r#19 : (tensor<?x3x3xf32>) -> tensor<?x9xf32>
    %product19 = nn.mul %flat19, %weight20 : tensor<?x9xf32>, tensor<?x9xf32>
    %term19 = nn.reduce sum %product19 axes [1] keep : tensor<?x9xf32>
    %total19 = nn.add %total18, %term19 : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %total19 over [@descent] : tensor<?x1xf32>
  }

  nn.program @predict frozen reads(@sample) {
  ^bb0(%x1_field: tensor<?x12xf32>, %x4_field: tensor<?x8xf32>, %x7_field: tensor<?x12xf32>, %x10_field: tensor<?x6xf32>, %weight1: tensor<?x6xf32>, %weight2: tensor<?x9xf32>, %weight3: tensor<?x8xf32>, %weight4: tensor<?x6xf32>, %weight5: tensor<?x15xf32>, %weight6: tensor<?x9xf32>, %x19_field: tensor<?x24xf32>, %x22_field: tensor<?x16xf32>, %weight7: tensor<?x12xf32>, %weight8: tensor<?x30xf32>, %weight9: tensor<?x18xf32>, %weight10: tensor<?x9xf32>, %weight11: tensor<?x12xf32>, %weight12: tensor<?x24xf32>, %weight13: tensor<?x24xf32>, %weight14: tensor<?x20xf32>, %x40_field: tensor<?x5xf32>, %weight15: tensor<?x3xf32>, %weight16: tensor<?x6xf32>, %weight17: tensor<?x12xf32>, %weight18: tensor<?x6xf32>, %weight19: tensor<?x10xf32>, %weight20: tensor<?x9xf32>):
    %r:20 = nn.call @compute(%x1_field, %x4_field, %x7_field, %x10_field, %weight1, %weight2, %weight3, %weight4, %weight5, %weight6, %x19_field, %x22_field, %weight7, %weight8, %weight9, %weight10, %weight11, %weight12, %weight13, %weight14, %x40_field, %weight15, %weight16, %weight17, %weight18, %weight19, %weight20) : (tensor<?x12xf32>, tensor<?x8xf32>, tensor<?x12xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x9xf32>, tensor<?x8xf32>, tensor<?x6xf32>, tensor<?x15xf32>, tensor<?x9xf32>, tensor<?x24xf32>, tensor<?x16xf32>, tensor<?x12xf32>, tensor<?x30xf32>, tensor<?x18xf32>, tensor<?x9xf32>, tensor<?x12xf32>, tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x20xf32>, tensor<?x5xf32>, tensor<?x3xf32>, tensor<?x6xf32>, tensor<?x12xf32>, tensor<?x6xf32>, tensor<?x10xf32>, tensor<?x9xf32>) -> (tensor<?x3x2xf32>, tensor<?x3x3xf32>, tensor<?x4x2xf32>, tensor<?x2x3xf32>, tensor<?x3x5xf32>, tensor<?x3x3xf32>, tensor<?x2x3x2xf32>, tensor<?x2x3x5xf32>, tensor<?x18xf32>, tensor<?x3x3xf32>, tensor<?x4x3xf32>, tensor<?x3x4x2xf32>, tensor<?x2x3x4xf32>, tensor<?x20xf32>, tensor<?x3xf32>, tensor<?x6xf32>, tensor<?x3x4xf32>, tensor<?x3x2xf32>, tensor<?x10xf32>, tensor<?x3x3xf32>)
    nn.return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7, %r#8, %r#9, %r#10, %r#11, %r#12, %r#13, %r#14, %r#15, %r#16, %r#17, %r#18, %r#19 : tensor<?x3x2xf32>, tensor<?x3x3xf32>, tensor<?x4x2xf32>, tensor<?x2x3xf32>, tensor<?x3x5xf32>, tensor<?x3x3xf32>, tensor<?x2x3x2xf32>, tensor<?x2x3x5xf32>, tensor<?x18xf32>, tensor<?x3x3xf32>, tensor<?x4x3xf32>, tensor<?x3x4x2xf32>, tensor<?x2x3x4xf32>, tensor<?x20xf32>, tensor<?x3xf32>, tensor<?x6xf32>, tensor<?x3x4xf32>, tensor<?x3x2xf32>, tensor<?x10xf32>, tensor<?x3x3xf32>
  }
}
