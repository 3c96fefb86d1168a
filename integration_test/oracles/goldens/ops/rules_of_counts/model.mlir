//===- rules_of_counts/model.mlir - Rules that are told of shows and clicks -*- mlir -*-===//
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

module @rules_of_counts {
  nn.record @sample {
    nn.field @x : tensor<?x3xf32>
    nn.field @target : tensor<?x3xf32>
    nn.field @ids : tensor<?x2xi64>
    nn.field @weight : tensor<?x1xf32>
    nn.field @show : tensor<?x1xf32>
    nn.field @click : tensor<?x1xf32>
  }
  nn.group @by_click_adagrad rule(@click_adagrad) rate(0.0625) untouched(lazy)
  nn.table @by_click_adagrad_t : i64 -> tensor<3xf32> in @by_click_adagrad init(#nn.zeros)
  nn.group @by_click_adagrad_tight rule(@click_adagrad {initial = 0.5, bound = 0.75}) rate(0.25) untouched(lazy)
  nn.table @by_click_adagrad_tight_t : i64 -> tensor<3xf32> in @by_click_adagrad_tight init(#nn.zeros)
  nn.group @click_dense rule(@click_adagrad {bound = 0.5}) rate(0.0625) untouched(dense)
  nn.table @click_dense_t : i64 -> tensor<3xf32> in @click_dense init(#nn.zeros)
  nn.group @sgd_beside rule(@sgd) rate(0.0625) untouched(lazy)
  nn.param @sgd_beside_p : tensor<3xf32> in @sgd_beside init(#nn.zeros)
  nn.table @sgd_beside_t : i64 -> tensor<3xf32> in @sgd_beside init(#nn.zeros)
  nn.program @train reads(@sample) {
  ^bb0(%x: tensor<?x3xf32>, %target: tensor<?x3xf32>, %ids: tensor<?x2xi64>, %weight: tensor<?x1xf32>, %show: tensor<?x1xf32>, %click: tensor<?x1xf32>):
    %by_click_adagrad_rows = nn.lookup @by_click_adagrad_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_click_adagrad_sum = nn.reduce sum %by_click_adagrad_rows axes [1] : tensor<?x2x3xf32>
    nn.count @by_click_adagrad_t[%ids] click(%click) show(%show) : tensor<?x2xi64>, tensor<?x1xf32>
    %by_click_adagrad_product = nn.mul %x, %x : tensor<?x3xf32>, tensor<?x3xf32>
    %by_click_adagrad_value = nn.add %by_click_adagrad_product, %by_click_adagrad_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_click_adagrad_error = nn.squared_error %by_click_adagrad_value, %target : tensor<?x3xf32>
    %by_click_adagrad_loss = nn.reduce sum %by_click_adagrad_error axes [1] keep : tensor<?x3xf32>
    %by_click_adagrad_tight_rows = nn.lookup @by_click_adagrad_tight_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_click_adagrad_tight_sum = nn.reduce sum %by_click_adagrad_tight_rows axes [1] : tensor<?x2x3xf32>
    nn.count @by_click_adagrad_tight_t[%ids] click(%click) show(%show) : tensor<?x2xi64>, tensor<?x1xf32>
    %by_click_adagrad_tight_product = nn.mul %x, %x : tensor<?x3xf32>, tensor<?x3xf32>
    %by_click_adagrad_tight_value = nn.add %by_click_adagrad_tight_product, %by_click_adagrad_tight_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_click_adagrad_tight_error = nn.squared_error %by_click_adagrad_tight_value, %target : tensor<?x3xf32>
    %by_click_adagrad_tight_loss = nn.reduce sum %by_click_adagrad_tight_error axes [1] keep : tensor<?x3xf32>
    %by_click_adagrad_tight_total = nn.add %by_click_adagrad_loss, %by_click_adagrad_tight_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %click_dense_rows = nn.lookup @click_dense_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %click_dense_sum = nn.reduce sum %click_dense_rows axes [1] : tensor<?x2x3xf32>
    nn.count @click_dense_t[%ids] click(%click) show(%show) : tensor<?x2xi64>, tensor<?x1xf32>
    %click_dense_product = nn.mul %x, %x : tensor<?x3xf32>, tensor<?x3xf32>
    %click_dense_value = nn.add %click_dense_product, %click_dense_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %click_dense_error = nn.squared_error %click_dense_value, %target : tensor<?x3xf32>
    %click_dense_loss = nn.reduce sum %click_dense_error axes [1] keep : tensor<?x3xf32>
    %click_dense_total = nn.add %by_click_adagrad_tight_total, %click_dense_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %sgd_beside_p = nn.read @sgd_beside_p : tensor<3xf32>
    %sgd_beside_rows = nn.lookup @sgd_beside_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %sgd_beside_sum = nn.reduce sum %sgd_beside_rows axes [1] : tensor<?x2x3xf32>
    %sgd_beside_product = nn.mul %x, %sgd_beside_p : tensor<?x3xf32>, tensor<3xf32>
    %sgd_beside_value = nn.add %sgd_beside_product, %sgd_beside_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %sgd_beside_error = nn.squared_error %sgd_beside_value, %target : tensor<?x3xf32>
    %sgd_beside_loss = nn.reduce sum %sgd_beside_error axes [1] keep : tensor<?x3xf32>
    %sgd_beside_total = nn.add %click_dense_total, %sgd_beside_loss : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %sgd_beside_total weight %weight over [@by_click_adagrad, @by_click_adagrad_tight, @click_dense, @sgd_beside] : tensor<?x1xf32>, tensor<?x1xf32>
  }
}
