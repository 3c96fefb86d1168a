//===- clip_norm/model.mlir - Clip of each symbol by its own norm -*- mlir -*-===//
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

module @clip_norm {
  nn.record @sample {
    nn.field @x : tensor<?x3xf32>
    nn.field @target : tensor<?x3xf32>
    nn.field @ids : tensor<?x2xi64>
  }
  nn.clip @each : norm(2.5)
  nn.group @first rule(@sgd) rate(0.0625) clip(@each) untouched(lazy)
  nn.param @first_p : tensor<3xf32> in @first init(#nn.zeros)
  nn.table @first_t : i64 -> tensor<3xf32> in @first init(#nn.zeros)
  nn.group @second rule(@adam) rate(0.0625) decay(#nn.l2<0.25>) clip(@each) untouched(lazy)
  nn.param @second_p : tensor<3xf32> in @second init(#nn.zeros)
  nn.table @second_t : i64 -> tensor<3xf32> in @second init(#nn.zeros)
  nn.group @moving rule(@momentum) rate(0.0625) clip(@each) untouched(dense)
  nn.param @moving_p : tensor<3xf32> in @moving init(#nn.zeros)
  nn.table @moving_t : i64 -> tensor<3xf32> in @moving init(#nn.zeros)
  nn.group @free rule(@sgd) rate(0.0625) untouched(lazy)
  nn.param @free_p : tensor<3xf32> in @free init(#nn.zeros)
  nn.table @free_t : i64 -> tensor<3xf32> in @free init(#nn.zeros)
  nn.program @train reads(@sample) {
  ^bb0(%x: tensor<?x3xf32>, %target: tensor<?x3xf32>, %ids: tensor<?x2xi64>):
    %first_p = nn.read @first_p : tensor<3xf32>
    %first_rows = nn.lookup @first_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %first_sum = nn.reduce sum %first_rows axes [1] : tensor<?x2x3xf32>
    %first_product = nn.mul %x, %first_p : tensor<?x3xf32>, tensor<3xf32>
    %first_value = nn.add %first_product, %first_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %first_error = nn.squared_error %first_value, %target : tensor<?x3xf32>
    %first_loss = nn.reduce sum %first_error axes [1] keep : tensor<?x3xf32>
    %second_p = nn.read @second_p : tensor<3xf32>
    %second_rows = nn.lookup @second_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %second_sum = nn.reduce sum %second_rows axes [1] : tensor<?x2x3xf32>
    %second_product = nn.mul %x, %second_p : tensor<?x3xf32>, tensor<3xf32>
    %second_value = nn.add %second_product, %second_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %second_error = nn.squared_error %second_value, %target : tensor<?x3xf32>
    %second_loss = nn.reduce sum %second_error axes [1] keep : tensor<?x3xf32>
    %second_total = nn.add %first_loss, %second_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %moving_p = nn.read @moving_p : tensor<3xf32>
    %moving_rows = nn.lookup @moving_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %moving_sum = nn.reduce sum %moving_rows axes [1] : tensor<?x2x3xf32>
    %moving_product = nn.mul %x, %moving_p : tensor<?x3xf32>, tensor<3xf32>
    %moving_value = nn.add %moving_product, %moving_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %moving_error = nn.squared_error %moving_value, %target : tensor<?x3xf32>
    %moving_loss = nn.reduce sum %moving_error axes [1] keep : tensor<?x3xf32>
    %moving_total = nn.add %second_total, %moving_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %free_p = nn.read @free_p : tensor<3xf32>
    %free_rows = nn.lookup @free_t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %free_sum = nn.reduce sum %free_rows axes [1] : tensor<?x2x3xf32>
    %free_product = nn.mul %x, %free_p : tensor<?x3xf32>, tensor<3xf32>
    %free_value = nn.add %free_product, %free_sum : tensor<?x3xf32>, tensor<?x3xf32>
    %free_error = nn.squared_error %free_value, %target : tensor<?x3xf32>
    %free_loss = nn.reduce sum %free_error axes [1] keep : tensor<?x3xf32>
    %free_total = nn.add %moving_total, %free_loss : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %free_total over [@first, @second, @moving, @free] : tensor<?x1xf32>
  }
}
