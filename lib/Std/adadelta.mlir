//===- adadelta.mlir - Adadelta --------------------------------*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mean_square = rho * mean_square + (1 - rho) * gradient^2
// pace        = sqrt(mean_change + epsilon) / sqrt(mean_square + epsilon)
// direction   = pace * gradient
// mean_change = rho * mean_change + (1 - rho) * direction^2
// value      -= rate * direction
//
// Zeiler, 2012, with a learning rate of 1. Both running means decay under a
// zero gradient, so a group with a table must choose untouched(lazy) or
// untouched(dense).
//
//===----------------------------------------------------------------------===//

nn.rule @adadelta hyper(rho = 0.9 from 0.0 below 1.0, epsilon = 1.0e-6 from 0.0) slots(mean_square = 0.0, mean_change = 0.0) once {
^bb0(%step: f64, %rate: f64, %rho: f64, %epsilon: f64):
  %one = arith.constant 1.0 : f64
  %rest = arith.subf %one, %rho : f64
  nn.yield %rate, %rho, %rest, %epsilon : f64, f64, f64, f64
} each {
^bb0(%value: f32, %gradient: f32, %mean_square: f32, %mean_change: f32,
     %rate: f32, %rho: f32, %rest: f32, %epsilon: f32):
  %square = arith.mulf %gradient, %gradient : f32
  %kept_square = arith.mulf %rho, %mean_square : f32
  %added_square = arith.mulf %rest, %square : f32
  %new_mean_square = arith.addf %kept_square, %added_square : f32
  %raised_square = arith.addf %new_mean_square, %epsilon : f32
  %gradient_size = math.sqrt %raised_square : f32
  %raised_change = arith.addf %mean_change, %epsilon : f32
  %change_size = math.sqrt %raised_change : f32
  %pace = arith.divf %change_size, %gradient_size : f32
  %direction = arith.mulf %pace, %gradient : f32
  %squared_direction = arith.mulf %direction, %direction : f32
  %kept_change = arith.mulf %rho, %mean_change : f32
  %added_change = arith.mulf %rest, %squared_direction : f32
  %new_mean_change = arith.addf %kept_change, %added_change : f32
  %change = arith.mulf %rate, %direction : f32
  %new_value = arith.subf %value, %change : f32
  nn.yield %new_value, %new_mean_square, %new_mean_change : f32, f32, f32
}
