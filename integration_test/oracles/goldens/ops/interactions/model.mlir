//===- interactions/model.mlir - Products of features -*- mlir -*-===//
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

module @interactions {
  nn.record @sample {
    nn.field @x1_field : tensor<?x12xf32>
    nn.field @weight1 : tensor<?x1xf32>
    nn.field @weight2 : tensor<?x6xf32>
    nn.field @weight3 : tensor<?x10xf32>
    nn.field @x7_field : tensor<?x5xf32>
    nn.field @weight4 : tensor<?x5xf32>
    nn.field @weight5 : tensor<?x5xf32>
    nn.field @x13_field : tensor<?x6xf32>
    nn.field @weight6 : tensor<?x9xf32>
  }
  nn.group @descent rule(@sgd) rate(1.0)
  nn.param @x1_shift : tensor<12xf32> in @descent init(#nn.zeros)
  nn.param @x7_shift : tensor<5xf32> in @descent init(#nn.zeros)
  nn.param @matrix0_w : tensor<5x5xf32> in @descent init(#nn.zeros)
  nn.param @matrix0_b : tensor<5xf32> in @descent init(#nn.zeros)
  nn.param @matrix1_w : tensor<5x5xf32> in @descent init(#nn.zeros)
  nn.param @matrix1_b : tensor<5xf32> in @descent init(#nn.zeros)
  nn.param @vector0_w : tensor<5x1xf32> in @descent init(#nn.zeros)
  nn.param @vector0_b : tensor<5xf32> in @descent init(#nn.zeros)
  nn.param @vector1_w : tensor<5x1xf32> in @descent init(#nn.zeros)
  nn.param @vector1_b : tensor<5xf32> in @descent init(#nn.zeros)
  nn.param @compress_w : tensor<8x3xf32> in @descent init(#nn.zeros)
  nn.param @x13_shift : tensor<6xf32> in @descent init(#nn.zeros)

  nn.func private @compute(%x1_field: tensor<?x12xf32>, %weight1: tensor<?x1xf32>, %weight2: tensor<?x6xf32>, %weight3: tensor<?x10xf32>, %x7_field: tensor<?x5xf32>, %weight4: tensor<?x5xf32>, %weight5: tensor<?x5xf32>, %x13_field: tensor<?x6xf32>, %weight6: tensor<?x9xf32>) -> (tensor<?x1xf32>, tensor<?x6xf32>, tensor<?x10xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x3x3xf32>) {
    %x1_shift = nn.read @x1_shift : tensor<12xf32>
    %v2 = nn.add %x1_field, %x1_shift : tensor<?x12xf32>, tensor<12xf32>
    %v3 = nn.reshape %v2 : (tensor<?x12xf32>) -> tensor<?x4x3xf32>
    %v4 = nn.factorization %v3 : tensor<?x4x3xf32>
    %v5 = nn.pairwise_dots %v3 : tensor<?x4x3xf32>
    %v6 = nn.pairwise_dots %v3 self : tensor<?x4x3xf32>
    %x7_shift = nn.read @x7_shift : tensor<5xf32>
    %v8 = nn.add %x7_field, %x7_shift : tensor<?x5xf32>, tensor<5xf32>
    %v9 = nn.cross_layer %v8, %v8, @matrix0_w, @matrix0_b : tensor<?x5xf32>
    %v10 = nn.cross_layer %v8, %v9, @matrix1_w, @matrix1_b : tensor<?x5xf32>
    %v11 = nn.cross_layer %v8, %v8, @vector0_w, @vector0_b vector : tensor<?x5xf32>
    %v12 = nn.cross_layer %v8, %v11, @vector1_w, @vector1_b vector : tensor<?x5xf32>
    %x13_shift = nn.read @x13_shift : tensor<6xf32>
    %v14 = nn.add %x13_field, %x13_shift : tensor<?x6xf32>, tensor<6xf32>
    %v15 = nn.reshape %v14 : (tensor<?x6xf32>) -> tensor<?x2x3xf32>
    %v16 = nn.compressed_interaction %v3, %v15, @compress_w : (tensor<?x4x3xf32>, tensor<?x2x3xf32>) -> tensor<?x3x3xf32>
    nn.return %v4, %v5, %v6, %v10, %v12, %v16 : tensor<?x1xf32>, tensor<?x6xf32>, tensor<?x10xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x3x3xf32>
  }

  nn.program @train reads(@sample) {
  ^bb0(%x1_field: tensor<?x12xf32>, %weight1: tensor<?x1xf32>, %weight2: tensor<?x6xf32>, %weight3: tensor<?x10xf32>, %x7_field: tensor<?x5xf32>, %weight4: tensor<?x5xf32>, %weight5: tensor<?x5xf32>, %x13_field: tensor<?x6xf32>, %weight6: tensor<?x9xf32>):
    %r:6 = nn.call @compute(%x1_field, %weight1, %weight2, %weight3, %x7_field, %weight4, %weight5, %x13_field, %weight6) : (tensor<?x12xf32>, tensor<?x1xf32>, tensor<?x6xf32>, tensor<?x10xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x6xf32>, tensor<?x9xf32>) -> (tensor<?x1xf32>, tensor<?x6xf32>, tensor<?x10xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x3x3xf32>)
    %product0 = nn.mul %r#0, %weight1 : tensor<?x1xf32>, tensor<?x1xf32>
    %term0 = nn.reduce sum %product0 axes [1] keep : tensor<?x1xf32>
    %product1 = nn.mul %r#1, %weight2 : tensor<?x6xf32>, tensor<?x6xf32>
    %term1 = nn.reduce sum %product1 axes [1] keep : tensor<?x6xf32>
    %total1 = nn.add %term0, %term1 : tensor<?x1xf32>, tensor<?x1xf32>
    %product2 = nn.mul %r#2, %weight3 : tensor<?x10xf32>, tensor<?x10xf32>
    %term2 = nn.reduce sum %product2 axes [1] keep : tensor<?x10xf32>
    %total2 = nn.add %total1, %term2 : tensor<?x1xf32>, tensor<?x1xf32>
    %product3 = nn.mul %r#3, %weight4 : tensor<?x5xf32>, tensor<?x5xf32>
    %term3 = nn.reduce sum %product3 axes [1] keep : tensor<?x5xf32>
    %total3 = nn.add %total2, %term3 : tensor<?x1xf32>, tensor<?x1xf32>
    %product4 = nn.mul %r#4, %weight5 : tensor<?x5xf32>, tensor<?x5xf32>
    %term4 = nn.reduce sum %product4 axes [1] keep : tensor<?x5xf32>
    %total4 = nn.add %total3, %term4 : tensor<?x1xf32>, tensor<?x1xf32>
    %flat5 = nn.reshape %r#5 : (tensor<?x3x3xf32>) -> tensor<?x9xf32>
    %product5 = nn.mul %flat5, %weight6 : tensor<?x9xf32>, tensor<?x9xf32>
    %term5 = nn.reduce sum %product5 axes [1] keep : tensor<?x9xf32>
    %total5 = nn.add %total4, %term5 : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %total5 over [@descent] : tensor<?x1xf32>
  }

  nn.program @predict frozen reads(@sample) {
  ^bb0(%x1_field: tensor<?x12xf32>, %weight1: tensor<?x1xf32>, %weight2: tensor<?x6xf32>, %weight3: tensor<?x10xf32>, %x7_field: tensor<?x5xf32>, %weight4: tensor<?x5xf32>, %weight5: tensor<?x5xf32>, %x13_field: tensor<?x6xf32>, %weight6: tensor<?x9xf32>):
    %r:6 = nn.call @compute(%x1_field, %weight1, %weight2, %weight3, %x7_field, %weight4, %weight5, %x13_field, %weight6) : (tensor<?x12xf32>, tensor<?x1xf32>, tensor<?x6xf32>, tensor<?x10xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x6xf32>, tensor<?x9xf32>) -> (tensor<?x1xf32>, tensor<?x6xf32>, tensor<?x10xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x3x3xf32>)
    nn.return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5 : tensor<?x1xf32>, tensor<?x6xf32>, tensor<?x10xf32>, tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x3x3xf32>
  }
}
