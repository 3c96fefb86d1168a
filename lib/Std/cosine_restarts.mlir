//===- cosine_restarts.mlir - Cosine decay with restarts -------*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// floor + (rate - floor) * (1 + cos(pi * position / length)) / 2
//
// Loshchilov and Hutter, 2017. Each period starts at the base learning rate and
// falls along half a cosine to the learning rate `floor`. The first period has
// `steps` updates, and each following one is `growth` times as long. `position`
// is the number of completed updates of the period. A `growth` below 1 is
// rejected.
//
//===----------------------------------------------------------------------===//

nn.schedule @cosine_restarts hyper(steps = 1000.0 above 0.0, growth = 1.0 from 1.0,
    floor = 0.0 from 0.0) {
^bb0(%step: f64, %rate: f64, %steps: f64, %growth: f64, %floor: f64):
  %zero = arith.constant 0.0 : f64
  %half = arith.constant 0.5 : f64
  %one = arith.constant 1.0 : f64
  %pi = arith.constant 3.141592653589793 : f64
  %done = arith.subf %step, %one : f64
  %quotient = arith.divf %done, %steps : f64
  // The first n periods have (growth^n - 1) / (growth - 1) times `steps` updates,
  // or n times if all have the same length. Find the n for which that is `done`:
  %excess = arith.subf %growth, %one : f64
  %even = arith.cmpf oeq, %excess, %zero : f64
  %divisor = arith.select %even, %one, %excess : f64
  %grown = arith.mulf %quotient, %excess : f64
  %last_power = arith.addf %one, %grown : f64
  %last_log = math.log %last_power : f64
  %growth_log = math.log %growth : f64
  %uneven_periods = arith.divf %last_log, %growth_log : f64
  %periods = arith.select %even, %quotient, %uneven_periods : f64
  // Above 2^52, a double has no fraction, so adding and subtracting this number
  // rounds to the nearest integer. The result is this period or the next one.
  %shift = arith.constant 4503599627370496.0 : f64
  %shifted = arith.addf %periods, %shift : f64
  %nearest = arith.subf %shifted, %shift : f64
  %power = math.powf %growth, %nearest : f64
  %power_before = arith.subf %power, %one : f64
  %sum = arith.divf %power_before, %divisor : f64
  %lengths = arith.select %even, %nearest, %sum : f64
  %start = arith.mulf %steps, %lengths : f64
  %length = arith.mulf %steps, %power : f64
  %earlier_length = arith.divf %length, %growth : f64
  %earlier_start = arith.subf %start, %earlier_length : f64
  // Updates are integers, and rounding errors are less than one half.
  %late = arith.addf %done, %half : f64
  %begun = arith.cmpf oge, %late, %start : f64
  %own_start = arith.select %begun, %start, %earlier_start : f64
  %own_length = arith.select %begun, %length, %earlier_length : f64
  %behind = arith.subf %done, %own_start : f64
  %position = arith.maximumf %behind, %zero : f64
  %fraction = arith.divf %position, %own_length : f64
  %progress = arith.minimumf %fraction, %one : f64
  %angle = arith.mulf %pi, %progress : f64
  %cosine = math.cos %angle : f64
  %lifted = arith.addf %one, %cosine : f64
  %share = arith.mulf %half, %lifted : f64
  %span = arith.subf %rate, %floor : f64
  %above = arith.mulf %span, %share : f64
  %fallen = arith.addf %floor, %above : f64
  nn.yield %fallen : f64
}
