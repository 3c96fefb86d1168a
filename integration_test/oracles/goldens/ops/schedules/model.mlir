//===- schedules/model.mlir - Every schedule -*- mlir -*-===//
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

module @schedules {
  nn.record @sample {
    nn.field @x : tensor<?x3xf32>
    nn.field @target : tensor<?x3xf32>
    nn.field @ids : tensor<?x2xi64>
  }
  nn.group @by_constant rule(@sgd) rate(0.0625) schedule(@constant)
  nn.param @by_constant_p : tensor<3xf32> in @by_constant init(#nn.zeros)
  nn.table @by_constant_t : i64 -> tensor<3xf32> in @by_constant init(#nn.zeros)
  nn.group @by_exponential rule(@sgd) rate(0.0625) schedule(@exponential {decay = 0.5, steps = 4.0})
  nn.param @by_exponential_p : tensor<3xf32> in @by_exponential init(#nn.zeros)
  nn.table @by_exponential_t : i64 -> tensor<3xf32> in @by_exponential init(#nn.zeros)
  nn.group @by_stairs rule(@sgd) rate(0.0625) schedule(@exponential {decay = 0.5, steps = 3.0, staircase = 1.0})
  nn.param @by_stairs_p : tensor<3xf32> in @by_stairs init(#nn.zeros)
  nn.table @by_stairs_t : i64 -> tensor<3xf32> in @by_stairs init(#nn.zeros)
  nn.group @by_warm_up rule(@sgd) rate(0.0625) schedule(@warm_up {steps = 5.0})
  nn.param @by_warm_up_p : tensor<3xf32> in @by_warm_up init(#nn.zeros)
  nn.table @by_warm_up_t : i64 -> tensor<3xf32> in @by_warm_up init(#nn.zeros)
  nn.group @by_cosine rule(@sgd) rate(0.0625) schedule(@cosine {steps = 8.0})
  nn.param @by_cosine_p : tensor<3xf32> in @by_cosine init(#nn.zeros)
  nn.table @by_cosine_t : i64 -> tensor<3xf32> in @by_cosine init(#nn.zeros)
  nn.group @by_cosine_all rule(@sgd) rate(0.0625) schedule(@cosine {steps = 5.0, floor = 0.015625, warm_up = 3.0})
  nn.param @by_cosine_all_p : tensor<3xf32> in @by_cosine_all init(#nn.zeros)
  nn.table @by_cosine_all_t : i64 -> tensor<3xf32> in @by_cosine_all init(#nn.zeros)
  nn.program @train reads(@sample) {
  ^bb0(%x: tensor<?x3xf32>, %target: tensor<?x3xf32>, %ids: tensor<?x2xi64>):
    %by_constant_p = nn.read @by_constant_p : tensor<3xf32>
    %by_constant_rows = nn.lookup @by_constant_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_constant_sum = nn.reduce sum %by_constant_rows axes [1] : tensor<?x2x3xf32>
    %by_constant_product = nn.mul %x, %by_constant_p : tensor<?x3xf32>, tensor<3xf32>
    %by_constant_value = nn.add %by_constant_product, %by_constant_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_constant_error = nn.squared_error %by_constant_value, %target : tensor<?x3xf32>
    %by_constant_loss = nn.reduce sum %by_constant_error axes [1] keep : tensor<?x3xf32>
    %by_exponential_p = nn.read @by_exponential_p : tensor<3xf32>
    %by_exponential_rows = nn.lookup @by_exponential_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_exponential_sum = nn.reduce sum %by_exponential_rows axes [1] : tensor<?x2x3xf32>
    %by_exponential_product = nn.mul %x, %by_exponential_p : tensor<?x3xf32>, tensor<3xf32>
    %by_exponential_value = nn.add %by_exponential_product, %by_exponential_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_exponential_error = nn.squared_error %by_exponential_value, %target : tensor<?x3xf32>
    %by_exponential_loss = nn.reduce sum %by_exponential_error axes [1] keep : tensor<?x3xf32>
    %by_exponential_total = nn.add %by_constant_loss, %by_exponential_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_stairs_p = nn.read @by_stairs_p : tensor<3xf32>
    %by_stairs_rows = nn.lookup @by_stairs_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_stairs_sum = nn.reduce sum %by_stairs_rows axes [1] : tensor<?x2x3xf32>
    %by_stairs_product = nn.mul %x, %by_stairs_p : tensor<?x3xf32>, tensor<3xf32>
    %by_stairs_value = nn.add %by_stairs_product, %by_stairs_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_stairs_error = nn.squared_error %by_stairs_value, %target : tensor<?x3xf32>
    %by_stairs_loss = nn.reduce sum %by_stairs_error axes [1] keep : tensor<?x3xf32>
    %by_stairs_total = nn.add %by_exponential_total, %by_stairs_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_warm_up_p = nn.read @by_warm_up_p : tensor<3xf32>
    %by_warm_up_rows = nn.lookup @by_warm_up_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_warm_up_sum = nn.reduce sum %by_warm_up_rows axes [1] : tensor<?x2x3xf32>
    %by_warm_up_product = nn.mul %x, %by_warm_up_p : tensor<?x3xf32>, tensor<3xf32>
    %by_warm_up_value = nn.add %by_warm_up_product, %by_warm_up_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_warm_up_error = nn.squared_error %by_warm_up_value, %target : tensor<?x3xf32>
    %by_warm_up_loss = nn.reduce sum %by_warm_up_error axes [1] keep : tensor<?x3xf32>
    %by_warm_up_total = nn.add %by_stairs_total, %by_warm_up_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_cosine_p = nn.read @by_cosine_p : tensor<3xf32>
    %by_cosine_rows = nn.lookup @by_cosine_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_cosine_sum = nn.reduce sum %by_cosine_rows axes [1] : tensor<?x2x3xf32>
    %by_cosine_product = nn.mul %x, %by_cosine_p : tensor<?x3xf32>, tensor<3xf32>
    %by_cosine_value = nn.add %by_cosine_product, %by_cosine_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_cosine_error = nn.squared_error %by_cosine_value, %target : tensor<?x3xf32>
    %by_cosine_loss = nn.reduce sum %by_cosine_error axes [1] keep : tensor<?x3xf32>
    %by_cosine_total = nn.add %by_warm_up_total, %by_cosine_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %by_cosine_all_p = nn.read @by_cosine_all_p : tensor<3xf32>
    %by_cosine_all_rows = nn.lookup @by_cosine_all_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %by_cosine_all_sum = nn.reduce sum %by_cosine_all_rows axes [1] : tensor<?x2x3xf32>
    %by_cosine_all_product = nn.mul %x, %by_cosine_all_p : tensor<?x3xf32>, tensor<3xf32>
    %by_cosine_all_value = nn.add %by_cosine_all_product, %by_cosine_all_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %by_cosine_all_error = nn.squared_error %by_cosine_all_value, %target : tensor<?x3xf32>
    %by_cosine_all_loss = nn.reduce sum %by_cosine_all_error axes [1] keep : tensor<?x3xf32>
    %by_cosine_all_total = nn.add %by_cosine_total, %by_cosine_all_loss : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %by_cosine_all_total over [@by_constant, @by_exponential, @by_stairs, @by_warm_up, @by_cosine, @by_cosine_all] : tensor<?x1xf32>
  }
}
