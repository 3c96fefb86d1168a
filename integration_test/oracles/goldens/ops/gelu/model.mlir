//===- gelu/model.mlir - The Gaussian error linear unit -*- mlir -*-===//
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

module @gelu {
  nn.record @sample {
    nn.field @x1_field : tensor<?x6xf32>
    nn.field @weight1 : tensor<?x6xf32>
  }
  nn.group @descent rule(@sgd) rate(1.0)
  nn.param @x1_shift : tensor<6xf32> in @descent init(#nn.zeros)

  nn.func private @compute(%x1_field: tensor<?x6xf32>, %weight1: tensor<?x6xf32>) -> tensor<?x6xf32> {
    %x1_shift = nn.read @x1_shift : tensor<6xf32>
    %v2 = nn.add %x1_field, %x1_shift : tensor<?x6xf32>, tensor<6xf32>
    %v3 = nn.gelu %v2 : tensor<?x6xf32>
    nn.return %v3 : tensor<?x6xf32>
  }

  nn.program @train reads(@sample) {
  ^bb0(%x1_field: tensor<?x6xf32>, %weight1: tensor<?x6xf32>):
    %r = nn.call @compute(%x1_field, %weight1) : (tensor<?x6xf32>, tensor<?x6xf32>) -> tensor<?x6xf32>
    %product0 = nn.mul %r, %weight1 : tensor<?x6xf32>, tensor<?x6xf32>
    %term0 = nn.reduce sum %product0 axes [1] keep : tensor<?x6xf32>
    nn.minimize %term0 over [@descent] : tensor<?x1xf32>
  }

  nn.program @predict frozen reads(@sample) {
  ^bb0(%x1_field: tensor<?x6xf32>, %weight1: tensor<?x6xf32>):
    %r = nn.call @compute(%x1_field, %weight1) : (tensor<?x6xf32>, tensor<?x6xf32>) -> tensor<?x6xf32>
    nn.return %r : tensor<?x6xf32>
  }
}
