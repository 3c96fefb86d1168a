//===- rules/model.mlir - Every rule, on a parameter and on rows -*- mlir -*-===//
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

module @rules {
  nn.record @sample {
    nn.field @x : tensor<?x3xf32>
    nn.field @target : tensor<?x3xf32>
    nn.field @ids : tensor<?x2xi64>
  }
  nn.group @by_sgd rule(@sgd) rate(0.0625) untouched(lazy)
  nn.param @by_sgd_p : tensor<3xf32> in @by_sgd init(#nn.zeros)
  nn.table @by_sgd_t : i64 -> tensor<3xf32> in @by_sgd init(#nn.zeros)
  nn.group @by_momentum rule(@momentum) rate(0.03125) untouched(lazy)
  nn.param @by_momentum_p : tensor<3xf32> in @by_momentum init(#nn.zeros)
  nn.table @by_momentum_t : i64 -> tensor<3xf32> in @by_momentum init(#nn.zeros)
  nn.group @by_momentum_half rule(@momentum {momentum = 0.5}) rate(0.03125) untouched(lazy)
  nn.param @by_momentum_half_p : tensor<3xf32> in @by_momentum_half init(#nn.zeros)
  nn.table @by_momentum_half_t : i64 -> tensor<3xf32> in @by_momentum_half init(#nn.zeros)
  nn.group @by_nesterov rule(@nesterov) rate(0.03125) untouched(lazy)
  nn.param @by_nesterov_p : tensor<3xf32> in @by_nesterov init(#nn.zeros)
  nn.table @by_nesterov_t : i64 -> tensor<3xf32> in @by_nesterov init(#nn.zeros)
  nn.group @by_adagrad rule(@adagrad) rate(0.25) untouched(lazy)
  nn.param @by_adagrad_p : tensor<3xf32> in @by_adagrad init(#nn.zeros)
  nn.table @by_adagrad_t : i64 -> tensor<3xf32> in @by_adagrad init(#nn.zeros)
  nn.group @by_adagrad_soft rule(@adagrad {epsilon = 0.25}) rate(0.25) untouched(lazy)
  nn.param @by_adagrad_soft_p : tensor<3xf32> in @by_adagrad_soft init(#nn.zeros)
  nn.table @by_adagrad_soft_t : i64 -> tensor<3xf32> in @by_adagrad_soft init(#nn.zeros)
  nn.group @by_adam rule(@adam) rate(0.125) untouched(lazy)
  nn.param @by_adam_p : tensor<3xf32> in @by_adam init(#nn.zeros)
  nn.table @by_adam_t : i64 -> tensor<3xf32> in @by_adam init(#nn.zeros)
  nn.group @by_adam_other rule(@adam {beta1 = 0.75, beta2 = 0.99, epsilon = 0.0001}) rate(0.125) untouched(lazy)
  nn.param @by_adam_other_p : tensor<3xf32> in @by_adam_other init(#nn.zeros)
  nn.table @by_adam_other_t : i64 -> tensor<3xf32> in @by_adam_other init(#nn.zeros)
  nn.group @by_ftrl rule(@ftrl) rate(0.5) untouched(lazy)
  nn.param @by_ftrl_p : tensor<3xf32> in @by_ftrl init(#nn.zeros)
  nn.table @by_ftrl_t : i64 -> tensor<3xf32> in @by_ftrl init(#nn.zeros)
  nn.group @by_ftrl_sparse rule(@ftrl {beta = 0.5, l1 = 8.0, l2 = 0.25}) rate(0.5) untouched(lazy)
  nn.param @by_ftrl_sparse_p : tensor<3xf32> in @by_ftrl_sparse init(#nn.zeros)
  nn.table @by_ftrl_sparse_t : i64 -> tensor<3xf32> in @by_ftrl_sparse init(#nn.zeros)
  nn.program @train reads(@sample) {
  ^bb0(%x: tensor<?x3xf32>, %target: tensor<?x3xf32>, %ids: tensor<?x2xi64>):
    %by_sgd_p = nn.read @by_sgd_p : tensor<3xf32>
    %by_sgd_rows = nn.lookup @by_sgd_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_sgd_sum = nn.reduce sum %by_sgd_rows axes [1] : tensor<?x2x3xf32>
    %by_sgd_product = nn.mul %x, %by_sgd_p : tensor<?x3xf32>, tensor<3xf32>
    %by_sgd_value = nn.add %by_sgd_product, %by_sgd_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_sgd_error = nn.squared_error %by_sgd_value, %target : tensor<?x3xf32>
    %by_sgd_loss = nn.reduce sum %by_sgd_error axes [1] keep : tensor<?x3xf32>
    %by_momentum_p = nn.read @by_momentum_p : tensor<3xf32>
    %by_momentum_rows = nn.lookup @by_momentum_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_momentum_sum = nn.reduce sum %by_momentum_rows axes [1] : tensor<?x2x3xf32>
    %by_momentum_product = nn.mul %x, %by_momentum_p : tensor<?x3xf32>, tensor<3xf32>
    %by_momentum_value = nn.add %by_momentum_product, %by_momentum_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_momentum_error = nn.squared_error %by_momentum_value, %target : tensor<?x3xf32>
    %by_momentum_loss = nn.reduce sum %by_momentum_error axes [1] keep : tensor<?x3xf32>
    %by_momentum_total = nn.add %by_sgd_loss, %by_momentum_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_momentum_half_p = nn.read @by_momentum_half_p : tensor<3xf32>
    %by_momentum_half_rows = nn.lookup @by_momentum_half_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_momentum_half_sum = nn.reduce sum %by_momentum_half_rows axes [1] : tensor<?x2x3xf32>
    %by_momentum_half_product = nn.mul %x, %by_momentum_half_p : tensor<?x3xf32>, tensor<3xf32>
    %by_momentum_half_value = nn.add %by_momentum_half_product, %by_momentum_half_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_momentum_half_error = nn.squared_error %by_momentum_half_value, %target : tensor<?x3xf32>
    %by_momentum_half_loss = nn.reduce sum %by_momentum_half_error axes [1] keep : tensor<?x3xf32>
    %by_momentum_half_total = nn.add %by_momentum_total, %by_momentum_half_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_nesterov_p = nn.read @by_nesterov_p : tensor<3xf32>
    %by_nesterov_rows = nn.lookup @by_nesterov_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_nesterov_sum = nn.reduce sum %by_nesterov_rows axes [1] : tensor<?x2x3xf32>
    %by_nesterov_product = nn.mul %x, %by_nesterov_p : tensor<?x3xf32>, tensor<3xf32>
    %by_nesterov_value = nn.add %by_nesterov_product, %by_nesterov_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_nesterov_error = nn.squared_error %by_nesterov_value, %target : tensor<?x3xf32>
    %by_nesterov_loss = nn.reduce sum %by_nesterov_error axes [1] keep : tensor<?x3xf32>
    %by_nesterov_total = nn.add %by_momentum_half_total, %by_nesterov_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_adagrad_p = nn.read @by_adagrad_p : tensor<3xf32>
    %by_adagrad_rows = nn.lookup @by_adagrad_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_adagrad_sum = nn.reduce sum %by_adagrad_rows axes [1] : tensor<?x2x3xf32>
    %by_adagrad_product = nn.mul %x, %by_adagrad_p : tensor<?x3xf32>, tensor<3xf32>
    %by_adagrad_value = nn.add %by_adagrad_product, %by_adagrad_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_adagrad_error = nn.squared_error %by_adagrad_value, %target : tensor<?x3xf32>
    %by_adagrad_loss = nn.reduce sum %by_adagrad_error axes [1] keep : tensor<?x3xf32>
    %by_adagrad_total = nn.add %by_nesterov_total, %by_adagrad_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_adagrad_soft_p = nn.read @by_adagrad_soft_p : tensor<3xf32>
    %by_adagrad_soft_rows = nn.lookup @by_adagrad_soft_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_adagrad_soft_sum = nn.reduce sum %by_adagrad_soft_rows axes [1] : tensor<?x2x3xf32>
    %by_adagrad_soft_product = nn.mul %x, %by_adagrad_soft_p : tensor<?x3xf32>, tensor<3xf32>
    %by_adagrad_soft_value = nn.add %by_adagrad_soft_product, %by_adagrad_soft_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_adagrad_soft_error = nn.squared_error %by_adagrad_soft_value, %target : tensor<?x3xf32>
    %by_adagrad_soft_loss = nn.reduce sum %by_adagrad_soft_error axes [1] keep : tensor<?x3xf32>
    %by_adagrad_soft_total = nn.add %by_adagrad_total, %by_adagrad_soft_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_adam_p = nn.read @by_adam_p : tensor<3xf32>
    %by_adam_rows = nn.lookup @by_adam_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_adam_sum = nn.reduce sum %by_adam_rows axes [1] : tensor<?x2x3xf32>
    %by_adam_product = nn.mul %x, %by_adam_p : tensor<?x3xf32>, tensor<3xf32>
    %by_adam_value = nn.add %by_adam_product, %by_adam_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_adam_error = nn.squared_error %by_adam_value, %target : tensor<?x3xf32>
    %by_adam_loss = nn.reduce sum %by_adam_error axes [1] keep : tensor<?x3xf32>
    %by_adam_total = nn.add %by_adagrad_soft_total, %by_adam_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_adam_other_p = nn.read @by_adam_other_p : tensor<3xf32>
    %by_adam_other_rows = nn.lookup @by_adam_other_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_adam_other_sum = nn.reduce sum %by_adam_other_rows axes [1] : tensor<?x2x3xf32>
    %by_adam_other_product = nn.mul %x, %by_adam_other_p : tensor<?x3xf32>, tensor<3xf32>
    %by_adam_other_value = nn.add %by_adam_other_product, %by_adam_other_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_adam_other_error = nn.squared_error %by_adam_other_value, %target : tensor<?x3xf32>
    %by_adam_other_loss = nn.reduce sum %by_adam_other_error axes [1] keep : tensor<?x3xf32>
    %by_adam_other_total = nn.add %by_adam_total, %by_adam_other_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_ftrl_p = nn.read @by_ftrl_p : tensor<3xf32>
    %by_ftrl_rows = nn.lookup @by_ftrl_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_ftrl_sum = nn.reduce sum %by_ftrl_rows axes [1] : tensor<?x2x3xf32>
    %by_ftrl_product = nn.mul %x, %by_ftrl_p : tensor<?x3xf32>, tensor<3xf32>
    %by_ftrl_value = nn.add %by_ftrl_product, %by_ftrl_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_ftrl_error = nn.squared_error %by_ftrl_value, %target : tensor<?x3xf32>
    %by_ftrl_loss = nn.reduce sum %by_ftrl_error axes [1] keep : tensor<?x3xf32>
    %by_ftrl_total = nn.add %by_adam_other_total, %by_ftrl_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_ftrl_sparse_p = nn.read @by_ftrl_sparse_p : tensor<3xf32>
    %by_ftrl_sparse_rows = nn.lookup @by_ftrl_sparse_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_ftrl_sparse_sum = nn.reduce sum %by_ftrl_sparse_rows axes [1] : tensor<?x2x3xf32>
    %by_ftrl_sparse_product = nn.mul %x, %by_ftrl_sparse_p : tensor<?x3xf32>, tensor<3xf32>
    %by_ftrl_sparse_value = nn.add %by_ftrl_sparse_product, %by_ftrl_sparse_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_ftrl_sparse_error = nn.squared_error %by_ftrl_sparse_value, %target : tensor<?x3xf32>
    %by_ftrl_sparse_loss = nn.reduce sum %by_ftrl_sparse_error axes [1] keep : tensor<?x3xf32>
    %by_ftrl_sparse_total = nn.add %by_ftrl_total, %by_ftrl_sparse_loss : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %by_ftrl_sparse_total over [@by_sgd, @by_momentum, @by_momentum_half, @by_nesterov, @by_adagrad, @by_adagrad_soft, @by_adam, @by_adam_other, @by_ftrl, @by_ftrl_sparse] : tensor<?x1xf32>
  }
}
