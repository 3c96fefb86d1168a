//===- untouched_dense/model.mlir - Rows without gradient are updated too -*- mlir -*-===//
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

module @untouched_dense {
  nn.record @sample {
    nn.field @x : tensor<?x3xf32>
    nn.field @target : tensor<?x3xf32>
    nn.field @ids : tensor<?x2xi64>
  }
  nn.group @by_momentum rule(@momentum) rate(0.03125) untouched(dense)
  nn.param @by_momentum_p : tensor<3xf32> in @by_momentum init(#nn.zeros)
  nn.table @by_momentum_t : i64 -> tensor<3xf32> in @by_momentum init(#nn.zeros)
  nn.group @by_adam rule(@adam) rate(0.125) untouched(dense)
  nn.param @by_adam_p : tensor<3xf32> in @by_adam init(#nn.zeros)
  nn.table @by_adam_t : i64 -> tensor<3xf32> in @by_adam init(#nn.zeros)
  nn.group @decayed rule(@sgd) rate(0.0625) decay(#nn.l2<0.5>) untouched(dense)
  nn.param @decayed_p : tensor<3xf32> in @decayed init(#nn.zeros)
  nn.table @decayed_t : i64 -> tensor<3xf32> in @decayed init(#nn.zeros)
  nn.program @train reads(@sample) {
  ^bb0(%x: tensor<?x3xf32>, %target: tensor<?x3xf32>, %ids: tensor<?x2xi64>):
    %by_momentum_p = nn.read @by_momentum_p : tensor<3xf32>
    %by_momentum_rows = nn.lookup @by_momentum_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_momentum_sum = nn.reduce sum %by_momentum_rows axes [1] : tensor<?x2x3xf32>
    %by_momentum_product = nn.mul %x, %by_momentum_p : tensor<?x3xf32>, tensor<3xf32>
    %by_momentum_value = nn.add %by_momentum_product, %by_momentum_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_momentum_error = nn.squared_error %by_momentum_value, %target : tensor<?x3xf32>
    %by_momentum_loss = nn.reduce sum %by_momentum_error axes [1] keep : tensor<?x3xf32>
    %by_adam_p = nn.read @by_adam_p : tensor<3xf32>
    %by_adam_rows = nn.lookup @by_adam_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_adam_sum = nn.reduce sum %by_adam_rows axes [1] : tensor<?x2x3xf32>
    %by_adam_product = nn.mul %x, %by_adam_p : tensor<?x3xf32>, tensor<3xf32>
    %by_adam_value = nn.add %by_adam_product, %by_adam_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_adam_error = nn.squared_error %by_adam_value, %target : tensor<?x3xf32>
    %by_adam_loss = nn.reduce sum %by_adam_error axes [1] keep : tensor<?x3xf32>
    %by_adam_total = nn.add %by_momentum_loss, %by_adam_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %decayed_p = nn.read @decayed_p : tensor<3xf32>
    %decayed_rows = nn.lookup @decayed_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %decayed_sum = nn.reduce sum %decayed_rows axes [1] : tensor<?x2x3xf32>
    %decayed_product = nn.mul %x, %decayed_p : tensor<?x3xf32>, tensor<3xf32>
    %decayed_value = nn.add %decayed_product, %decayed_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %decayed_error = nn.squared_error %decayed_value, %target : tensor<?x3xf32>
    %decayed_loss = nn.reduce sum %decayed_error axes [1] keep : tensor<?x3xf32>
    %decayed_total = nn.add %by_adam_total, %decayed_loss : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %decayed_total over [@by_momentum, @by_adam, @decayed] : tensor<?x1xf32>
  }
}
