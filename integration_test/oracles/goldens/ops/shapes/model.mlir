//===- shapes/model.mlir - concat, slice, reshape, flatten, constant -*- mlir -*-===//
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

module @shapes {
  nn.record @sample {
    nn.field @x1_field : tensor<?x2xf32>
    nn.field @x3_field : tensor<?x3xf32>
    nn.field @x5_field : tensor<?x1xf32>
    nn.field @weight1 : tensor<?x6xf32>
    nn.field @weight2 : tensor<?x4xf32>
    nn.field @x9_field : tensor<?x6xf32>
    nn.field @x12_field : tensor<?x4xf32>
    nn.field @weight3 : tensor<?x10xf32>
    nn.field @x16_field : tensor<?x9xf32>
    nn.field @weight4 : tensor<?x15xf32>
    nn.field @x20_field : tensor<?x6xf32>
    nn.field @weight5 : tensor<?x3xf32>
    nn.field @weight6 : tensor<?x4xf32>
    nn.field @weight7 : tensor<?x6xf32>
    nn.field @weight8 : tensor<?x3xf32>
    nn.field @weight9 : tensor<?x6xf32>
    nn.field @weight10 : tensor<?x6xf32>
    nn.field @weight11 : tensor<?x9xf32>
    nn.field @x33_field : tensor<?x12xf32>
    nn.field @weight12 : tensor<?x12xf32>
    nn.field @weight13 : tensor<?x3xf32>
  }
  nn.group @descent rule(@sgd) rate(1.0)
  nn.param @x1_shift : tensor<2xf32> in @descent init(#nn.zeros)
  nn.param @x3_shift : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x5_shift : tensor<1xf32> in @descent init(#nn.zeros)
  nn.param @x9_shift : tensor<6xf32> in @descent init(#nn.zeros)
  nn.param @x12_shift : tensor<4xf32> in @descent init(#nn.zeros)
  nn.param @x16_shift : tensor<9xf32> in @descent init(#nn.zeros)
  nn.param @x20_shift : tensor<6xf32> in @descent init(#nn.zeros)
  nn.param @fixed : tensor<4x3xf32> in @descent init(#nn.zeros)
  nn.param @x33_shift : tensor<12xf32> in @descent init(#nn.zeros)

  nn.func private @compute(%x1_field: tensor<?x2xf32>, %x3_field: tensor<?x3xf32>, %x5_field: tensor<?x1xf32>, %weight1: tensor<?x6xf32>, %weight2: tensor<?x4xf32>, %x9_field: tensor<?x6xf32>, %x12_field: tensor<?x4xf32>, %weight3: tensor<?x10xf32>, %x16_field: tensor<?x9xf32>, %weight4: tensor<?x15xf32>, %x20_field: tensor<?x6xf32>, %weight5: tensor<?x3xf32>, %weight6: tensor<?x4xf32>, %weight7: tensor<?x6xf32>, %weight8: tensor<?x3xf32>, %weight9: tensor<?x6xf32>, %weight10: tensor<?x6xf32>, %weight11: tensor<?x9xf32>, %x33_field: tensor<?x12xf32>, %weight12: tensor<?x12xf32>, %weight13: tensor<?x3xf32>) -> (tensor<?x6xf32>, tensor<?x4xf32>, tensor<?x2x5xf32>, tensor<?x5x3xf32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x2x3xf32>, tensor<?x3x1xf32>, tensor<?x6xf32>, tensor<?x2x3xf32>, tensor<?x9xf32>, tensor<?x2x6xf32>, tensor<?x3xf32>) {
    %x1_shift = nn.read @x1_shift : tensor<2xf32>
    %v2 = nn.add %x1_field, %x1_shift : tensor<?x2xf32>, tensor<2xf32>
    %x3_shift = nn.read @x3_shift : tensor<3xf32>
    %v4 = nn.add %x3_field, %x3_shift : tensor<?x3xf32>, tensor<3xf32>
    %x5_shift = nn.read @x5_shift : tensor<1xf32>
    %v6 = nn.add %x5_field, %x5_shift : tensor<?x1xf32>, tensor<1xf32>
    %v7 = nn.concat %v2, %v4, %v6 axis 1 : tensor<?x2xf32>, tensor<?x3xf32>, tensor<?x1xf32>
    %v8 = nn.concat %v2, %v2 axis 1 : tensor<?x2xf32>, tensor<?x2xf32>
    %x9_shift = nn.read @x9_shift : tensor<6xf32>
    %v10 = nn.add %x9_field, %x9_shift : tensor<?x6xf32>, tensor<6xf32>
    %v11 = nn.reshape %v10 : (tensor<?x6xf32>) -> tensor<?x2x3xf32>
    %x12_shift = nn.read @x12_shift : tensor<4xf32>
    %v13 = nn.add %x12_field, %x12_shift : tensor<?x4xf32>, tensor<4xf32>
    %v14 = nn.reshape %v13 : (tensor<?x4xf32>) -> tensor<?x2x2xf32>
    %v15 = nn.concat %v11, %v14 axis 2 : tensor<?x2x3xf32>, tensor<?x2x2xf32>
    %x16_shift = nn.read @x16_shift : tensor<9xf32>
    %v17 = nn.add %x16_field, %x16_shift : tensor<?x9xf32>, tensor<9xf32>
    %v18 = nn.reshape %v17 : (tensor<?x9xf32>) -> tensor<?x3x3xf32>
    %v19 = nn.concat %v11, %v18 axis 1 : tensor<?x2x3xf32>, tensor<?x3x3xf32>
    %x20_shift = nn.read @x20_shift : tensor<6xf32>
    %v21 = nn.add %x20_field, %x20_shift : tensor<?x6xf32>, tensor<6xf32>
    %v22 = nn.slice %v21 axis 1 offset 2 size 3 : tensor<?x6xf32>
    %v23 = nn.slice %v21 axis 1 offset 0 size 4 : tensor<?x6xf32>
    %v24 = nn.slice %v18 axis 1 offset 1 size 2 : tensor<?x3x3xf32>
    %v25 = nn.slice %v18 axis 2 offset 0 size 1 : tensor<?x3x3xf32>
    %fixed = nn.read @fixed : tensor<4x3xf32>
    %v26 = nn.slice %fixed axis 0 offset 1 size 2 : tensor<4x3xf32>
    %v27 = nn.reshape %v26 : (tensor<2x3xf32>) -> tensor<6xf32>
    %v28 = nn.slice %x1_field axis 1 offset 0 size 1 : tensor<?x2xf32>
    %v29 = nn.broadcast %v27 like %v28 : (tensor<6xf32>, tensor<?x1xf32>) -> tensor<?x6xf32>
    %v30 = nn.reshape %v21 : (tensor<?x6xf32>) -> tensor<?x3x2xf32>
    %v31 = nn.reshape %v30 : (tensor<?x3x2xf32>) -> tensor<?x2x3xf32>
    %v32 = nn.flatten %v18 from 1 : tensor<?x3x3xf32>
    %x33_shift = nn.read @x33_shift : tensor<12xf32>
    %v34 = nn.add %x33_field, %x33_shift : tensor<?x12xf32>, tensor<12xf32>
    %v35 = nn.reshape %v34 : (tensor<?x12xf32>) -> tensor<?x2x3x2xf32>
    %v36 = nn.flatten %v35 from 2 : tensor<?x2x3x2xf32>
    %constant = nn.constant dense<[0.5, -1.25, 3.0]> : tensor<3xf32>
    %v38 = nn.mul %v4, %constant : tensor<?x3xf32>, tensor<3xf32>
    nn.return %v7, %v8, %v15, %v19, %v22, %v23, %v24, %v25, %v29, %v31, %v32, %v36, %v38 : tensor<?x6xf32>, tensor<?x4xf32>, tensor<?x2x5xf32>, tensor<?x5x3xf32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x2x3xf32>, tensor<?x3x1xf32>, tensor<?x6xf32>, tensor<?x2x3xf32>, tensor<?x9xf32>, tensor<?x2x6xf32>, tensor<?x3xf32>
  }

  nn.program @train reads(@sample) {
  ^bb0(%x1_field: tensor<?x2xf32>, %x3_field: tensor<?x3xf32>, %x5_field: tensor<?x1xf32>, %weight1: tensor<?x6xf32>, %weight2: tensor<?x4xf32>, %x9_field: tensor<?x6xf32>, %x12_field: tensor<?x4xf32>, %weight3: tensor<?x10xf32>, %x16_field: tensor<?x9xf32>, %weight4: tensor<?x15xf32>, %x20_field: tensor<?x6xf32>, %weight5: tensor<?x3xf32>, %weight6: tensor<?x4xf32>, %weight7: tensor<?x6xf32>, %weight8: tensor<?x3xf32>, %weight9: tensor<?x6xf32>, %weight10: tensor<?x6xf32>, %weight11: tensor<?x9xf32>, %x33_field: tensor<?x12xf32>, %weight12: tensor<?x12xf32>, %weight13: tensor<?x3xf32>):
    %r:13 = nn.call @compute(%x1_field, %x3_field, %x5_field, %weight1, %weight2, %x9_field, %x12_field, %weight3, %x16_field, %weight4, %x20_field, %weight5, %weight6, %weight7, %weight8, %weight9, %weight10, %weight11, %x33_field, %weight12, %weight13) : (tensor<?x2xf32>, tensor<?x3xf32>, tensor<?x1xf32>, tensor<?x6xf32>, tensor<?x4xf32>, tensor<?x6xf32>, tensor<?x4xf32>, tensor<?x10xf32>, tensor<?x9xf32>, tensor<?x15xf32>, tensor<?x6xf32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x6xf32>, tensor<?x3xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x9xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x3xf32>) -> (tensor<?x6xf32>, tensor<?x4xf32>, tensor<?x2x5xf32>, tensor<?x5x3xf32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x2x3xf32>, tensor<?x3x1xf32>, tensor<?x6xf32>, tensor<?x2x3xf32>, tensor<?x9xf32>, tensor<?x2x6xf32>, tensor<?x3xf32>)
    %product0 = nn.mul %r#0, %weight1 : tensor<?x6xf32>, tensor<?x6xf32>
    %term0 = nn.reduce sum %product0 axes [1] keep : tensor<?x6xf32>
    %product1 = nn.mul %r#1, %weight2 : tensor<?x4xf32>, tensor<?x4xf32>
    %term1 = nn.reduce sum %product1 axes [1] keep : tensor<?x4xf32>
    %total1 = nn.add %term0, %term1 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat2 = nn.reshape %r#2 : (tensor<?x2x5xf32>) -> tensor<?x10xf32>
    %product2 = nn.mul %flat2, %weight3 : tensor<?x10xf32>, tensor<?x10xf32>
    %term2 = nn.reduce sum %product2 axes [1] keep : tensor<?x10xf32>
    %total2 = nn.add %total1, %term2 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat3 = nn.reshape %r#3 : (tensor<?x5x3xf32>) -> tensor<?x15xf32>
    %product3 = nn.mul %flat3, %weight4 : tensor<?x15xf32>, tensor<?x15xf32>
    %term3 = nn.reduce sum %product3 axes [1] keep : tensor<?x15xf32>
    %total3 = nn.add %total2, %term3 : tensor<?x1xf32>, tensor<?x1xf32>
    %product4 = nn.mul %r#4, %weight5 : tensor<?x3xf32>, tensor<?x3xf32>
    %term4 = nn.reduce sum %product4 axes [1] keep : tensor<?x3xf32>
    %total4 = nn.add %total3, %term4 : tensor<?x1xf32>, tensor<?x1xf32>
    %product5 = nn.mul %r#5, %weight6 : tensor<?x4xf32>, tensor<?x4xf32>
    %term5 = nn.reduce sum %product5 axes [1] keep : tensor<?x4xf32>
    %total5 = nn.add %total4, %term5 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat6 = nn.reshape %r#6 : (tensor<?x2x3xf32>) -> tensor<?x6xf32>
    %product6 = nn.mul %flat6, %weight7 : tensor<?x6xf32>, tensor<?x6xf32>
    %term6 = nn.reduce sum %product6 axes [1] keep : tensor<?x6xf32>
    %total6 = nn.add %total5, %term6 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat7 = nn.reshape %r#7 : (tensor<?x3x1xf32>) -> tensor<?x3xf32>
    %product7 = nn.mul %flat7, %weight8 : tensor<?x3xf32>, tensor<?x3xf32>
    %term7 = nn.reduce sum %product7 axes [1] keep : tensor<?x3xf32>
    %total7 = nn.add %total6, %term7 : tensor<?x1xf32>, tensor<?x1xf32>
    %product8 = nn.mul %r#8, %weight9 : tensor<?x6xf32>, tensor<?x6xf32>
    %term8 = nn.reduce sum %product8 axes [1] keep : tensor<?x6xf32>
    %total8 = nn.add %total7, %term8 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat9 = nn.reshape %r#9 : (tensor<?x2x3xf32>) -> tensor<?x6xf32>
    %product9 = nn.mul %flat9, %weight10 : tensor<?x6xf32>, tensor<?x6xf32>
    %term9 = nn.reduce sum %product9 axes [1] keep : tensor<?x6xf32>
    %total9 = nn.add %total8, %term9 : tensor<?x1xf32>, tensor<?x1xf32>
    %product10 = nn.mul %r#10, %weight11 : tensor<?x9xf32>, tensor<?x9xf32>
    %term10 = nn.reduce sum %product10 axes [1] keep : tensor<?x9xf32>
    %total10 = nn.add %total9, %term10 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat11 = nn.reshape %r#11 : (tensor<?x2x6xf32>) -> tensor<?x12xf32>
    %product11 = nn.mul %flat11, %weight12 : tensor<?x12xf32>, tensor<?x12xf32>
    %term11 = nn.reduce sum %product11 axes [1] keep : tensor<?x12xf32>
    %total11 = nn.add %total10, %term11 : tensor<?x1xf32>, tensor<?x1xf32>
    %product12 = nn.mul %r#12, %weight13 : tensor<?x3xf32>, tensor<?x3xf32>
    %term12 = nn.reduce sum %product12 axes [1] keep : tensor<?x3xf32>
    %total12 = nn.add %total11, %term12 : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %total12 over [@descent] : tensor<?x1xf32>
  }

  nn.program @predict frozen reads(@sample) {
  ^bb0(%x1_field: tensor<?x2xf32>, %x3_field: tensor<?x3xf32>, %x5_field: tensor<?x1xf32>, %weight1: tensor<?x6xf32>, %weight2: tensor<?x4xf32>, %x9_field: tensor<?x6xf32>, %x12_field: tensor<?x4xf32>, %weight3: tensor<?x10xf32>, %x16_field: tensor<?x9xf32>, %weight4: tensor<?x15xf32>, %x20_field: tensor<?x6xf32>, %weight5: tensor<?x3xf32>, %weight6: tensor<?x4xf32>, %weight7: tensor<?x6xf32>, %weight8: tensor<?x3xf32>, %weight9: tensor<?x6xf32>, %weight10: tensor<?x6xf32>, %weight11: tensor<?x9xf32>, %x33_field: tensor<?x12xf32>, %weight12: tensor<?x12xf32>, %weight13: tensor<?x3xf32>):
    %r:13 = nn.call @compute(%x1_field, %x3_field, %x5_field, %weight1, %weight2, %x9_field, %x12_field, %weight3, %x16_field, %weight4, %x20_field, %weight5, %weight6, %weight7, %weight8, %weight9, %weight10, %weight11, %x33_field, %weight12, %weight13) : (tensor<?x2xf32>, tensor<?x3xf32>, tensor<?x1xf32>, tensor<?x6xf32>, tensor<?x4xf32>, tensor<?x6xf32>, tensor<?x4xf32>, tensor<?x10xf32>, tensor<?x9xf32>, tensor<?x15xf32>, tensor<?x6xf32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x6xf32>, tensor<?x3xf32>, tensor<?x6xf32>, tensor<?x6xf32>, tensor<?x9xf32>, tensor<?x12xf32>, tensor<?x12xf32>, tensor<?x3xf32>) -> (tensor<?x6xf32>, tensor<?x4xf32>, tensor<?x2x5xf32>, tensor<?x5x3xf32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x2x3xf32>, tensor<?x3x1xf32>, tensor<?x6xf32>, tensor<?x2x3xf32>, tensor<?x9xf32>, tensor<?x2x6xf32>, tensor<?x3xf32>)
    nn.return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7, %r#8, %r#9, %r#10, %r#11, %r#12 : tensor<?x6xf32>, tensor<?x4xf32>, tensor<?x2x5xf32>, tensor<?x5x3xf32>, tensor<?x3xf32>, tensor<?x4xf32>, tensor<?x2x3xf32>, tensor<?x3x1xf32>, tensor<?x6xf32>, tensor<?x2x3xf32>, tensor<?x9xf32>, tensor<?x2x6xf32>, tensor<?x3xf32>
  }
}
