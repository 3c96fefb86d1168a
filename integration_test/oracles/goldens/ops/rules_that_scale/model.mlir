//===- rules_that_scale/model.mlir - A rate for each element -*- mlir -*-===//
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

module @rules_that_scale {
  nn.record @sample {
    nn.field @x : tensor<?x3xf32>
    nn.field @target : tensor<?x3xf32>
    nn.field @ids : tensor<?x2xi64>
  }
  nn.group @by_rmsprop rule(@rmsprop) rate(0.03125) untouched(lazy)
  nn.param @by_rmsprop_p : tensor<3xf32> in @by_rmsprop init(#nn.zeros)
  nn.table @by_rmsprop_t : i64 -> tensor<3xf32> in @by_rmsprop init(#nn.zeros)
  nn.group @by_rmsprop_short rule(@rmsprop {rho = 0.75, epsilon = 0.25}) rate(0.0625) untouched(lazy)
  nn.param @by_rmsprop_short_p : tensor<3xf32> in @by_rmsprop_short init(#nn.zeros)
  nn.table @by_rmsprop_short_t : i64 -> tensor<3xf32> in @by_rmsprop_short init(#nn.zeros)
  nn.group @by_rmsprop_centered rule(@rmsprop_centered) rate(0.03125) untouched(lazy)
  nn.param @by_rmsprop_centered_p : tensor<3xf32> in @by_rmsprop_centered init(#nn.zeros)
  nn.table @by_rmsprop_centered_t : i64 -> tensor<3xf32> in @by_rmsprop_centered init(#nn.zeros)
  nn.group @by_rmsprop_centered_short rule(@rmsprop_centered {rho = 0.75, epsilon = 0.5}) rate(0.0625) untouched(lazy)
  nn.param @by_rmsprop_centered_short_p : tensor<3xf32> in @by_rmsprop_centered_short init(#nn.zeros)
  nn.table @by_rmsprop_centered_short_t : i64 -> tensor<3xf32> in @by_rmsprop_centered_short init(#nn.zeros)
  nn.group @by_decayed_adagrad rule(@decayed_adagrad) rate(0.0625) untouched(lazy)
  nn.param @by_decayed_adagrad_p : tensor<3xf32> in @by_decayed_adagrad init(#nn.zeros)
  nn.table @by_decayed_adagrad_t : i64 -> tensor<3xf32> in @by_decayed_adagrad init(#nn.zeros)
  nn.group @by_decayed_adagrad_short rule(@decayed_adagrad {decay = 0.5, epsilon = 0.25}) rate(0.0625) untouched(lazy)
  nn.param @by_decayed_adagrad_short_p : tensor<3xf32> in @by_decayed_adagrad_short init(#nn.zeros)
  nn.table @by_decayed_adagrad_short_t : i64 -> tensor<3xf32> in @by_decayed_adagrad_short init(#nn.zeros)
  nn.group @by_adadelta rule(@adadelta) rate(1.0) untouched(lazy)
  nn.param @by_adadelta_p : tensor<3xf32> in @by_adadelta init(#nn.zeros)
  nn.table @by_adadelta_t : i64 -> tensor<3xf32> in @by_adadelta init(#nn.zeros)
  nn.group @by_adadelta_large rule(@adadelta {rho = 0.75, epsilon = 0.0625}) rate(0.5) untouched(lazy)
  nn.param @by_adadelta_large_p : tensor<3xf32> in @by_adadelta_large init(#nn.zeros)
  nn.table @by_adadelta_large_t : i64 -> tensor<3xf32> in @by_adadelta_large init(#nn.zeros)
  nn.group @by_adamax rule(@adamax) rate(0.0625) untouched(lazy)
  nn.param @by_adamax_p : tensor<3xf32> in @by_adamax init(#nn.zeros)
  nn.table @by_adamax_t : i64 -> tensor<3xf32> in @by_adamax init(#nn.zeros)
  nn.group @by_adamax_other rule(@adamax {beta1 = 0.5, beta2 = 0.75, epsilon = 0.25}) rate(0.125) untouched(lazy)
  nn.param @by_adamax_other_p : tensor<3xf32> in @by_adamax_other init(#nn.zeros)
  nn.table @by_adamax_other_t : i64 -> tensor<3xf32> in @by_adamax_other init(#nn.zeros)
  nn.program @train reads(@sample) {
  ^bb0(%x: tensor<?x3xf32>, %target: tensor<?x3xf32>, %ids: tensor<?x2xi64>):
    %by_rmsprop_p = nn.read @by_rmsprop_p : tensor<3xf32>
    %by_rmsprop_rows = nn.lookup @by_rmsprop_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_rmsprop_sum = nn.reduce sum %by_rmsprop_rows axes [1] : tensor<?x2x3xf32>
    %by_rmsprop_product = nn.mul %x, %by_rmsprop_p : tensor<?x3xf32>, tensor<3xf32>
    %by_rmsprop_value = nn.add %by_rmsprop_product, %by_rmsprop_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_rmsprop_error = nn.squared_error %by_rmsprop_value, %target : tensor<?x3xf32>
    %by_rmsprop_loss = nn.reduce sum %by_rmsprop_error axes [1] keep : tensor<?x3xf32>
    %by_rmsprop_short_p = nn.read @by_rmsprop_short_p : tensor<3xf32>
    %by_rmsprop_short_rows = nn.lookup @by_rmsprop_short_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_rmsprop_short_sum = nn.reduce sum %by_rmsprop_short_rows axes [1] : tensor<?x2x3xf32>
    %by_rmsprop_short_product = nn.mul %x, %by_rmsprop_short_p : tensor<?x3xf32>, tensor<3xf32>
    %by_rmsprop_short_value = nn.add %by_rmsprop_short_product, %by_rmsprop_short_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_rmsprop_short_error = nn.squared_error %by_rmsprop_short_value, %target : tensor<?x3xf32>
    %by_rmsprop_short_loss = nn.reduce sum %by_rmsprop_short_error axes [1] keep : tensor<?x3xf32>
    %by_rmsprop_short_total = nn.add %by_rmsprop_loss, %by_rmsprop_short_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_rmsprop_centered_p = nn.read @by_rmsprop_centered_p : tensor<3xf32>
    %by_rmsprop_centered_rows = nn.lookup @by_rmsprop_centered_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_rmsprop_centered_sum = nn.reduce sum %by_rmsprop_centered_rows axes [1] : tensor<?x2x3xf32>
    %by_rmsprop_centered_product = nn.mul %x, %by_rmsprop_centered_p : tensor<?x3xf32>, tensor<3xf32>
    %by_rmsprop_centered_value = nn.add %by_rmsprop_centered_product, %by_rmsprop_centered_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_rmsprop_centered_error = nn.squared_error %by_rmsprop_centered_value, %target : tensor<?x3xf32>
    %by_rmsprop_centered_loss = nn.reduce sum %by_rmsprop_centered_error axes [1] keep : tensor<?x3xf32>
    %by_rmsprop_centered_total = nn.add %by_rmsprop_short_total, %by_rmsprop_centered_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_rmsprop_centered_short_p = nn.read @by_rmsprop_centered_short_p : tensor<3xf32>
    %by_rmsprop_centered_short_rows = nn.lookup @by_rmsprop_centered_short_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_rmsprop_centered_short_sum = nn.reduce sum %by_rmsprop_centered_short_rows axes [1] : tensor<?x2x3xf32>
    %by_rmsprop_centered_short_product = nn.mul %x, %by_rmsprop_centered_short_p : tensor<?x3xf32>, tensor<3xf32>
    %by_rmsprop_centered_short_value = nn.add %by_rmsprop_centered_short_product, %by_rmsprop_centered_short_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_rmsprop_centered_short_error = nn.squared_error %by_rmsprop_centered_short_value, %target : tensor<?x3xf32>
    %by_rmsprop_centered_short_loss = nn.reduce sum %by_rmsprop_centered_short_error axes [1] keep : tensor<?x3xf32>
    %by_rmsprop_centered_short_total = nn.add %by_rmsprop_centered_total, %by_rmsprop_centered_short_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_decayed_adagrad_p = nn.read @by_decayed_adagrad_p : tensor<3xf32>
    %by_decayed_adagrad_rows = nn.lookup @by_decayed_adagrad_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_decayed_adagrad_sum = nn.reduce sum %by_decayed_adagrad_rows axes [1] : tensor<?x2x3xf32>
    %by_decayed_adagrad_product = nn.mul %x, %by_decayed_adagrad_p : tensor<?x3xf32>, tensor<3xf32>
    %by_decayed_adagrad_value = nn.add %by_decayed_adagrad_product, %by_decayed_adagrad_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_decayed_adagrad_error = nn.squared_error %by_decayed_adagrad_value, %target : tensor<?x3xf32>
    %by_decayed_adagrad_loss = nn.reduce sum %by_decayed_adagrad_error axes [1] keep : tensor<?x3xf32>
    %by_decayed_adagrad_total = nn.add %by_rmsprop_centered_short_total, %by_decayed_adagrad_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_decayed_adagrad_short_p = nn.read @by_decayed_adagrad_short_p : tensor<3xf32>
    %by_decayed_adagrad_short_rows = nn.lookup @by_decayed_adagrad_short_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_decayed_adagrad_short_sum = nn.reduce sum %by_decayed_adagrad_short_rows axes [1] : tensor<?x2x3xf32>
    %by_decayed_adagrad_short_product = nn.mul %x, %by_decayed_adagrad_short_p : tensor<?x3xf32>, tensor<3xf32>
    %by_decayed_adagrad_short_value = nn.add %by_decayed_adagrad_short_product, %by_decayed_adagrad_short_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_decayed_adagrad_short_error = nn.squared_error %by_decayed_adagrad_short_value, %target : tensor<?x3xf32>
    %by_decayed_adagrad_short_loss = nn.reduce sum %by_decayed_adagrad_short_error axes [1] keep : tensor<?x3xf32>
    %by_decayed_adagrad_short_total = nn.add %by_decayed_adagrad_total, %by_decayed_adagrad_short_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_adadelta_p = nn.read @by_adadelta_p : tensor<3xf32>
    %by_adadelta_rows = nn.lookup @by_adadelta_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_adadelta_sum = nn.reduce sum %by_adadelta_rows axes [1] : tensor<?x2x3xf32>
    %by_adadelta_product = nn.mul %x, %by_adadelta_p : tensor<?x3xf32>, tensor<3xf32>
    %by_adadelta_value = nn.add %by_adadelta_product, %by_adadelta_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_adadelta_error = nn.squared_error %by_adadelta_value, %target : tensor<?x3xf32>
    %by_adadelta_loss = nn.reduce sum %by_adadelta_error axes [1] keep : tensor<?x3xf32>
    %by_adadelta_total = nn.add %by_decayed_adagrad_short_total, %by_adadelta_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_adadelta_large_p = nn.read @by_adadelta_large_p : tensor<3xf32>
    %by_adadelta_large_rows = nn.lookup @by_adadelta_large_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_adadelta_large_sum = nn.reduce sum %by_adadelta_large_rows axes [1] : tensor<?x2x3xf32>
    %by_adadelta_large_product = nn.mul %x, %by_adadelta_large_p : tensor<?x3xf32>, tensor<3xf32>
    %by_adadelta_large_value = nn.add %by_adadelta_large_product, %by_adadelta_large_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_adadelta_large_error = nn.squared_error %by_adadelta_large_value, %target : tensor<?x3xf32>
    %by_adadelta_large_loss = nn.reduce sum %by_adadelta_large_error axes [1] keep : tensor<?x3xf32>
    %by_adadelta_large_total = nn.add %by_adadelta_total, %by_adadelta_large_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_adamax_p = nn.read @by_adamax_p : tensor<3xf32>
    %by_adamax_rows = nn.lookup @by_adamax_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_adamax_sum = nn.reduce sum %by_adamax_rows axes [1] : tensor<?x2x3xf32>
    %by_adamax_product = nn.mul %x, %by_adamax_p : tensor<?x3xf32>, tensor<3xf32>
    %by_adamax_value = nn.add %by_adamax_product, %by_adamax_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_adamax_error = nn.squared_error %by_adamax_value, %target : tensor<?x3xf32>
    %by_adamax_loss = nn.reduce sum %by_adamax_error axes [1] keep : tensor<?x3xf32>
    %by_adamax_total = nn.add %by_adadelta_large_total, %by_adamax_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_adamax_other_p = nn.read @by_adamax_other_p : tensor<3xf32>
    %by_adamax_other_rows = nn.lookup @by_adamax_other_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_adamax_other_sum = nn.reduce sum %by_adamax_other_rows axes [1] : tensor<?x2x3xf32>
    %by_adamax_other_product = nn.mul %x, %by_adamax_other_p : tensor<?x3xf32>, tensor<3xf32>
    %by_adamax_other_value = nn.add %by_adamax_other_product, %by_adamax_other_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_adamax_other_error = nn.squared_error %by_adamax_other_value, %target : tensor<?x3xf32>
    %by_adamax_other_loss = nn.reduce sum %by_adamax_other_error axes [1] keep : tensor<?x3xf32>
    %by_adamax_other_total = nn.add %by_adamax_total, %by_adamax_other_loss : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %by_adamax_other_total over [@by_rmsprop, @by_rmsprop_short, @by_rmsprop_centered, @by_rmsprop_centered_short, @by_decayed_adagrad, @by_decayed_adagrad_short, @by_adadelta, @by_adadelta_large, @by_adamax, @by_adamax_other] : tensor<?x1xf32>
  }
}
