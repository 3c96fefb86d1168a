//===- rules_of_parameters/model.mlir - Rules that reduce over a parameter -*- mlir -*-===//
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

module @rules_of_parameters {
  nn.record @sample {
    nn.field @x : tensor<?x3xf32>
    nn.field @target : tensor<?x3xf32>
    nn.field @ids : tensor<?x2xi64>
  }
  nn.group @by_lars rule(@lars) rate(32.0)
  nn.param @by_lars_p : tensor<3xf32> in @by_lars init(#nn.zeros)
  nn.param @by_lars_m : tensor<3x3xf32> in @by_lars init(#nn.zeros)
  nn.group @by_lars_other rule(@lars {momentum = 0.5, coefficient = 0.125, weight_decay = 0.25}) rate(0.25)
  nn.param @by_lars_other_p : tensor<3xf32> in @by_lars_other init(#nn.zeros)
  nn.param @by_lars_other_m : tensor<3x3xf32> in @by_lars_other init(#nn.zeros)
  nn.group @by_lamb rule(@lamb) rate(0.0625)
  nn.param @by_lamb_p : tensor<3xf32> in @by_lamb init(#nn.zeros)
  nn.param @by_lamb_m : tensor<3x3xf32> in @by_lamb init(#nn.zeros)
  nn.group @by_lamb_decayed rule(@lamb {beta1 = 0.75, beta2 = 0.99, epsilon = 0.0001, weight_decay = 0.25}) rate(0.0625) decay(#nn.l2<0.25>)
  nn.param @by_lamb_decayed_p : tensor<3xf32> in @by_lamb_decayed init(#nn.zeros)
  nn.param @by_lamb_decayed_m : tensor<3x3xf32> in @by_lamb_decayed init(#nn.zeros)
  nn.group @by_lamb_on_average rule(@lamb) rate(0.0625) average(@ema {decay = 0.5})
  nn.param @by_lamb_on_average_p : tensor<3xf32> in @by_lamb_on_average init(#nn.zeros)
  nn.param @by_lamb_on_average_m : tensor<3x3xf32> in @by_lamb_on_average init(#nn.zeros)
  nn.group @sgd_beside rule(@sgd) rate(0.0625) untouched(lazy)
  nn.param @sgd_beside_p : tensor<3xf32> in @sgd_beside init(#nn.zeros)
  nn.table @sgd_beside_t : i64 -> tensor<3xf32> in @sgd_beside init(#nn.zeros)
  nn.program @train reads(@sample) {
  ^bb0(%x: tensor<?x3xf32>, %target: tensor<?x3xf32>, %ids: tensor<?x2xi64>):
    %by_lars_p = nn.read @by_lars_p : tensor<3xf32>
    %by_lars_m = nn.read @by_lars_m : tensor<3x3xf32>
    %by_lars_sum = nn.matmul %x, %by_lars_m : tensor<?x3xf32>, tensor<3x3xf32>
    %by_lars_product = nn.mul %x, %by_lars_p : tensor<?x3xf32>, tensor<3xf32>
    %by_lars_value = nn.add %by_lars_product, %by_lars_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_lars_error = nn.squared_error %by_lars_value, %target : tensor<?x3xf32>
    %by_lars_loss = nn.reduce sum %by_lars_error axes [1] keep : tensor<?x3xf32>
    %by_lars_other_p = nn.read @by_lars_other_p : tensor<3xf32>
    %by_lars_other_m = nn.read @by_lars_other_m : tensor<3x3xf32>
    %by_lars_other_sum = nn.matmul %x, %by_lars_other_m : tensor<?x3xf32>, tensor<3x3xf32>
    %by_lars_other_product = nn.mul %x, %by_lars_other_p : tensor<?x3xf32>, tensor<3xf32>
    %by_lars_other_value = nn.add %by_lars_other_product, %by_lars_other_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_lars_other_error = nn.squared_error %by_lars_other_value, %target : tensor<?x3xf32>
    %by_lars_other_loss = nn.reduce sum %by_lars_other_error axes [1] keep : tensor<?x3xf32>
    %by_lars_other_total = nn.add %by_lars_loss, %by_lars_other_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_lamb_p = nn.read @by_lamb_p : tensor<3xf32>
    %by_lamb_m = nn.read @by_lamb_m : tensor<3x3xf32>
    %by_lamb_sum = nn.matmul %x, %by_lamb_m : tensor<?x3xf32>, tensor<3x3xf32>
    %by_lamb_product = nn.mul %x, %by_lamb_p : tensor<?x3xf32>, tensor<3xf32>
    %by_lamb_value = nn.add %by_lamb_product, %by_lamb_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_lamb_error = nn.squared_error %by_lamb_value, %target : tensor<?x3xf32>
    %by_lamb_loss = nn.reduce sum %by_lamb_error axes [1] keep : tensor<?x3xf32>
    %by_lamb_total = nn.add %by_lars_other_total, %by_lamb_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_lamb_decayed_p = nn.read @by_lamb_decayed_p : tensor<3xf32>
    %by_lamb_decayed_m = nn.read @by_lamb_decayed_m : tensor<3x3xf32>
    %by_lamb_decayed_sum = nn.matmul %x, %by_lamb_decayed_m : tensor<?x3xf32>, tensor<3x3xf32>
    %by_lamb_decayed_product = nn.mul %x, %by_lamb_decayed_p : tensor<?x3xf32>, tensor<3xf32>
    %by_lamb_decayed_value = nn.add %by_lamb_decayed_product, %by_lamb_decayed_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_lamb_decayed_error = nn.squared_error %by_lamb_decayed_value, %target : tensor<?x3xf32>
    %by_lamb_decayed_loss = nn.reduce sum %by_lamb_decayed_error axes [1] keep : tensor<?x3xf32>
    %by_lamb_decayed_total = nn.add %by_lamb_total, %by_lamb_decayed_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_lamb_on_average_p = nn.read @by_lamb_on_average_p : tensor<3xf32>
    %by_lamb_on_average_m = nn.read @by_lamb_on_average_m : tensor<3x3xf32>
    %by_lamb_on_average_sum = nn.matmul %x, %by_lamb_on_average_m : tensor<?x3xf32>, tensor<3x3xf32>
    %by_lamb_on_average_product = nn.mul %x, %by_lamb_on_average_p : tensor<?x3xf32>, tensor<3xf32>
    %by_lamb_on_average_value = nn.add %by_lamb_on_average_product, %by_lamb_on_average_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_lamb_on_average_error = nn.squared_error %by_lamb_on_average_value, %target : tensor<?x3xf32>
    %by_lamb_on_average_loss = nn.reduce sum %by_lamb_on_average_error axes [1] keep : tensor<?x3xf32>
    %by_lamb_on_average_total = nn.add %by_lamb_decayed_total, %by_lamb_on_average_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %sgd_beside_p = nn.read @sgd_beside_p : tensor<3xf32>
    %sgd_beside_rows = nn.lookup @sgd_beside_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %sgd_beside_sum = nn.reduce sum %sgd_beside_rows axes [1] : tensor<?x2x3xf32>
    %sgd_beside_product = nn.mul %x, %sgd_beside_p : tensor<?x3xf32>, tensor<3xf32>
    %sgd_beside_value = nn.add %sgd_beside_product, %sgd_beside_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %sgd_beside_error = nn.squared_error %sgd_beside_value, %target : tensor<?x3xf32>
    %sgd_beside_loss = nn.reduce sum %sgd_beside_error axes [1] keep : tensor<?x3xf32>
    %sgd_beside_total = nn.add %by_lamb_on_average_total, %sgd_beside_loss : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %sgd_beside_total over [@by_lars, @by_lars_other, @by_lamb, @by_lamb_decayed, @by_lamb_on_average, @sgd_beside] : tensor<?x1xf32>
  }
}
