//===- running_sum.mlir - Running sum with decay ---------------*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// value = decay * value + rate * sum
//
// For states. `nn.accumulate` provides the sum over all samples of a step,
// without division. Without decay and with learning rate 1, the state is a
// counter.
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
