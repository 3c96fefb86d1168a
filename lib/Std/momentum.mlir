//===- momentum.mlir - Gradient descent with momentum ----------*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// velocity = momentum * velocity + gradient
// value   -= rate * velocity
//
// A row keeps moving under a zero gradient, so a group with a table must choose
// untouched(lazy) or untouched(dense).
//
//===----------------------------------------------------------------------===//

nn.rule @momentum hyper(momentum = 0.9 from 0.0 below 1.0) slots(velocity = 0.0) once {
^bb0(%step: f64, %rate: f64, %momentum: f64):
  nn.yield %rate, %momentum : f64, f64
} each {
^bb0(%value: f32, %gradient: f32, %velocity: f32, %rate: f32, %momentum: f32):
  %kept = arith.mulf %momentum, %velocity : f32
  %new_velocity = arith.addf %kept, %gradient : f32
  %change = arith.mulf %rate, %new_velocity : f32
  %new_value = arith.subf %value, %change : f32
  nn.yield %new_value, %new_velocity : f32, f32
}
