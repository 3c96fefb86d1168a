//===- sampled_losses/model.mlir - Losses of ids that were drawn -*- mlir -*-===//
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

module @sampled_losses {
  nn.record @sample {
    nn.field @own_ids : tensor<?x2xi64>
    nn.field @drawn_ids : tensor<?x4xi64>
    nn.field @x1_field : tensor<?x1xf32>
    nn.field @x3_field : tensor<?x4xf32>
    nn.field @x5_field : tensor<?x1xf32>
    nn.field @x7_field : tensor<?x4xf32>
    nn.field @weight1 : tensor<?x1xf32>
    nn.field @weight2 : tensor<?x1xf32>
    nn.field @weight3 : tensor<?x1xf32>
    nn.field @weight4 : tensor<?x1xf32>
    nn.field @weight5 : tensor<?x1xf32>
    nn.field @weight6 : tensor<?x1xf32>
  }
  nn.group @descent rule(@sgd) rate(1.0)
  nn.param @x1_shift : tensor<1xf32> in @descent init(#nn.zeros)
  nn.param @x3_shift : tensor<4xf32> in @descent init(#nn.zeros)
  nn.param @x5_shift : tensor<1xf32> in @descent init(#nn.zeros)
  nn.param @x7_shift : tensor<4xf32> in @descent init(#nn.zeros)

  nn.func private @compute(%own_ids: tensor<?x2xi64>, %drawn_ids: tensor<?x4xi64>, %x1_field: tensor<?x1xf32>, %x3_field: tensor<?x4xf32>, %x5_field: tensor<?x1xf32>, %x7_field: tensor<?x4xf32>, %weight1: tensor<?x1xf32>, %weight2: tensor<?x1xf32>, %weight3: tensor<?x1xf32>, %weight4: tensor<?x1xf32>, %weight5: tensor<?x1xf32>, %weight6: tensor<?x1xf32>) -> (tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>) {
    %hits = nn.accidental_hits %own_ids, %drawn_ids : (tensor<?x2xi64>, tensor<?x4xi64>) -> tensor<?x4xf32>
    %x1_shift = nn.read @x1_shift : tensor<1xf32>
    %v2 = nn.add %x1_field, %x1_shift : tensor<?x1xf32>, tensor<1xf32>
    %x3_shift = nn.read @x3_shift : tensor<4xf32>
    %v4 = nn.add %x3_field, %x3_shift : tensor<?x4xf32>, tensor<4xf32>
    %x5_shift = nn.read @x5_shift : tensor<1xf32>
    %v6 = nn.add %x5_field, %x5_shift : tensor<?x1xf32>, tensor<1xf32>
    %x7_shift = nn.read @x7_shift : tensor<4xf32>
    %v8 = nn.add %x7_field, %x7_shift : tensor<?x4xf32>, tensor<4xf32>
    %v9 = nn.sampled_softmax %v2, %v4 correction %v6, %v8 : tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x4xf32>
    %v10 = nn.sampled_softmax %v2, %v4 correction %v6, %v8 hits %hits : tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x4xf32>
    %v11 = nn.nce_loss %v2, %v4 correction %v6, %v8 : tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x4xf32>
    %v12 = nn.nce_loss %v2, %v4 correction %v6, %v8 hits %hits : tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x4xf32>
    %v13 = nn.negative_sampling %v2, %v4 : tensor<?x1xf32>, tensor<?x4xf32>
    %v14 = nn.negative_sampling %v2, %v4 hits %hits : tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x4xf32>
    nn.return %v9, %v10, %v11, %v12, %v13, %v14 : tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>
  }

  nn.program @train reads(@sample) {
  ^bb0(%own_ids: tensor<?x2xi64>, %drawn_ids: tensor<?x4xi64>, %x1_field: tensor<?x1xf32>, %x3_field: tensor<?x4xf32>, %x5_field: tensor<?x1xf32>, %x7_field: tensor<?x4xf32>, %weight1: tensor<?x1xf32>, %weight2: tensor<?x1xf32>, %weight3: tensor<?x1xf32>, %weight4: tensor<?x1xf32>, %weight5: tensor<?x1xf32>, %weight6: tensor<?x1xf32>):
    %r:6 = nn.call @compute(%own_ids, %drawn_ids, %x1_field, %x3_field, %x5_field, %x7_field, %weight1, %weight2, %weight3, %weight4, %weight5, %weight6) : (tensor<?x2xi64>, tensor<?x4xi64>, tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>) -> (tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>)
    %product0 = nn.mul %r#0, %weight1 : tensor<?x1xf32>, tensor<?x1xf32>
    %term0 = nn.reduce sum %product0 axes [1] keep : tensor<?x1xf32>
    %product1 = nn.mul %r#1, %weight2 : tensor<?x1xf32>, tensor<?x1xf32>
    %term1 = nn.reduce sum %product1 axes [1] keep : tensor<?x1xf32>
    %total1 = nn.add %term0, %term1 : tensor<?x1xf32>, tensor<?x1xf32>
    %product2 = nn.mul %r#2, %weight3 : tensor<?x1xf32>, tensor<?x1xf32>
    %term2 = nn.reduce sum %product2 axes [1] keep : tensor<?x1xf32>
    %total2 = nn.add %total1, %term2 : tensor<?x1xf32>, tensor<?x1xf32>
    %product3 = nn.mul %r#3, %weight4 : tensor<?x1xf32>, tensor<?x1xf32>
    %term3 = nn.reduce sum %product3 axes [1] keep : tensor<?x1xf32>
    %total3 = nn.add %total2, %term3 : tensor<?x1xf32>, tensor<?x1xf32>
    %product4 = nn.mul %r#4, %weight5 : tensor<?x1xf32>, tensor<?x1xf32>
    %term4 = nn.reduce sum %product4 axes [1] keep : tensor<?x1xf32>
    %total4 = nn.add %total3, %term4 : tensor<?x1xf32>, tensor<?x1xf32>
    %product5 = nn.mul %r#5, %weight6 : tensor<?x1xf32>, tensor<?x1xf32>
    %term5 = nn.reduce sum %product5 axes [1] keep : tensor<?x1xf32>
    %total5 = nn.add %total4, %term5 : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %total5 over [@descent] : tensor<?x1xf32>
  }

  nn.program @predict frozen reads(@sample) {
  ^bb0(%own_ids: tensor<?x2xi64>, %drawn_ids: tensor<?x4xi64>, %x1_field: tensor<?x1xf32>, %x3_field: tensor<?x4xf32>, %x5_field: tensor<?x1xf32>, %x7_field: tensor<?x4xf32>, %weight1: tensor<?x1xf32>, %weight2: tensor<?x1xf32>, %weight3: tensor<?x1xf32>, %weight4: tensor<?x1xf32>, %weight5: tensor<?x1xf32>, %weight6: tensor<?x1xf32>):
    %r:6 = nn.call @compute(%own_ids, %drawn_ids, %x1_field, %x3_field, %x5_field, %x7_field, %weight1, %weight2, %weight3, %weight4, %weight5, %weight6) : (tensor<?x2xi64>, tensor<?x4xi64>, tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>) -> (tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>)
    nn.return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5 : tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>
  }
}
