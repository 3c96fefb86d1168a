//===- noam.mlir - Schedule of the transformer -----------------*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// rate * width^(-1/2) * min(step^(-1/2), step * warm_up^(-3/2))
//
// Vaswani et al., 2017: a linear rise during `warm_up` updates, then the
// inverse square root of the step. `width` is the width of the model's layers.
// The group's learning rate is a factor, which is 1 in the paper. The maximum
// is rate / sqrt(width * warm_up).
//
//===----------------------------------------------------------------------===//

nn.schedule @noam hyper(width = 512.0 above 0.0, warm_up = 4000.0 from 0.0) {
^bb0(%step: f64, %rate: f64, %width: f64, %warm_up: f64):
  %one = arith.constant 1.0 : f64
  %power = arith.constant -1.5 : f64
  %root = math.sqrt %step : f64
  %falling = arith.divf %one, %root : f64
  %slope = math.powf %warm_up, %power : f64
  %rising = arith.mulf %step, %slope : f64
  %course = arith.minimumf %falling, %rising : f64
  %scale = math.sqrt %width : f64
  %largest = arith.divf %rate, %scale : f64
  %now = arith.mulf %largest, %course : f64
  nn.yield %now : f64
}
