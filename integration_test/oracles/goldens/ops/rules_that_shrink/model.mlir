//===- rules_that_shrink/model.mlir - Weight decay and proximal steps -*- mlir -*-===//
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

module @rules_that_shrink {
  nn.record @sample {
    nn.field @x : tensor<?x3xf32>
    nn.field @target : tensor<?x3xf32>
    nn.field @ids : tensor<?x2xi64>
  }
  nn.group @by_adamw rule(@adamw) rate(0.125) untouched(lazy)
  nn.param @by_adamw_p : tensor<3xf32> in @by_adamw init(#nn.zeros)
  nn.table @by_adamw_t : i64 -> tensor<3xf32> in @by_adamw init(#nn.zeros)
  nn.group @by_adamw_other rule(@adamw {beta1 = 0.75, beta2 = 0.99, epsilon = 0.0001, weight_decay = 0.5}) rate(0.125) untouched(lazy)
  nn.param @by_adamw_other_p : tensor<3xf32> in @by_adamw_other init(#nn.zeros)
  nn.table @by_adamw_other_t : i64 -> tensor<3xf32> in @by_adamw_other init(#nn.zeros)
  nn.group @by_both_decays rule(@adamw {weight_decay = 0.25}) rate(0.125) decay(#nn.l2<0.5>) untouched(lazy)
  nn.param @by_both_decays_p : tensor<3xf32> in @by_both_decays init(#nn.zeros)
  nn.table @by_both_decays_t : i64 -> tensor<3xf32> in @by_both_decays init(#nn.zeros)
  nn.group @by_lion rule(@lion) rate(0.0625) untouched(lazy)
  nn.param @by_lion_p : tensor<3xf32> in @by_lion init(#nn.zeros)
  nn.table @by_lion_t : i64 -> tensor<3xf32> in @by_lion init(#nn.zeros)
  nn.group @by_lion_other rule(@lion {beta1 = 0.5, beta2 = 0.75, weight_decay = 0.25}) rate(0.0625) untouched(lazy)
  nn.param @by_lion_other_p : tensor<3xf32> in @by_lion_other init(#nn.zeros)
  nn.table @by_lion_other_t : i64 -> tensor<3xf32> in @by_lion_other init(#nn.zeros)
  nn.group @by_proximal_sgd rule(@proximal_sgd) rate(0.0625)
  nn.param @by_proximal_sgd_p : tensor<3xf32> in @by_proximal_sgd init(#nn.zeros)
  nn.table @by_proximal_sgd_t : i64 -> tensor<3xf32> in @by_proximal_sgd init(#nn.zeros)
  nn.group @by_proximal_sgd_sparse rule(@proximal_sgd {l1 = 1.5, l2 = 0.5}) rate(0.0625) untouched(lazy)
  nn.param @by_proximal_sgd_sparse_p : tensor<3xf32> in @by_proximal_sgd_sparse init(#nn.zeros)
  nn.table @by_proximal_sgd_sparse_t : i64 -> tensor<3xf32> in @by_proximal_sgd_sparse init(#nn.zeros)
  nn.group @by_proximal_adagrad rule(@proximal_adagrad) rate(0.25)
  nn.param @by_proximal_adagrad_p : tensor<3xf32> in @by_proximal_adagrad init(#nn.zeros)
  nn.table @by_proximal_adagrad_t : i64 -> tensor<3xf32> in @by_proximal_adagrad init(#nn.zeros)
  nn.group @by_proximal_adagrad_sparse rule(@proximal_adagrad {l1 = 0.5, l2 = 0.25}) rate(0.25) untouched(lazy)
  nn.param @by_proximal_adagrad_sparse_p : tensor<3xf32> in @by_proximal_adagrad_sparse init(#nn.zeros)
  nn.table @by_proximal_adagrad_sparse_t : i64 -> tensor<3xf32> in @by_proximal_adagrad_sparse init(#nn.zeros)
  nn.program @train reads(@sample) {
  ^bb0(%x: tensor<?x3xf32>, %target: tensor<?x3xf32>, %ids: tensor<?x2xi64>):
    %by_adamw_p = nn.read @by_adamw_p : tensor<3xf32>
    %by_adamw_rows = nn.lookup @by_adamw_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_adamw_sum = nn.reduce sum %by_adamw_rows axes [1] : tensor<?x2x3xf32>
    %by_adamw_product = nn.mul %x, %by_adamw_p : tensor<?x3xf32>, tensor<3xf32>
    %by_adamw_value = nn.add %by_adamw_product, %by_adamw_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_adamw_error = nn.squared_error %by_adamw_value, %target : tensor<?x3xf32>
    %by_adamw_loss = nn.reduce sum %by_adamw_error axes [1] keep : tensor<?x3xf32>
    %by_adamw_other_p = nn.read @by_adamw_other_p : tensor<3xf32>
    %by_adamw_other_rows = nn.lookup @by_adamw_other_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_adamw_other_sum = nn.reduce sum %by_adamw_other_rows axes [1] : tensor<?x2x3xf32>
    %by_adamw_other_product = nn.mul %x, %by_adamw_other_p : tensor<?x3xf32>, tensor<3xf32>
    %by_adamw_other_value = nn.add %by_adamw_other_product, %by_adamw_other_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_adamw_other_error = nn.squared_error %by_adamw_other_value, %target : tensor<?x3xf32>
    %by_adamw_other_loss = nn.reduce sum %by_adamw_other_error axes [1] keep : tensor<?x3xf32>
    %by_adamw_other_total = nn.add %by_adamw_loss, %by_adamw_other_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_both_decays_p = nn.read @by_both_decays_p : tensor<3xf32>
    %by_both_decays_rows = nn.lookup @by_both_decays_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_both_decays_sum = nn.reduce sum %by_both_decays_rows axes [1] : tensor<?x2x3xf32>
    %by_both_decays_product = nn.mul %x, %by_both_decays_p : tensor<?x3xf32>, tensor<3xf32>
    %by_both_decays_value = nn.add %by_both_decays_product, %by_both_decays_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_both_decays_error = nn.squared_error %by_both_decays_value, %target : tensor<?x3xf32>
    %by_both_decays_loss = nn.reduce sum %by_both_decays_error axes [1] keep : tensor<?x3xf32>
    %by_both_decays_total = nn.add %by_adamw_other_total, %by_both_decays_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_lion_p = nn.read @by_lion_p : tensor<3xf32>
    %by_lion_rows = nn.lookup @by_lion_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_lion_sum = nn.reduce sum %by_lion_rows axes [1] : tensor<?x2x3xf32>
    %by_lion_product = nn.mul %x, %by_lion_p : tensor<?x3xf32>, tensor<3xf32>
    %by_lion_value = nn.add %by_lion_product, %by_lion_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_lion_error = nn.squared_error %by_lion_value, %target : tensor<?x3xf32>
    %by_lion_loss = nn.reduce sum %by_lion_error axes [1] keep : tensor<?x3xf32>
    %by_lion_total = nn.add %by_both_decays_total, %by_lion_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_lion_other_p = nn.read @by_lion_other_p : tensor<3xf32>
    %by_lion_other_rows = nn.lookup @by_lion_other_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_lion_other_sum = nn.reduce sum %by_lion_other_rows axes [1] : tensor<?x2x3xf32>
    %by_lion_other_product = nn.mul %x, %by_lion_other_p : tensor<?x3xf32>, tensor<3xf32>
    %by_lion_other_value = nn.add %by_lion_other_product, %by_lion_other_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_lion_other_error = nn.squared_error %by_lion_other_value, %target : tensor<?x3xf32>
    %by_lion_other_loss = nn.reduce sum %by_lion_other_error axes [1] keep : tensor<?x3xf32>
    %by_lion_other_total = nn.add %by_lion_total, %by_lion_other_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_proximal_sgd_p = nn.read @by_proximal_sgd_p : tensor<3xf32>
    %by_proximal_sgd_rows = nn.lookup @by_proximal_sgd_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_proximal_sgd_sum = nn.reduce sum %by_proximal_sgd_rows axes [1] : tensor<?x2x3xf32>
    %by_proximal_sgd_product = nn.mul %x, %by_proximal_sgd_p : tensor<?x3xf32>, tensor<3xf32>
    %by_proximal_sgd_value = nn.add %by_proximal_sgd_product, %by_proximal_sgd_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_proximal_sgd_error = nn.squared_error %by_proximal_sgd_value, %target : tensor<?x3xf32>
    %by_proximal_sgd_loss = nn.reduce sum %by_proximal_sgd_error axes [1] keep : tensor<?x3xf32>
    %by_proximal_sgd_total = nn.add %by_lion_other_total, %by_proximal_sgd_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_proximal_sgd_sparse_p = nn.read @by_proximal_sgd_sparse_p : tensor<3xf32>
    %by_proximal_sgd_sparse_rows = nn.lookup @by_proximal_sgd_sparse_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_proximal_sgd_sparse_sum = nn.reduce sum %by_proximal_sgd_sparse_rows axes [1] : tensor<?x2x3xf32>
    %by_proximal_sgd_sparse_product = nn.mul %x, %by_proximal_sgd_sparse_p : tensor<?x3xf32>, tensor<3xf32>
    %by_proximal_sgd_sparse_value = nn.add %by_proximal_sgd_sparse_product, %by_proximal_sgd_sparse_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_proximal_sgd_sparse_error = nn.squared_error %by_proximal_sgd_sparse_value, %target : tensor<?x3xf32>
    %by_proximal_sgd_sparse_loss = nn.reduce sum %by_proximal_sgd_sparse_error axes [1] keep : tensor<?x3xf32>
    %by_proximal_sgd_sparse_total = nn.add %by_proximal_sgd_total, %by_proximal_sgd_sparse_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_proximal_adagrad_p = nn.read @by_proximal_adagrad_p : tensor<3xf32>
    %by_proximal_adagrad_rows = nn.lookup @by_proximal_adagrad_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_proximal_adagrad_sum = nn.reduce sum %by_proximal_adagrad_rows axes [1] : tensor<?x2x3xf32>
    %by_proximal_adagrad_product = nn.mul %x, %by_proximal_adagrad_p : tensor<?x3xf32>, tensor<3xf32>
    %by_proximal_adagrad_value = nn.add %by_proximal_adagrad_product, %by_proximal_adagrad_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_proximal_adagrad_error = nn.squared_error %by_proximal_adagrad_value, %target : tensor<?x3xf32>
    %by_proximal_adagrad_loss = nn.reduce sum %by_proximal_adagrad_error axes [1] keep : tensor<?x3xf32>
    %by_proximal_adagrad_total = nn.add %by_proximal_sgd_sparse_total, %by_proximal_adagrad_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_proximal_adagrad_sparse_p = nn.read @by_proximal_adagrad_sparse_p : tensor<3xf32>
    %by_proximal_adagrad_sparse_rows = nn.lookup @by_proximal_adagrad_sparse_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_proximal_adagrad_sparse_sum = nn.reduce sum %by_proximal_adagrad_sparse_rows axes [1] : tensor<?x2x3xf32>
    %by_proximal_adagrad_sparse_product = nn.mul %x, %by_proximal_adagrad_sparse_p : tensor<?x3xf32>, tensor<3xf32>
    %by_proximal_adagrad_sparse_value = nn.add %by_proximal_adagrad_sparse_product, %by_proximal_adagrad_sparse_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_proximal_adagrad_sparse_error = nn.squared_error %by_proximal_adagrad_sparse_value, %target : tensor<?x3xf32>
    %by_proximal_adagrad_sparse_loss = nn.reduce sum %by_proximal_adagrad_sparse_error axes [1] keep : tensor<?x3xf32>
    %by_proximal_adagrad_sparse_total = nn.add %by_proximal_adagrad_total, %by_proximal_adagrad_sparse_loss : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %by_proximal_adagrad_sparse_total over [@by_adamw, @by_adamw_other, @by_both_decays, @by_lion, @by_lion_other, @by_proximal_sgd, @by_proximal_sgd_sparse, @by_proximal_adagrad, @by_proximal_adagrad_sparse] : tensor<?x1xf32>
  }
}
