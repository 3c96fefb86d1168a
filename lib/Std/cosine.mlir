//===- cosine.mlir - Cosine decay ------------------------------*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The learning rate rises linearly to the base rate during the first `warm_up`
// updates (none by default). During the following `steps` updates it falls
// along half a cosine to the learning rate `floor`, where it stays:
//
// progress = min(max(step - 1 - warm_up, 0) / steps, 1)
// min(step / warm_up, 1) * (floor + (rate - floor) * (1 + cos(pi * progress)) / 2)
//
// Loshchilov and Hutter, 2017, without restarts.
//
//===----------------------------------------------------------------------===//

nn.schedule @cosine hyper(steps = 1000.0 above 0.0, floor = 0.0 from 0.0, warm_up = 0.0 from 0.0) {
^bb0(%step: f64, %rate: f64, %steps: f64, %floor: f64, %warm_up: f64):
  %zero = arith.constant 0.0 : f64
  %half = arith.constant 0.5 : f64
  %one = arith.constant 1.0 : f64
  %pi = arith.constant 3.141592653589793 : f64
  %done = arith.subf %step, %one : f64
  %after = arith.subf %done, %warm_up : f64
  %falling = arith.maximumf %after, %zero : f64
  %fraction = arith.divf %falling, %steps : f64
  %progress = arith.minimumf %fraction, %one : f64
  %angle = arith.mulf %pi, %progress : f64
  %cosine = math.cos %angle : f64
  %lifted = arith.addf %one, %cosine : f64
  %share = arith.mulf %half, %lifted : f64
  %span = arith.subf %rate, %floor : f64
  %above = arith.mulf %span, %share : f64
  %fallen = arith.addf %floor, %above : f64
  // Without a warm-up, this divides by one, and every step is after it.
  %rise = arith.maximumf %warm_up, %one : f64
  %risen = arith.divf %step, %rise : f64
  %warmth = arith.minimumf %risen, %one : f64
  %now = arith.mulf %warmth, %fallen : f64
  nn.yield %now : f64
}
