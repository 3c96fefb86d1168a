//===- polynomial.mlir - Polynomial decay ----------------------*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// floor + (rate - floor) * (1 - done / span)^power
//
// Without `cycle`, done = min(step - 1, steps) and span = steps: after `steps`
// updates the learning rate stays at `floor`. With `cycle = 1.0`, done = step -
// 1, and span is the smallest multiple of `steps` that is not below it: each
// time the learning rate reaches the floor, it restarts at a lower value.
//
//===----------------------------------------------------------------------===//

nn.schedule @polynomial hyper(steps = 1000.0 above 0.0, floor = 0.0 from 0.0,
    power = 1.0 above 0.0, cycle = 0.0) {
^bb0(%step: f64, %rate: f64, %steps: f64, %floor: f64, %power: f64, %cycle: f64):
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  %done = arith.subf %step, %one : f64
  %stopped = arith.minimumf %done, %steps : f64
  %periods = arith.divf %done, %steps : f64
  // Above 2^52, a double has no fraction, so adding and subtracting this number
  // rounds to the nearest integer. A result that is too small is one too small.
  %shift = arith.constant 4503599627370496.0 : f64
  %shifted = arith.addf %periods, %shift : f64
  %nearest = arith.subf %shifted, %shift : f64
  %above = arith.addf %nearest, %one : f64
  %too_small = arith.cmpf olt, %nearest, %periods : f64
  %ceiling = arith.select %too_small, %above, %nearest : f64
  %begun = arith.maximumf %ceiling, %one : f64
  %longer = arith.mulf %steps, %begun : f64
  %in_cycles = arith.cmpf one, %cycle, %zero : f64
  %passed = arith.select %in_cycles, %done, %stopped : f64
  %span = arith.select %in_cycles, %longer, %steps : f64
  %fraction = arith.divf %passed, %span : f64
  %left = arith.subf %one, %fraction : f64
  // Rounding may give a small negative number, which has no power.
  %rest = arith.maximumf %left, %zero : f64
  %share = math.powf %rest, %power : f64
  %height = arith.subf %rate, %floor : f64
  %lifted = arith.mulf %height, %share : f64
  %now = arith.addf %floor, %lifted : f64
  // With periods of length zero, the result is NaN.
  %nothing = arith.divf %zero, %zero : f64
  %runs = arith.cmpf ogt, %steps, %zero : f64
  %valid = arith.select %runs, %now, %nothing : f64
  nn.yield %valid : f64
}
