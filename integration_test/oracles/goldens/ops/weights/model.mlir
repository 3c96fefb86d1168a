//===- weights/model.mlir - Weighted samples -*- mlir -*-===//
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

module @weights {
  nn.record @sample {
    nn.field @x : tensor<?x3xf32>
    nn.field @target : tensor<?x3xf32>
    nn.field @ids : tensor<?x2xi64>
    nn.field @weight : tensor<?x1xf32>
  }
  nn.group @by_sgd rule(@sgd) rate(0.0625) untouched(lazy)
  nn.param @by_sgd_p : tensor<3xf32> in @by_sgd init(#nn.zeros)
  nn.table @by_sgd_t : i64 -> tensor<3xf32> in @by_sgd init(#nn.zeros)
  nn.group @by_adam rule(@adam) rate(0.0625) untouched(lazy)
  nn.param @by_adam_p : tensor<3xf32> in @by_adam init(#nn.zeros)
  nn.table @by_adam_t : i64 -> tensor<3xf32> in @by_adam init(#nn.zeros)
  nn.program @train reads(@sample) {
  ^bb0(%x: tensor<?x3xf32>, %target: tensor<?x3xf32>, %ids: tensor<?x2xi64>, %weight: tensor<?x1xf32>):
    %by_sgd_p = nn.read @by_sgd_p : tensor<3xf32>
    %by_sgd_rows = nn.lookup @by_sgd_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_sgd_sum = nn.reduce sum %by_sgd_rows axes [1] : tensor<?x2x3xf32>
    %by_sgd_product = nn.mul %x, %by_sgd_p : tensor<?x3xf32>, tensor<3xf32>
    %by_sgd_value = nn.add %by_sgd_product, %by_sgd_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_sgd_error = nn.squared_error %by_sgd_value, %target : tensor<?x3xf32>
    %by_sgd_loss = nn.reduce sum %by_sgd_error axes [1] keep : tensor<?x3xf32>
    %by_adam_p = nn.read @by_adam_p : tensor<3xf32>
    %by_adam_rows = nn.lookup @by_adam_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_adam_sum = nn.reduce sum %by_adam_rows axes [1] : tensor<?x2x3xf32>
    %by_adam_product = nn.mul %x, %by_adam_p : tensor<?x3xf32>, tensor<3xf32>
    %by_adam_value = nn.add %by_adam_product, %by_adam_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_adam_error = nn.squared_error %by_adam_value, %target : tensor<?x3xf32>
    %by_adam_loss = nn.reduce sum %by_adam_error axes [1] keep : tensor<?x3xf32>
    %by_adam_total = nn.add %by_sgd_loss, %by_adam_loss : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %by_adam_total weight %weight over [@by_sgd, @by_adam] : tensor<?x1xf32>, tensor<?x1xf32>
  }
}
