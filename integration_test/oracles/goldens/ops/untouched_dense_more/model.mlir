//===- untouched_dense_more/model.mlir - The same with other rules -*- mlir -*-===//
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

module @untouched_dense_more {
  nn.record @sample {
    nn.field @x : tensor<?x3xf32>
    nn.field @target : tensor<?x3xf32>
    nn.field @ids : tensor<?x2xi64>
  }
  nn.group @by_rmsprop rule(@rmsprop) rate(0.03125) untouched(dense)
  nn.param @by_rmsprop_p : tensor<3xf32> in @by_rmsprop init(#nn.zeros)
  nn.table @by_rmsprop_t : i64 -> tensor<3xf32> in @by_rmsprop init(#nn.zeros)
  nn.group @by_rmsprop_centered rule(@rmsprop_centered) rate(0.03125) untouched(dense)
  nn.param @by_rmsprop_centered_p : tensor<3xf32> in @by_rmsprop_centered init(#nn.zeros)
  nn.table @by_rmsprop_centered_t : i64 -> tensor<3xf32> in @by_rmsprop_centered init(#nn.zeros)
  nn.group @by_decayed_adagrad rule(@decayed_adagrad) rate(0.0625) untouched(dense)
  nn.param @by_decayed_adagrad_p : tensor<3xf32> in @by_decayed_adagrad init(#nn.zeros)
  nn.table @by_decayed_adagrad_t : i64 -> tensor<3xf32> in @by_decayed_adagrad init(#nn.zeros)
  nn.group @by_adadelta rule(@adadelta) rate(1.0) untouched(dense)
  nn.param @by_adadelta_p : tensor<3xf32> in @by_adadelta init(#nn.zeros)
  nn.table @by_adadelta_t : i64 -> tensor<3xf32> in @by_adadelta init(#nn.zeros)
  nn.group @by_adamax rule(@adamax) rate(0.0625) untouched(dense)
  nn.param @by_adamax_p : tensor<3xf32> in @by_adamax init(#nn.zeros)
  nn.table @by_adamax_t : i64 -> tensor<3xf32> in @by_adamax init(#nn.zeros)
  nn.group @by_adamw rule(@adamw {weight_decay = 0.25}) rate(0.125) untouched(dense)
  nn.param @by_adamw_p : tensor<3xf32> in @by_adamw init(#nn.zeros)
  nn.table @by_adamw_t : i64 -> tensor<3xf32> in @by_adamw init(#nn.zeros)
  nn.group @by_lion rule(@lion {weight_decay = 0.25}) rate(0.0625) untouched(dense)
  nn.param @by_lion_p : tensor<3xf32> in @by_lion init(#nn.zeros)
  nn.table @by_lion_t : i64 -> tensor<3xf32> in @by_lion init(#nn.zeros)
  nn.group @by_proximal_sgd rule(@proximal_sgd {l1 = 1.0, l2 = 0.5}) rate(0.0625) untouched(dense)
  nn.param @by_proximal_sgd_p : tensor<3xf32> in @by_proximal_sgd init(#nn.zeros)
  nn.table @by_proximal_sgd_t : i64 -> tensor<3xf32> in @by_proximal_sgd init(#nn.zeros)
  nn.group @by_proximal_adagrad rule(@proximal_adagrad {l1 = 0.25, l2 = 0.25}) rate(0.25) untouched(dense)
  nn.param @by_proximal_adagrad_p : tensor<3xf32> in @by_proximal_adagrad init(#nn.zeros)
  nn.table @by_proximal_adagrad_t : i64 -> tensor<3xf32> in @by_proximal_adagrad init(#nn.zeros)
  nn.program @train reads(@sample) {
  ^bb0(%x: tensor<?x3xf32>, %target: tensor<?x3xf32>, %ids: tensor<?x2xi64>):
    %by_rmsprop_p = nn.read @by_rmsprop_p : tensor<3xf32>
    %by_rmsprop_rows = nn.lookup @by_rmsprop_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_rmsprop_sum = nn.reduce sum %by_rmsprop_rows axes [1] : tensor<?x2x3xf32>
    %by_rmsprop_product = nn.mul %x, %by_rmsprop_p : tensor<?x3xf32>, tensor<3xf32>
    %by_rmsprop_value = nn.add %by_rmsprop_product, %by_rmsprop_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_rmsprop_error = nn.squared_error %by_rmsprop_value, %target : tensor<?x3xf32>
    %by_rmsprop_loss = nn.reduce sum %by_rmsprop_error axes [1] keep : tensor<?x3xf32>
    %by_rmsprop_centered_p = nn.read @by_rmsprop_centered_p : tensor<3xf32>
    %by_rmsprop_centered_rows = nn.lookup @by_rmsprop_centered_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_rmsprop_centered_sum = nn.reduce sum %by_rmsprop_centered_rows axes [1] : tensor<?x2x3xf32>
    %by_rmsprop_centered_product = nn.mul %x, %by_rmsprop_centered_p : tensor<?x3xf32>, tensor<3xf32>
    %by_rmsprop_centered_value = nn.add %by_rmsprop_centered_product, %by_rmsprop_centered_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_rmsprop_centered_error = nn.squared_error %by_rmsprop_centered_value, %target : tensor<?x3xf32>
    %by_rmsprop_centered_loss = nn.reduce sum %by_rmsprop_centered_error axes [1] keep : tensor<?x3xf32>
    %by_rmsprop_centered_total = nn.add %by_rmsprop_loss, %by_rmsprop_centered_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_decayed_adagrad_p = nn.read @by_decayed_adagrad_p : tensor<3xf32>
    %by_decayed_adagrad_rows = nn.lookup @by_decayed_adagrad_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_decayed_adagrad_sum = nn.reduce sum %by_decayed_adagrad_rows axes [1] : tensor<?x2x3xf32>
    %by_decayed_adagrad_product = nn.mul %x, %by_decayed_adagrad_p : tensor<?x3xf32>, tensor<3xf32>
    %by_decayed_adagrad_value = nn.add %by_decayed_adagrad_product, %by_decayed_adagrad_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_decayed_adagrad_error = nn.squared_error %by_decayed_adagrad_value, %target : tensor<?x3xf32>
    %by_decayed_adagrad_loss = nn.reduce sum %by_decayed_adagrad_error axes [1] keep : tensor<?x3xf32>
    %by_decayed_adagrad_total = nn.add %by_rmsprop_centered_total, %by_decayed_adagrad_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_adadelta_p = nn.read @by_adadelta_p : tensor<3xf32>
    %by_adadelta_rows = nn.lookup @by_adadelta_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_adadelta_sum = nn.reduce sum %by_adadelta_rows axes [1] : tensor<?x2x3xf32>
    %by_adadelta_product = nn.mul %x, %by_adadelta_p : tensor<?x3xf32>, tensor<3xf32>
    %by_adadelta_value = nn.add %by_adadelta_product, %by_adadelta_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_adadelta_error = nn.squared_error %by_adadelta_value, %target : tensor<?x3xf32>
    %by_adadelta_loss = nn.reduce sum %by_adadelta_error axes [1] keep : tensor<?x3xf32>
    %by_adadelta_total = nn.add %by_decayed_adagrad_total, %by_adadelta_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_adamax_p = nn.read @by_adamax_p : tensor<3xf32>
    %by_adamax_rows = nn.lookup @by_adamax_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_adamax_sum = nn.reduce sum %by_adamax_rows axes [1] : tensor<?x2x3xf32>
    %by_adamax_product = nn.mul %x, %by_adamax_p : tensor<?x3xf32>, tensor<3xf32>
    %by_adamax_value = nn.add %by_adamax_product, %by_adamax_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_adamax_error = nn.squared_error %by_adamax_value, %target : tensor<?x3xf32>
    %by_adamax_loss = nn.reduce sum %by_adamax_error axes [1] keep : tensor<?x3xf32>
    %by_adamax_total = nn.add %by_adadelta_total, %by_adamax_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_adamw_p = nn.read @by_adamw_p : tensor<3xf32>
    %by_adamw_rows = nn.lookup @by_adamw_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_adamw_sum = nn.reduce sum %by_adamw_rows axes [1] : tensor<?x2x3xf32>
    %by_adamw_product = nn.mul %x, %by_adamw_p : tensor<?x3xf32>, tensor<3xf32>
    %by_adamw_value = nn.add %by_adamw_product, %by_adamw_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_adamw_error = nn.squared_error %by_adamw_value, %target : tensor<?x3xf32>
    %by_adamw_loss = nn.reduce sum %by_adamw_error axes [1] keep : tensor<?x3xf32>
    %by_adamw_total = nn.add %by_adamax_total, %by_adamw_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_lion_p = nn.read @by_lion_p : tensor<3xf32>
    %by_lion_rows = nn.lookup @by_lion_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_lion_sum = nn.reduce sum %by_lion_rows axes [1] : tensor<?x2x3xf32>
    %by_lion_product = nn.mul %x, %by_lion_p : tensor<?x3xf32>, tensor<3xf32>
    %by_lion_value = nn.add %by_lion_product, %by_lion_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_lion_error = nn.squared_error %by_lion_value, %target : tensor<?x3xf32>
    %by_lion_loss = nn.reduce sum %by_lion_error axes [1] keep : tensor<?x3xf32>
    %by_lion_total = nn.add %by_adamw_total, %by_lion_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_proximal_sgd_p = nn.read @by_proximal_sgd_p : tensor<3xf32>
    %by_proximal_sgd_rows = nn.lookup @by_proximal_sgd_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_proximal_sgd_sum = nn.reduce sum %by_proximal_sgd_rows axes [1] : tensor<?x2x3xf32>
    %by_proximal_sgd_product = nn.mul %x, %by_proximal_sgd_p : tensor<?x3xf32>, tensor<3xf32>
    %by_proximal_sgd_value = nn.add %by_proximal_sgd_product, %by_proximal_sgd_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_proximal_sgd_error = nn.squared_error %by_proximal_sgd_value, %target : tensor<?x3xf32>
    %by_proximal_sgd_loss = nn.reduce sum %by_proximal_sgd_error axes [1] keep : tensor<?x3xf32>
    %by_proximal_sgd_total = nn.add %by_lion_total, %by_proximal_sgd_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_proximal_adagrad_p = nn.read @by_proximal_adagrad_p : tensor<3xf32>
    %by_proximal_adagrad_rows = nn.lookup @by_proximal_adagrad_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_proximal_adagrad_sum = nn.reduce sum %by_proximal_adagrad_rows axes [1] : tensor<?x2x3xf32>
    %by_proximal_adagrad_product = nn.mul %x, %by_proximal_adagrad_p : tensor<?x3xf32>, tensor<3xf32>
    %by_proximal_adagrad_value = nn.add %by_proximal_adagrad_product, %by_proximal_adagrad_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_proximal_adagrad_error = nn.squared_error %by_proximal_adagrad_value, %target : tensor<?x3xf32>
    %by_proximal_adagrad_loss = nn.reduce sum %by_proximal_adagrad_error axes [1] keep : tensor<?x3xf32>
    %by_proximal_adagrad_total = nn.add %by_proximal_sgd_total, %by_proximal_adagrad_loss : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %by_proximal_adagrad_total over [@by_rmsprop, @by_rmsprop_centered, @by_decayed_adagrad, @by_adadelta, @by_adamax, @by_adamw, @by_lion, @by_proximal_sgd, @by_proximal_adagrad] : tensor<?x1xf32>
  }
}
