//===- running_sum.mlir - A sum that fades ---------------------*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// value = decay * value + rate * sum
//
// For states: `nn.accumulate` brings the sum over all samples of a step, which
// nothing has divided. Without decay, and at rate 1, it counts.
//
//===----------------------------------------------------------------------===//

nn.rule @running_sum of states undivided hyper(decay = 1.0 from 0.0 to 1.0) slots() once {
^bb0(%step: f64, %rate: f64, %decay: f64):
  nn.yield %rate, %decay : f64, f64
} each {
^bb0(%value: f32, %sum: f32, %rate: f32, %decay: f32):
  %kept = arith.mulf %decay, %value : f32
  %added = arith.mulf %rate, %sum : f32
  %new_value = arith.addf %kept, %added : f32
  nn.yield %new_value : f32
}
