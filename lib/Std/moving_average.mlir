//===- moving_average.mlir - Exponential average of a state ----*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// value += rate * (mean - value)
//
// For states. `nn.accumulate` provides the mean over all samples of a step. The
// learning rate is 1 - momentum. A row moves under a zero gradient, so a group
// with a table must choose untouched(lazy) or untouched(dense).
//
//===----------------------------------------------------------------------===//

nn.rule @moving_average of states hyper() slots() once {
^bb0(%step: f64, %rate: f64):
  nn.yield %rate : f64
} each {
^bb0(%value: f32, %mean: f32, %rate: f32):
  %distance = arith.subf %mean, %value : f32
  %change = arith.mulf %rate, %distance : f32
  %new_value = arith.addf %value, %change : f32
  nn.yield %new_value : f32
}
