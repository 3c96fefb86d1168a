//===- schedules_that_rise/model.mlir - Warm-ups, cycles and restarts -*- mlir -*-===//
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

module @schedules_that_rise {
  nn.record @sample {
    nn.field @x : tensor<?x3xf32>
    nn.field @target : tensor<?x3xf32>
    nn.field @ids : tensor<?x2xi64>
  }
  nn.group @by_noam rule(@sgd) rate(0.0625) schedule(@noam {width = 4.0, warm_up = 5.0})
  nn.param @by_noam_p : tensor<3xf32> in @by_noam init(#nn.zeros)
  nn.table @by_noam_t : i64 -> tensor<3xf32> in @by_noam init(#nn.zeros)
  nn.group @by_polynomial_cycle rule(@sgd) rate(0.0625) schedule(@polynomial {steps = 4.0, floor = 0.015625, power = 2.0, cycle = 1.0})
  nn.param @by_polynomial_cycle_p : tensor<3xf32> in @by_polynomial_cycle init(#nn.zeros)
  nn.table @by_polynomial_cycle_t : i64 -> tensor<3xf32> in @by_polynomial_cycle init(#nn.zeros)
  nn.group @by_restarts rule(@sgd) rate(0.0625) schedule(@cosine_restarts {steps = 5.0, floor = 0.015625})
  nn.param @by_restarts_p : tensor<3xf32> in @by_restarts init(#nn.zeros)
  nn.table @by_restarts_t : i64 -> tensor<3xf32> in @by_restarts init(#nn.zeros)
  nn.group @by_growing_restarts rule(@sgd) rate(0.0625) schedule(@cosine_restarts {steps = 1.0, growth = 3.0})
  nn.param @by_growing_restarts_p : tensor<3xf32> in @by_growing_restarts init(#nn.zeros)
  nn.table @by_growing_restarts_t : i64 -> tensor<3xf32> in @by_growing_restarts init(#nn.zeros)
  nn.group @by_one_cycle rule(@sgd) rate(0.0625) schedule(@one_cycle {steps = 12.0})
  nn.param @by_one_cycle_p : tensor<3xf32> in @by_one_cycle init(#nn.zeros)
  nn.table @by_one_cycle_t : i64 -> tensor<3xf32> in @by_one_cycle init(#nn.zeros)
  nn.group @by_one_cycle_all rule(@sgd) rate(0.0625) schedule(@one_cycle {steps = 13.0, rising = 0.5, divisor = 4.0, final_divisor = 8.0})
  nn.param @by_one_cycle_all_p : tensor<3xf32> in @by_one_cycle_all init(#nn.zeros)
  nn.table @by_one_cycle_all_t : i64 -> tensor<3xf32> in @by_one_cycle_all init(#nn.zeros)
  nn.program @train reads(@sample) {
  ^bb0(%x: tensor<?x3xf32>, %target: tensor<?x3xf32>, %ids: tensor<?x2xi64>):
    %by_noam_p = nn.read @by_noam_p : tensor<3xf32>
    %by_noam_rows = nn.lookup @by_noam_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_noam_sum = nn.reduce sum %by_noam_rows axes [1] : tensor<?x2x3xf32>
    %by_noam_product = nn.mul %x, %by_noam_p : tensor<?x3xf32>, tensor<3xf32>
    %by_noam_value = nn.add %by_noam_product, %by_noam_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_noam_error = nn.squared_error %by_noam_value, %target : tensor<?x3xf32>
    %by_noam_loss = nn.reduce sum %by_noam_error axes [1] keep : tensor<?x3xf32>
    %by_polynomial_cycle_p = nn.read @by_polynomial_cycle_p : tensor<3xf32>
    %by_polynomial_cycle_rows = nn.lookup @by_polynomial_cycle_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_polynomial_cycle_sum = nn.reduce sum %by_polynomial_cycle_rows axes [1] : tensor<?x2x3xf32>
    %by_polynomial_cycle_product = nn.mul %x, %by_polynomial_cycle_p : tensor<?x3xf32>, tensor<3xf32>
    %by_polynomial_cycle_value = nn.add %by_polynomial_cycle_product, %by_polynomial_cycle_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_polynomial_cycle_error = nn.squared_error %by_polynomial_cycle_value, %target : tensor<?x3xf32>
    %by_polynomial_cycle_loss = nn.reduce sum %by_polynomial_cycle_error axes [1] keep : tensor<?x3xf32>
    %by_polynomial_cycle_total = nn.add %by_noam_loss, %by_polynomial_cycle_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_restarts_p = nn.read @by_restarts_p : tensor<3xf32>
    %by_restarts_rows = nn.lookup @by_restarts_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_restarts_sum = nn.reduce sum %by_restarts_rows axes [1] : tensor<?x2x3xf32>
    %by_restarts_product = nn.mul %x, %by_restarts_p : tensor<?x3xf32>, tensor<3xf32>
    %by_restarts_value = nn.add %by_restarts_product, %by_restarts_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_restarts_error = nn.squared_error %by_restarts_value, %target : tensor<?x3xf32>
    %by_restarts_loss = nn.reduce sum %by_restarts_error axes [1] keep : tensor<?x3xf32>
    %by_restarts_total = nn.add %by_polynomial_cycle_total, %by_restarts_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_growing_restarts_p = nn.read @by_growing_restarts_p : tensor<3xf32>
    %by_growing_restarts_rows = nn.lookup @by_growing_restarts_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_growing_restarts_sum = nn.reduce sum %by_growing_restarts_rows axes [1] : tensor<?x2x3xf32>
    %by_growing_restarts_product = nn.mul %x, %by_growing_restarts_p : tensor<?x3xf32>, tensor<3xf32>
    %by_growing_restarts_value = nn.add %by_growing_restarts_product, %by_growing_restarts_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_growing_restarts_error = nn.squared_error %by_growing_restarts_value, %target : tensor<?x3xf32>
    %by_growing_restarts_loss = nn.reduce sum %by_growing_restarts_error axes [1] keep : tensor<?x3xf32>
    %by_growing_restarts_total = nn.add %by_restarts_total, %by_growing_restarts_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_one_cycle_p = nn.read @by_one_cycle_p : tensor<3xf32>
    %by_one_cycle_rows = nn.lookup @by_one_cycle_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_one_cycle_sum = nn.reduce sum %by_one_cycle_rows axes [1] : tensor<?x2x3xf32>
    %by_one_cycle_product = nn.mul %x, %by_one_cycle_p : tensor<?x3xf32>, tensor<3xf32>
    %by_one_cycle_value = nn.add %by_one_cycle_product, %by_one_cycle_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_one_cycle_error = nn.squared_error %by_one_cycle_value, %target : tensor<?x3xf32>
    %by_one_cycle_loss = nn.reduce sum %by_one_cycle_error axes [1] keep : tensor<?x3xf32>
    %by_one_cycle_total = nn.add %by_growing_restarts_total, %by_one_cycle_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_one_cycle_all_p = nn.read @by_one_cycle_all_p : tensor<3xf32>
    %by_one_cycle_all_rows = nn.lookup @by_one_cycle_all_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_one_cycle_all_sum = nn.reduce sum %by_one_cycle_all_rows axes [1] : tensor<?x2x3xf32>
    %by_one_cycle_all_product = nn.mul %x, %by_one_cycle_all_p : tensor<?x3xf32>, tensor<3xf32>
    %by_one_cycle_all_value = nn.add %by_one_cycle_all_product, %by_one_cycle_all_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_one_cycle_all_error = nn.squared_error %by_one_cycle_all_value, %target : tensor<?x3xf32>
    %by_one_cycle_all_loss = nn.reduce sum %by_one_cycle_all_error axes [1] keep : tensor<?x3xf32>
    %by_one_cycle_all_total = nn.add %by_one_cycle_total, %by_one_cycle_all_loss : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %by_one_cycle_all_total over [@by_noam, @by_polynomial_cycle, @by_restarts, @by_growing_restarts, @by_one_cycle, @by_one_cycle_all] : tensor<?x1xf32>
  }
}
