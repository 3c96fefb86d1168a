//===- warm_up.mlir - Linear warm-up ---------------------------*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// rate * min(step / steps, 1)
//
//===----------------------------------------------------------------------===//

nn.schedule @warm_up hyper(steps = 1000.0 from 0.0) {
^bb0(%step: f64, %rate: f64, %steps: f64):
  %one = arith.constant 1.0 : f64
  %progress = arith.divf %step, %steps : f64
  %factor = arith.minimumf %progress, %one : f64
  %now = arith.mulf %rate, %factor : f64
  nn.yield %now : f64
}
