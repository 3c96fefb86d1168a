//===- schedules_that_fall/model.mlir - Decays and boundaries -*- mlir -*-===//
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

module @schedules_that_fall {
  nn.record @sample {
    nn.field @x : tensor<?x3xf32>
    nn.field @target : tensor<?x3xf32>
    nn.field @ids : tensor<?x2xi64>
  }
  nn.group @by_natural rule(@sgd) rate(0.0625) schedule(@natural_exponential {decay = 0.5, steps = 4.0})
  nn.param @by_natural_p : tensor<3xf32> in @by_natural init(#nn.zeros)
  nn.table @by_natural_t : i64 -> tensor<3xf32> in @by_natural init(#nn.zeros)
  nn.group @by_natural_stairs rule(@sgd) rate(0.0625) schedule(@natural_exponential {decay = 0.5, steps = 3.0, staircase = 1.0})
  nn.param @by_natural_stairs_p : tensor<3xf32> in @by_natural_stairs init(#nn.zeros)
  nn.table @by_natural_stairs_t : i64 -> tensor<3xf32> in @by_natural_stairs init(#nn.zeros)
  nn.group @by_inverse rule(@sgd) rate(0.0625) schedule(@inverse_time {decay = 0.5, steps = 4.0})
  nn.param @by_inverse_p : tensor<3xf32> in @by_inverse init(#nn.zeros)
  nn.table @by_inverse_t : i64 -> tensor<3xf32> in @by_inverse init(#nn.zeros)
  nn.group @by_inverse_stairs rule(@sgd) rate(0.0625) schedule(@inverse_time {decay = 0.5, steps = 3.0, staircase = 1.0})
  nn.param @by_inverse_stairs_p : tensor<3xf32> in @by_inverse_stairs init(#nn.zeros)
  nn.table @by_inverse_stairs_t : i64 -> tensor<3xf32> in @by_inverse_stairs init(#nn.zeros)
  nn.group @by_polynomial rule(@sgd) rate(0.0625) schedule(@polynomial {steps = 7.0})
  nn.param @by_polynomial_p : tensor<3xf32> in @by_polynomial init(#nn.zeros)
  nn.table @by_polynomial_t : i64 -> tensor<3xf32> in @by_polynomial init(#nn.zeros)
  nn.group @by_polynomial_all rule(@sgd) rate(0.0625) schedule(@polynomial {steps = 6.0, floor = 0.015625, power = 2.5})
  nn.param @by_polynomial_all_p : tensor<3xf32> in @by_polynomial_all init(#nn.zeros)
  nn.table @by_polynomial_all_t : i64 -> tensor<3xf32> in @by_polynomial_all init(#nn.zeros)
  nn.group @by_piecewise rule(@sgd) rate(0.0625) schedule(@piecewise {after1 = 3.0, rate1 = 0.03125})
  nn.param @by_piecewise_p : tensor<3xf32> in @by_piecewise init(#nn.zeros)
  nn.table @by_piecewise_t : i64 -> tensor<3xf32> in @by_piecewise init(#nn.zeros)
  nn.group @by_piecewise_all rule(@sgd) rate(0.0625) schedule(@piecewise {after1 = 1.0, rate1 = 0.09375, after2 = 4.0, rate2 = 0.03125, after3 = 6.0, rate3 = 0.0, after4 = 8.0, rate4 = 0.0625})
  nn.param @by_piecewise_all_p : tensor<3xf32> in @by_piecewise_all init(#nn.zeros)
  nn.table @by_piecewise_all_t : i64 -> tensor<3xf32> in @by_piecewise_all init(#nn.zeros)
  nn.program @train reads(@sample) {
  ^bb0(%x: tensor<?x3xf32>, %target: tensor<?x3xf32>, %ids: tensor<?x2xi64>):
    %by_natural_p = nn.read @by_natural_p : tensor<3xf32>
    %by_natural_rows = nn.lookup @by_natural_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_natural_sum = nn.reduce sum %by_natural_rows axes [1] : tensor<?x2x3xf32>
    %by_natural_product = nn.mul %x, %by_natural_p : tensor<?x3xf32>, tensor<3xf32>
    %by_natural_value = nn.add %by_natural_product, %by_natural_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_natural_error = nn.squared_error %by_natural_value, %target : tensor<?x3xf32>
    %by_natural_loss = nn.reduce sum %by_natural_error axes [1] keep : tensor<?x3xf32>
    %by_natural_stairs_p = nn.read @by_natural_stairs_p : tensor<3xf32>
    %by_natural_stairs_rows = nn.lookup @by_natural_stairs_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_natural_stairs_sum = nn.reduce sum %by_natural_stairs_rows axes [1] : tensor<?x2x3xf32>
    %by_natural_stairs_product = nn.mul %x, %by_natural_stairs_p : tensor<?x3xf32>, tensor<3xf32>
    %by_natural_stairs_value = nn.add %by_natural_stairs_product, %by_natural_stairs_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_natural_stairs_error = nn.squared_error %by_natural_stairs_value, %target : tensor<?x3xf32>
    %by_natural_stairs_loss = nn.reduce sum %by_natural_stairs_error axes [1] keep : tensor<?x3xf32>
    %by_natural_stairs_total = nn.add %by_natural_loss, %by_natural_stairs_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_inverse_p = nn.read @by_inverse_p : tensor<3xf32>
    %by_inverse_rows = nn.lookup @by_inverse_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_inverse_sum = nn.reduce sum %by_inverse_rows axes [1] : tensor<?x2x3xf32>
    %by_inverse_product = nn.mul %x, %by_inverse_p : tensor<?x3xf32>, tensor<3xf32>
    %by_inverse_value = nn.add %by_inverse_product, %by_inverse_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_inverse_error = nn.squared_error %by_inverse_value, %target : tensor<?x3xf32>
    %by_inverse_loss = nn.reduce sum %by_inverse_error axes [1] keep : tensor<?x3xf32>
    %by_inverse_total = nn.add %by_natural_stairs_total, %by_inverse_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_inverse_stairs_p = nn.read @by_inverse_stairs_p : tensor<3xf32>
    %by_inverse_stairs_rows = nn.lookup @by_inverse_stairs_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_inverse_stairs_sum = nn.reduce sum %by_inverse_stairs_rows axes [1] : tensor<?x2x3xf32>
    %by_inverse_stairs_product = nn.mul %x, %by_inverse_stairs_p : tensor<?x3xf32>, tensor<3xf32>
    %by_inverse_stairs_value = nn.add %by_inverse_stairs_product, %by_inverse_stairs_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_inverse_stairs_error = nn.squared_error %by_inverse_stairs_value, %target : tensor<?x3xf32>
    %by_inverse_stairs_loss = nn.reduce sum %by_inverse_stairs_error axes [1] keep : tensor<?x3xf32>
    %by_inverse_stairs_total = nn.add %by_inverse_total, %by_inverse_stairs_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_polynomial_p = nn.read @by_polynomial_p : tensor<3xf32>
    %by_polynomial_rows = nn.lookup @by_polynomial_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_polynomial_sum = nn.reduce sum %by_polynomial_rows axes [1] : tensor<?x2x3xf32>
    %by_polynomial_product = nn.mul %x, %by_polynomial_p : tensor<?x3xf32>, tensor<3xf32>
    %by_polynomial_value = nn.add %by_polynomial_product, %by_polynomial_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_polynomial_error = nn.squared_error %by_polynomial_value, %target : tensor<?x3xf32>
    %by_polynomial_loss = nn.reduce sum %by_polynomial_error axes [1] keep : tensor<?x3xf32>
    %by_polynomial_total = nn.add %by_inverse_stairs_total, %by_polynomial_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_polynomial_all_p = nn.read @by_polynomial_all_p : tensor<3xf32>
    %by_polynomial_all_rows = nn.lookup @by_polynomial_all_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_polynomial_all_sum = nn.reduce sum %by_polynomial_all_rows axes [1] : tensor<?x2x3xf32>
    %by_polynomial_all_product = nn.mul %x, %by_polynomial_all_p : tensor<?x3xf32>, tensor<3xf32>
    %by_polynomial_all_value = nn.add %by_polynomial_all_product, %by_polynomial_all_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_polynomial_all_error = nn.squared_error %by_polynomial_all_value, %target : tensor<?x3xf32>
    %by_polynomial_all_loss = nn.reduce sum %by_polynomial_all_error axes [1] keep : tensor<?x3xf32>
    %by_polynomial_all_total = nn.add %by_polynomial_total, %by_polynomial_all_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_piecewise_p = nn.read @by_piecewise_p : tensor<3xf32>
    %by_piecewise_rows = nn.lookup @by_piecewise_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_piecewise_sum = nn.reduce sum %by_piecewise_rows axes [1] : tensor<?x2x3xf32>
    %by_piecewise_product = nn.mul %x, %by_piecewise_p : tensor<?x3xf32>, tensor<3xf32>
    %by_piecewise_value = nn.add %by_piecewise_product, %by_piecewise_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_piecewise_error = nn.squared_error %by_piecewise_value, %target : tensor<?x3xf32>
    %by_piecewise_loss = nn.reduce sum %by_piecewise_error axes [1] keep : tensor<?x3xf32>
    %by_piecewise_total = nn.add %by_polynomial_all_total, %by_piecewise_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_piecewise_all_p = nn.read @by_piecewise_all_p : tensor<3xf32>
    %by_piecewise_all_rows = nn.lookup @by_piecewise_all_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_piecewise_all_sum = nn.reduce sum %by_piecewise_all_rows axes [1] : tensor<?x2x3xf32>
    %by_piecewise_all_product = nn.mul %x, %by_piecewise_all_p : tensor<?x3xf32>, tensor<3xf32>
    %by_piecewise_all_value = nn.add %by_piecewise_all_product, %by_piecewise_all_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_piecewise_all_error = nn.squared_error %by_piecewise_all_value, %target : tensor<?x3xf32>
    %by_piecewise_all_loss = nn.reduce sum %by_piecewise_all_error axes [1] keep : tensor<?x3xf32>
    %by_piecewise_all_total = nn.add %by_piecewise_total, %by_piecewise_all_loss : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %by_piecewise_all_total over [@by_natural, @by_natural_stairs, @by_inverse, @by_inverse_stairs, @by_polynomial, @by_polynomial_all, @by_piecewise, @by_piecewise_all] : tensor<?x1xf32>
  }
}
