//===- inverse_time.mlir - Inverse time decay ------------------*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// rate / (1 + decay * (step - 1) / steps)
//
// With `staircase = 1.0`, the quotient is rounded down, so that the learning
// rate decreases in stairs of `steps` updates.
//
//===----------------------------------------------------------------------===//

nn.schedule @inverse_time hyper(decay = 0.5 from 0.0, steps = 1000.0 above 0.0, staircase = 0.0) {
^bb0(%step: f64, %rate: f64, %decay: f64, %steps: f64, %staircase: f64):
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  %done = arith.subf %step, %one : f64
  %periods = arith.divf %done, %steps : f64
  // Above 2^52, a double has no fraction, so adding and subtracting this number
  // rounds to the nearest integer. A result that is too large is one too large.
  %shift = arith.constant 4503599627370496.0 : f64
  %shifted = arith.addf %periods, %shift : f64
  %nearest = arith.subf %shifted, %shift : f64
  %below = arith.subf %nearest, %one : f64
  %too_large = arith.cmpf ogt, %nearest, %periods : f64
  %floor = arith.select %too_large, %below, %nearest : f64
  %in_stairs = arith.cmpf one, %staircase, %zero : f64
  %passed = arith.select %in_stairs, %floor, %periods : f64
  %grown = arith.mulf %decay, %passed : f64
  %divisor = arith.addf %one, %grown : f64
  %now = arith.divf %rate, %divisor : f64
  nn.yield %now : f64
}
