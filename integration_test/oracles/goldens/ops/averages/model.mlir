//===- averages/model.mlir - Averages of the steps -*- mlir -*-===//
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

module @averages {
  nn.record @sample {
    nn.field @x : tensor<?x3xf32>
    nn.field @target : tensor<?x3xf32>
    nn.field @ids : tensor<?x2xi64>
  }
  nn.group @by_ema rule(@sgd) rate(0.0625) untouched(lazy) average(@ema)
  nn.param @by_ema_p : tensor<3xf32> in @by_ema init(#nn.zeros)
  nn.table @by_ema_t : i64 -> tensor<3xf32> in @by_ema init(#nn.zeros)
  nn.group @by_ema_short rule(@adam) rate(0.125) untouched(lazy) average(@ema {decay = 0.5})
  nn.param @by_ema_short_p : tensor<3xf32> in @by_ema_short init(#nn.zeros)
  nn.table @by_ema_short_t : i64 -> tensor<3xf32> in @by_ema_short init(#nn.zeros)
  nn.group @by_ema_of_all rule(@momentum) rate(0.03125) untouched(dense) average(@ema {decay = 0.75})
  nn.param @by_ema_of_all_p : tensor<3xf32> in @by_ema_of_all init(#nn.zeros)
  nn.table @by_ema_of_all_t : i64 -> tensor<3xf32> in @by_ema_of_all init(#nn.zeros)
  nn.group @by_ema_of_rows rule(@rowwise_lamb) rate(0.0625) untouched(lazy) average(@ema {decay = 0.5})
  nn.param @by_ema_of_rows_p : tensor<3xf32> in @by_ema_of_rows init(#nn.zeros)
  nn.table @by_ema_of_rows_t : i64 -> tensor<3xf32> in @by_ema_of_rows init(#nn.zeros)
  nn.group @by_mean rule(@sgd) rate(0.0625) untouched(lazy) average(@model_average)
  nn.param @by_mean_p : tensor<3xf32> in @by_mean init(#nn.zeros)
  nn.table @by_mean_t : i64 -> tensor<3xf32> in @by_mean init(#nn.zeros)
  nn.group @by_mean_of_windows rule(@adam) rate(0.125) untouched(lazy) average(@model_average {share = 0.5, least = 2.0, most = 3.0})
  nn.param @by_mean_of_windows_p : tensor<3xf32> in @by_mean_of_windows init(#nn.zeros)
  nn.table @by_mean_of_windows_t : i64 -> tensor<3xf32> in @by_mean_of_windows init(#nn.zeros)
  nn.program @train reads(@sample) {
  ^bb0(%x: tensor<?x3xf32>, %target: tensor<?x3xf32>, %ids: tensor<?x2xi64>):
    %by_ema_p = nn.read @by_ema_p : tensor<3xf32>
    %by_ema_rows = nn.lookup @by_ema_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_ema_sum = nn.reduce sum %by_ema_rows axes [1] : tensor<?x2x3xf32>
    %by_ema_product = nn.mul %x, %by_ema_p : tensor<?x3xf32>, tensor<3xf32>
    %by_ema_value = nn.add %by_ema_product, %by_ema_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_ema_error = nn.squared_error %by_ema_value, %target : tensor<?x3xf32>
    %by_ema_loss = nn.reduce sum %by_ema_error axes [1] keep : tensor<?x3xf32>
    %by_ema_short_p = nn.read @by_ema_short_p : tensor<3xf32>
    %by_ema_short_rows = nn.lookup @by_ema_short_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_ema_short_sum = nn.reduce sum %by_ema_short_rows axes [1] : tensor<?x2x3xf32>
    %by_ema_short_product = nn.mul %x, %by_ema_short_p : tensor<?x3xf32>, tensor<3xf32>
    %by_ema_short_value = nn.add %by_ema_short_product, %by_ema_short_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_ema_short_error = nn.squared_error %by_ema_short_value, %target : tensor<?x3xf32>
    %by_ema_short_loss = nn.reduce sum %by_ema_short_error axes [1] keep : tensor<?x3xf32>
    %by_ema_short_total = nn.add %by_ema_loss, %by_ema_short_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_ema_of_all_p = nn.read @by_ema_of_all_p : tensor<3xf32>
    %by_ema_of_all_rows = nn.lookup @by_ema_of_all_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_ema_of_all_sum = nn.reduce sum %by_ema_of_all_rows axes [1] : tensor<?x2x3xf32>
    %by_ema_of_all_product = nn.mul %x, %by_ema_of_all_p : tensor<?x3xf32>, tensor<3xf32>
    %by_ema_of_all_value = nn.add %by_ema_of_all_product, %by_ema_of_all_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_ema_of_all_error = nn.squared_error %by_ema_of_all_value, %target : tensor<?x3xf32>
    %by_ema_of_all_loss = nn.reduce sum %by_ema_of_all_error axes [1] keep : tensor<?x3xf32>
    %by_ema_of_all_total = nn.add %by_ema_short_total, %by_ema_of_all_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_ema_of_rows_p = nn.read @by_ema_of_rows_p : tensor<3xf32>
    %by_ema_of_rows_rows = nn.lookup @by_ema_of_rows_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_ema_of_rows_sum = nn.reduce sum %by_ema_of_rows_rows axes [1] : tensor<?x2x3xf32>
    %by_ema_of_rows_product = nn.mul %x, %by_ema_of_rows_p : tensor<?x3xf32>, tensor<3xf32>
    %by_ema_of_rows_value = nn.add %by_ema_of_rows_product, %by_ema_of_rows_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_ema_of_rows_error = nn.squared_error %by_ema_of_rows_value, %target : tensor<?x3xf32>
    %by_ema_of_rows_loss = nn.reduce sum %by_ema_of_rows_error axes [1] keep : tensor<?x3xf32>
    %by_ema_of_rows_total = nn.add %by_ema_of_all_total, %by_ema_of_rows_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_mean_p = nn.read @by_mean_p : tensor<3xf32>
    %by_mean_rows = nn.lookup @by_mean_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_mean_sum = nn.reduce sum %by_mean_rows axes [1] : tensor<?x2x3xf32>
    %by_mean_product = nn.mul %x, %by_mean_p : tensor<?x3xf32>, tensor<3xf32>
    %by_mean_value = nn.add %by_mean_product, %by_mean_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_mean_error = nn.squared_error %by_mean_value, %target : tensor<?x3xf32>
    %by_mean_loss = nn.reduce sum %by_mean_error axes [1] keep : tensor<?x3xf32>
    %by_mean_total = nn.add %by_ema_of_rows_total, %by_mean_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_mean_of_windows_p = nn.read @by_mean_of_windows_p : tensor<3xf32>
    %by_mean_of_windows_rows = nn.lookup @by_mean_of_windows_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_mean_of_windows_sum = nn.reduce sum %by_mean_of_windows_rows axes [1] : tensor<?x2x3xf32>
    %by_mean_of_windows_product = nn.mul %x, %by_mean_of_windows_p : tensor<?x3xf32>, tensor<3xf32>
    %by_mean_of_windows_value = nn.add %by_mean_of_windows_product, %by_mean_of_windows_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_mean_of_windows_error = nn.squared_error %by_mean_of_windows_value, %target : tensor<?x3xf32>
    %by_mean_of_windows_loss = nn.reduce sum %by_mean_of_windows_error axes [1] keep : tensor<?x3xf32>
    %by_mean_of_windows_total = nn.add %by_mean_total, %by_mean_of_windows_loss : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %by_mean_of_windows_total over [@by_ema, @by_ema_short, @by_ema_of_all, @by_ema_of_rows, @by_mean, @by_mean_of_windows] : tensor<?x1xf32>
  }
}
