//===- rmsprop_centered.mlir - Centered RMSprop ----------------*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mean        = rho * mean + (1 - rho) * gradient
// mean_square = rho * mean_square + (1 - rho) * gradient^2
// value      -= rate * gradient / (sqrt(mean_square - mean^2) + epsilon)
//
// Graves, 2013, without momentum, and with epsilon outside of the root. A
// constant gradient has no variance; then the value moves by up to rate *
// gradient / epsilon, so epsilon should be as large as the gradients that
// matter. Both running means decay under a zero gradient, so a group with a
// table must choose untouched(lazy) or untouched(dense).
//
//===----------------------------------------------------------------------===//

nn.rule @rmsprop_centered hyper(rho = 0.99 from 0.0 below 1.0, epsilon = 1.0e-8 from 0.0) slots(mean = 0.0, mean_square = 0.0) once {
^bb0(%step: f64, %rate: f64, %rho: f64, %epsilon: f64):
  %one = arith.constant 1.0 : f64
  %rest = arith.subf %one, %rho : f64
  nn.yield %rate, %rho, %rest, %epsilon : f64, f64, f64, f64
} each {
^bb0(%value: f32, %gradient: f32, %mean: f32, %mean_square: f32,
     %rate: f32, %rho: f32, %rest: f32, %epsilon: f32):
  %zero = arith.constant 0.0 : f32
  %kept_mean = arith.mulf %rho, %mean : f32
  %added_mean = arith.mulf %rest, %gradient : f32
  %new_mean = arith.addf %kept_mean, %added_mean : f32
  %square = arith.mulf %gradient, %gradient : f32
  %kept_square = arith.mulf %rho, %mean_square : f32
  %added_square = arith.mulf %rest, %square : f32
  %new_mean_square = arith.addf %kept_square, %added_square : f32
  %squared_mean = arith.mulf %new_mean, %new_mean : f32
  %difference = arith.subf %new_mean_square, %squared_mean : f32
  // Rounding may give a small negative number, which has no root.
  %variance = arith.maximumf %difference, %zero : f32
  %root = math.sqrt %variance : f32
  %divisor = arith.addf %root, %epsilon : f32
  %direction = arith.divf %gradient, %divisor : f32
  %change = arith.mulf %rate, %direction : f32
  %new_value = arith.subf %value, %change : f32
  nn.yield %new_value, %new_mean, %new_mean_square : f32, f32, f32
}
