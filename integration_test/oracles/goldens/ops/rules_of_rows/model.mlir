//===- rules_of_rows/model.mlir - Rules that reduce over a row -*- mlir -*-===//
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

module @rules_of_rows {
  nn.record @sample {
    nn.field @x : tensor<?x3xf32>
    nn.field @target : tensor<?x3xf32>
    nn.field @ids : tensor<?x2xi64>
  }
  nn.group @by_rowwise_adagrad rule(@rowwise_adagrad) rate(0.25)
  nn.param @by_rowwise_adagrad_p : tensor<3xf32> in @by_rowwise_adagrad init(#nn.zeros)
  nn.table @by_rowwise_adagrad_t : i64 -> tensor<3xf32> in @by_rowwise_adagrad init(#nn.zeros)
  nn.group @by_rowwise_adagrad_soft rule(@rowwise_adagrad {epsilon = 0.25}) rate(0.25) untouched(lazy)
  nn.param @by_rowwise_adagrad_soft_p : tensor<3xf32> in @by_rowwise_adagrad_soft init(#nn.zeros)
  nn.table @by_rowwise_adagrad_soft_t : i64 -> tensor<3xf32> in @by_rowwise_adagrad_soft init(#nn.zeros)
  nn.group @decayed rule(@rowwise_adagrad) rate(0.125) decay(#nn.l2<0.25>) untouched(lazy)
  nn.param @decayed_p : tensor<3xf32> in @decayed init(#nn.zeros)
  nn.table @decayed_t : i64 -> tensor<3xf32> in @decayed init(#nn.zeros)
  nn.group @by_bounded_adagrad rule(@bounded_adagrad) rate(0.0625) untouched(lazy)
  nn.param @by_bounded_adagrad_p : tensor<3xf32> in @by_bounded_adagrad init(#nn.zeros)
  nn.table @by_bounded_adagrad_t : i64 -> tensor<3xf32> in @by_bounded_adagrad init(#nn.zeros)
  nn.group @by_bounded_adagrad_tight rule(@bounded_adagrad {initial = 0.5, bound = 0.75}) rate(0.0625) untouched(lazy)
  nn.param @by_bounded_adagrad_tight_p : tensor<3xf32> in @by_bounded_adagrad_tight init(#nn.zeros)
  nn.table @by_bounded_adagrad_tight_t : i64 -> tensor<3xf32> in @by_bounded_adagrad_tight init(#nn.zeros)
  nn.group @by_rowwise_lars rule(@rowwise_lars) rate(32.0) untouched(lazy)
  nn.param @by_rowwise_lars_p : tensor<3xf32> in @by_rowwise_lars init(#nn.zeros)
  nn.table @by_rowwise_lars_t : i64 -> tensor<3xf32> in @by_rowwise_lars init(#nn.zeros)
  nn.group @by_rowwise_lars_other rule(@rowwise_lars {momentum = 0.5, coefficient = 0.125, weight_decay = 0.25}) rate(0.25) untouched(lazy)
  nn.param @by_rowwise_lars_other_p : tensor<3xf32> in @by_rowwise_lars_other init(#nn.zeros)
  nn.table @by_rowwise_lars_other_t : i64 -> tensor<3xf32> in @by_rowwise_lars_other init(#nn.zeros)
  nn.group @by_rowwise_lamb rule(@rowwise_lamb) rate(0.0625) untouched(lazy)
  nn.param @by_rowwise_lamb_p : tensor<3xf32> in @by_rowwise_lamb init(#nn.zeros)
  nn.table @by_rowwise_lamb_t : i64 -> tensor<3xf32> in @by_rowwise_lamb init(#nn.zeros)
  nn.group @by_rowwise_lamb_other rule(@rowwise_lamb {beta1 = 0.75, beta2 = 0.99, epsilon = 0.0001, weight_decay = 0.25}) rate(0.0625) untouched(lazy)
  nn.param @by_rowwise_lamb_other_p : tensor<3xf32> in @by_rowwise_lamb_other init(#nn.zeros)
  nn.table @by_rowwise_lamb_other_t : i64 -> tensor<3xf32> in @by_rowwise_lamb_other init(#nn.zeros)
  nn.group @rowwise_lamb_dense rule(@rowwise_lamb) rate(0.0625) untouched(dense)
  nn.param @rowwise_lamb_dense_p : tensor<3xf32> in @rowwise_lamb_dense init(#nn.zeros)
  nn.table @rowwise_lamb_dense_t : i64 -> tensor<3xf32> in @rowwise_lamb_dense init(#nn.zeros)
  nn.group @bounded_dense rule(@bounded_adagrad {bound = 0.5}) rate(0.0625) untouched(dense)
  nn.param @bounded_dense_p : tensor<3xf32> in @bounded_dense init(#nn.zeros)
  nn.table @bounded_dense_t : i64 -> tensor<3xf32> in @bounded_dense init(#nn.zeros)
  nn.program @train reads(@sample) {
  ^bb0(%x: tensor<?x3xf32>, %target: tensor<?x3xf32>, %ids: tensor<?x2xi64>):
    %by_rowwise_adagrad_p = nn.read @by_rowwise_adagrad_p : tensor<3xf32>
    %by_rowwise_adagrad_rows = nn.lookup @by_rowwise_adagrad_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_rowwise_adagrad_sum = nn.reduce sum %by_rowwise_adagrad_rows axes [1] : tensor<?x2x3xf32>
    %by_rowwise_adagrad_product = nn.mul %x, %by_rowwise_adagrad_p : tensor<?x3xf32>, tensor<3xf32>
    %by_rowwise_adagrad_value = nn.add %by_rowwise_adagrad_product, %by_rowwise_adagrad_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_rowwise_adagrad_error = nn.squared_error %by_rowwise_adagrad_value, %target : tensor<?x3xf32>
    %by_rowwise_adagrad_loss = nn.reduce sum %by_rowwise_adagrad_error axes [1] keep : tensor<?x3xf32>
    %by_rowwise_adagrad_soft_p = nn.read @by_rowwise_adagrad_soft_p : tensor<3xf32>
    %by_rowwise_adagrad_soft_rows = nn.lookup @by_rowwise_adagrad_soft_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_rowwise_adagrad_soft_sum = nn.reduce sum %by_rowwise_adagrad_soft_rows axes [1] : tensor<?x2x3xf32>
    %by_rowwise_adagrad_soft_product = nn.mul %x, %by_rowwise_adagrad_soft_p : tensor<?x3xf32>, tensor<3xf32>
    %by_rowwise_adagrad_soft_value = nn.add %by_rowwise_adagrad_soft_product, %by_rowwise_adagrad_soft_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_rowwise_adagrad_soft_error = nn.squared_error %by_rowwise_adagrad_soft_value, %target : tensor<?x3xf32>
    %by_rowwise_adagrad_soft_loss = nn.reduce sum %by_rowwise_adagrad_soft_error axes [1] keep : tensor<?x3xf32>
    %by_rowwise_adagrad_soft_total = nn.add %by_rowwise_adagrad_loss, %by_rowwise_adagrad_soft_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %decayed_p = nn.read @decayed_p : tensor<3xf32>
    %decayed_rows = nn.lookup @decayed_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %decayed_sum = nn.reduce sum %decayed_rows axes [1] : tensor<?x2x3xf32>
    %decayed_product = nn.mul %x, %decayed_p : tensor<?x3xf32>, tensor<3xf32>
    %decayed_value = nn.add %decayed_product, %decayed_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %decayed_error = nn.squared_error %decayed_value, %target : tensor<?x3xf32>
    %decayed_loss = nn.reduce sum %decayed_error axes [1] keep : tensor<?x3xf32>
    %decayed_total = nn.add %by_rowwise_adagrad_soft_total, %decayed_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_bounded_adagrad_p = nn.read @by_bounded_adagrad_p : tensor<3xf32>
    %by_bounded_adagrad_rows = nn.lookup @by_bounded_adagrad_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_bounded_adagrad_sum = nn.reduce sum %by_bounded_adagrad_rows axes [1] : tensor<?x2x3xf32>
    %by_bounded_adagrad_product = nn.mul %x, %by_bounded_adagrad_p : tensor<?x3xf32>, tensor<3xf32>
    %by_bounded_adagrad_value = nn.add %by_bounded_adagrad_product, %by_bounded_adagrad_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_bounded_adagrad_error = nn.squared_error %by_bounded_adagrad_value, %target : tensor<?x3xf32>
    %by_bounded_adagrad_loss = nn.reduce sum %by_bounded_adagrad_error axes [1] keep : tensor<?x3xf32>
    %by_bounded_adagrad_total = nn.add %decayed_total, %by_bounded_adagrad_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_bounded_adagrad_tight_p = nn.read @by_bounded_adagrad_tight_p : tensor<3xf32>
    %by_bounded_adagrad_tight_rows = nn.lookup @by_bounded_adagrad_tight_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_bounded_adagrad_tight_sum = nn.reduce sum %by_bounded_adagrad_tight_rows axes [1] : tensor<?x2x3xf32>
    %by_bounded_adagrad_tight_product = nn.mul %x, %by_bounded_adagrad_tight_p : tensor<?x3xf32>, tensor<3xf32>
    %by_bounded_adagrad_tight_value = nn.add %by_bounded_adagrad_tight_product, %by_bounded_adagrad_tight_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_bounded_adagrad_tight_error = nn.squared_error %by_bounded_adagrad_tight_value, %target : tensor<?x3xf32>
    %by_bounded_adagrad_tight_loss = nn.reduce sum %by_bounded_adagrad_tight_error axes [1] keep : tensor<?x3xf32>
    %by_bounded_adagrad_tight_total = nn.add %by_bounded_adagrad_total, %by_bounded_adagrad_tight_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_rowwise_lars_p = nn.read @by_rowwise_lars_p : tensor<3xf32>
    %by_rowwise_lars_rows = nn.lookup @by_rowwise_lars_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_rowwise_lars_sum = nn.reduce sum %by_rowwise_lars_rows axes [1] : tensor<?x2x3xf32>
    %by_rowwise_lars_product = nn.mul %x, %by_rowwise_lars_p : tensor<?x3xf32>, tensor<3xf32>
    %by_rowwise_lars_value = nn.add %by_rowwise_lars_product, %by_rowwise_lars_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_rowwise_lars_error = nn.squared_error %by_rowwise_lars_value, %target : tensor<?x3xf32>
    %by_rowwise_lars_loss = nn.reduce sum %by_rowwise_lars_error axes [1] keep : tensor<?x3xf32>
    %by_rowwise_lars_total = nn.add %by_bounded_adagrad_tight_total, %by_rowwise_lars_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_rowwise_lars_other_p = nn.read @by_rowwise_lars_other_p : tensor<3xf32>
    %by_rowwise_lars_other_rows = nn.lookup @by_rowwise_lars_other_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_rowwise_lars_other_sum = nn.reduce sum %by_rowwise_lars_other_rows axes [1] : tensor<?x2x3xf32>
    %by_rowwise_lars_other_product = nn.mul %x, %by_rowwise_lars_other_p : tensor<?x3xf32>, tensor<3xf32>
    %by_rowwise_lars_other_value = nn.add %by_rowwise_lars_other_product, %by_rowwise_lars_other_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_rowwise_lars_other_error = nn.squared_error %by_rowwise_lars_other_value, %target : tensor<?x3xf32>
    %by_rowwise_lars_other_loss = nn.reduce sum %by_rowwise_lars_other_error axes [1] keep : tensor<?x3xf32>
    %by_rowwise_lars_other_total = nn.add %by_rowwise_lars_total, %by_rowwise_lars_other_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_rowwise_lamb_p = nn.read @by_rowwise_lamb_p : tensor<3xf32>
    %by_rowwise_lamb_rows = nn.lookup @by_rowwise_lamb_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_rowwise_lamb_sum = nn.reduce sum %by_rowwise_lamb_rows axes [1] : tensor<?x2x3xf32>
    %by_rowwise_lamb_product = nn.mul %x, %by_rowwise_lamb_p : tensor<?x3xf32>, tensor<3xf32>
    %by_rowwise_lamb_value = nn.add %by_rowwise_lamb_product, %by_rowwise_lamb_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_rowwise_lamb_error = nn.squared_error %by_rowwise_lamb_value, %target : tensor<?x3xf32>
    %by_rowwise_lamb_loss = nn.reduce sum %by_rowwise_lamb_error axes [1] keep : tensor<?x3xf32>
    %by_rowwise_lamb_total = nn.add %by_rowwise_lars_other_total, %by_rowwise_lamb_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_rowwise_lamb_other_p = nn.read @by_rowwise_lamb_other_p : tensor<3xf32>
    %by_rowwise_lamb_other_rows = nn.lookup @by_rowwise_lamb_other_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_rowwise_lamb_other_sum = nn.reduce sum %by_rowwise_lamb_other_rows axes [1] : tensor<?x2x3xf32>
    %by_rowwise_lamb_other_product = nn.mul %x, %by_rowwise_lamb_other_p : tensor<?x3xf32>, tensor<3xf32>
    %by_rowwise_lamb_other_value = nn.add %by_rowwise_lamb_other_product, %by_rowwise_lamb_other_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_rowwise_lamb_other_error = nn.squared_error %by_rowwise_lamb_other_value, %target : tensor<?x3xf32>
    %by_rowwise_lamb_other_loss = nn.reduce sum %by_rowwise_lamb_other_error axes [1] keep : tensor<?x3xf32>
    %by_rowwise_lamb_other_total = nn.add %by_rowwise_lamb_total, %by_rowwise_lamb_other_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %rowwise_lamb_dense_p = nn.read @rowwise_lamb_dense_p : tensor<3xf32>
    %rowwise_lamb_dense_rows = nn.lookup @rowwise_lamb_dense_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %rowwise_lamb_dense_sum = nn.reduce sum %rowwise_lamb_dense_rows axes [1] : tensor<?x2x3xf32>
    %rowwise_lamb_dense_product = nn.mul %x, %rowwise_lamb_dense_p : tensor<?x3xf32>, tensor<3xf32>
    %rowwise_lamb_dense_value = nn.add %rowwise_lamb_dense_product, %rowwise_lamb_dense_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %rowwise_lamb_dense_error = nn.squared_error %rowwise_lamb_dense_value, %target : tensor<?x3xf32>
    %rowwise_lamb_dense_loss = nn.reduce sum %rowwise_lamb_dense_error axes [1] keep : tensor<?x3xf32>
    %rowwise_lamb_dense_total = nn.add %by_rowwise_lamb_other_total, %rowwise_lamb_dense_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %bounded_dense_p = nn.read @bounded_dense_p : tensor<3xf32>
    %bounded_dense_rows = nn.lookup @bounded_dense_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %bounded_dense_sum = nn.reduce sum %bounded_dense_rows axes [1] : tensor<?x2x3xf32>
    %bounded_dense_product = nn.mul %x, %bounded_dense_p : tensor<?x3xf32>, tensor<3xf32>
    %bounded_dense_value = nn.add %bounded_dense_product, %bounded_dense_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %bounded_dense_error = nn.squared_error %bounded_dense_value, %target : tensor<?x3xf32>
    %bounded_dense_loss = nn.reduce sum %bounded_dense_error axes [1] keep : tensor<?x3xf32>
    %bounded_dense_total = nn.add %rowwise_lamb_dense_total, %bounded_dense_loss : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %bounded_dense_total over [@by_rowwise_adagrad, @by_rowwise_adagrad_soft, @decayed, @by_bounded_adagrad, @by_bounded_adagrad_tight, @by_rowwise_lars, @by_rowwise_lars_other, @by_rowwise_lamb, @by_rowwise_lamb_other, @rowwise_lamb_dense, @bounded_dense] : tensor<?x1xf32>
  }
}
