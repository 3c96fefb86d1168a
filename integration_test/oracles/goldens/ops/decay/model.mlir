//===- decay/model.mlir - L1, L2, and both -*- mlir -*-===//
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

module @decay {
  nn.record @sample {
    nn.field @x : tensor<?x3xf32>
    nn.field @target : tensor<?x3xf32>
    nn.field @ids : tensor<?x2xi64>
  }
  nn.group @by_l2 rule(@sgd) rate(0.0625) decay(#nn.l2<0.25>) untouched(lazy)
  nn.param @by_l2_p : tensor<3xf32> in @by_l2 init(#nn.zeros)
  nn.table @by_l2_t : i64 -> tensor<3xf32> in @by_l2 init(#nn.zeros)
  nn.group @by_l1 rule(@sgd) rate(0.0625) decay(#nn.l1<0.125>) untouched(lazy)
  nn.param @by_l1_p : tensor<3xf32> in @by_l1 init(#nn.zeros)
  nn.table @by_l1_t : i64 -> tensor<3xf32> in @by_l1 init(#nn.zeros)
  nn.group @by_both rule(@momentum) rate(0.0625) decay(#nn.l2<0.25>, #nn.l1<0.125>) untouched(lazy)
  nn.param @by_both_p : tensor<3xf32> in @by_both init(#nn.zeros)
  nn.table @by_both_t : i64 -> tensor<3xf32> in @by_both init(#nn.zeros)
  nn.program @train reads(@sample) {
  ^bb0(%x: tensor<?x3xf32>, %target: tensor<?x3xf32>, %ids: tensor<?x2xi64>):
    %by_l2_p = nn.read @by_l2_p : tensor<3xf32>
    %by_l2_rows = nn.lookup @by_l2_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_l2_sum = nn.reduce sum %by_l2_rows axes [1] : tensor<?x2x3xf32>
    %by_l2_product = nn.mul %x, %by_l2_p : tensor<?x3xf32>, tensor<3xf32>
    %by_l2_value = nn.add %by_l2_product, %by_l2_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_l2_error = nn.squared_error %by_l2_value, %target : tensor<?x3xf32>
    %by_l2_loss = nn.reduce sum %by_l2_error axes [1] keep : tensor<?x3xf32>
    %by_l1_p = nn.read @by_l1_p : tensor<3xf32>
    %by_l1_rows = nn.lookup @by_l1_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_l1_sum = nn.reduce sum %by_l1_rows axes [1] : tensor<?x2x3xf32>
    %by_l1_product = nn.mul %x, %by_l1_p : tensor<?x3xf32>, tensor<3xf32>
    %by_l1_value = nn.add %by_l1_product, %by_l1_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_l1_error = nn.squared_error %by_l1_value, %target : tensor<?x3xf32>
    %by_l1_loss = nn.reduce sum %by_l1_error axes [1] keep : tensor<?x3xf32>
    %by_l1_total = nn.add %by_l2_loss, %by_l1_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_both_p = nn.read @by_both_p : tensor<3xf32>
    %by_both_rows = nn.lookup @by_both_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_both_sum = nn.reduce sum %by_both_rows axes [1] : tensor<?x2x3xf32>
    %by_both_product = nn.mul %x, %by_both_p : tensor<?x3xf32>, tensor<3xf32>
    %by_both_value = nn.add %by_both_product, %by_both_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_both_error = nn.squared_error %by_both_value, %target : tensor<?x3xf32>
    %by_both_loss = nn.reduce sum %by_both_error axes [1] keep : tensor<?x3xf32>
    %by_both_total = nn.add %by_l1_total, %by_both_loss : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %by_both_total over [@by_l2, @by_l1, @by_both] : tensor<?x1xf32>
  }
}
