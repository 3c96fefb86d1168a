//===- exponential.mlir - Exponential decay --------------------*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// rate * decay^((step - 1) / steps)
//
// `decay` is the factor per `steps` updates. With `staircase = 1.0`, the
// exponent is rounded down, so that the learning rate decreases in stairs of
// `steps` updates.
//
//===----------------------------------------------------------------------===//

nn.schedule @exponential hyper(decay = 0.96 from 0.0, steps = 1000.0 above 0.0, staircase = 0.0) {
^bb0(%step: f64, %rate: f64, %decay: f64, %steps: f64, %staircase: f64):
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  %done = arith.subf %step, %one : f64
  %exponent = arith.divf %done, %steps : f64
  // Above 2^52, a double has no fraction, so adding and subtracting this number
  // rounds to the nearest integer. A result that is too large is one too large.
  %shift = arith.constant 4503599627370496.0 : f64
  %shifted = arith.addf %exponent, %shift : f64
  %nearest = arith.subf %shifted, %shift : f64
  %below = arith.subf %nearest, %one : f64
  %too_large = arith.cmpf ogt, %nearest, %exponent : f64
  %floor = arith.select %too_large, %below, %nearest : f64
  %in_stairs = arith.cmpf one, %staircase, %zero : f64
  %power = arith.select %in_stairs, %floor, %exponent : f64
  %factor = math.powf %decay, %power : f64
  %now = arith.mulf %rate, %factor : f64
  nn.yield %now : f64
}
