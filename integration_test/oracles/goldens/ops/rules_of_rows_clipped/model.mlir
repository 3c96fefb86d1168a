//===- rules_of_rows_clipped/model.mlir - The same under a clip, with weights -*- mlir -*-===//
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

module @rules_of_rows_clipped {
  nn.record @sample {
    nn.field @x : tensor<?x3xf32>
    nn.field @target : tensor<?x3xf32>
    nn.field @ids : tensor<?x2xi64>
    nn.field @weight : tensor<?x1xf32>
  }
  nn.clip @elements : value(0.75)
  nn.group @by_rowwise_adagrad rule(@rowwise_adagrad) rate(0.25) clip(@elements)
  nn.param @by_rowwise_adagrad_p : tensor<3xf32> in @by_rowwise_adagrad init(#nn.zeros)
  nn.table @by_rowwise_adagrad_t : i64 -> tensor<3xf32> in @by_rowwise_adagrad init(#nn.zeros)
  nn.group @by_rowwise_lamb rule(@rowwise_lamb) rate(0.0625) clip(@elements) untouched(lazy)
  nn.param @by_rowwise_lamb_p : tensor<3xf32> in @by_rowwise_lamb init(#nn.zeros)
  nn.table @by_rowwise_lamb_t : i64 -> tensor<3xf32> in @by_rowwise_lamb init(#nn.zeros)
  nn.program @train reads(@sample) {
  ^bb0(%x: tensor<?x3xf32>, %target: tensor<?x3xf32>, %ids: tensor<?x2xi64>, %weight: tensor<?x1xf32>):
    %by_rowwise_adagrad_p = nn.read @by_rowwise_adagrad_p : tensor<3xf32>
    %by_rowwise_adagrad_rows = nn.lookup @by_rowwise_adagrad_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_rowwise_adagrad_sum = nn.reduce sum %by_rowwise_adagrad_rows axes [1] : tensor<?x2x3xf32>
    %by_rowwise_adagrad_product = nn.mul %x, %by_rowwise_adagrad_p : tensor<?x3xf32>, tensor<3xf32>
    %by_rowwise_adagrad_value = nn.add %by_rowwise_adagrad_product, %by_rowwise_adagrad_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_rowwise_adagrad_error = nn.squared_error %by_rowwise_adagrad_value, %target : tensor<?x3xf32>
    %by_rowwise_adagrad_loss = nn.reduce sum %by_rowwise_adagrad_error axes [1] keep : tensor<?x3xf32>
    %by_rowwise_lamb_p = nn.read @by_rowwise_lamb_p : tensor<3xf32>
    %by_rowwise_lamb_rows = nn.lookup @by_rowwise_lamb_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_rowwise_lamb_sum = nn.reduce sum %by_rowwise_lamb_rows axes [1] : tensor<?x2x3xf32>
    %by_rowwise_lamb_product = nn.mul %x, %by_rowwise_lamb_p : tensor<?x3xf32>, tensor<3xf32>
    %by_rowwise_lamb_value = nn.add %by_rowwise_lamb_product, %by_rowwise_lamb_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_rowwise_lamb_error = nn.squared_error %by_rowwise_lamb_value, %target : tensor<?x3xf32>
    %by_rowwise_lamb_loss = nn.reduce sum %by_rowwise_lamb_error axes [1] keep : tensor<?x3xf32>
    %by_rowwise_lamb_total = nn.add %by_rowwise_adagrad_loss, %by_rowwise_lamb_loss : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %by_rowwise_lamb_total weight %weight over [@by_rowwise_adagrad, @by_rowwise_lamb] : tensor<?x1xf32>, tensor<?x1xf32>
  }
}
