//===- ema.mlir - Exponential moving average of weights --------*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For the clause `average` of a group. The value is the current average, and
// the gradient is the new value of the weight.
//
// weight   = decay * weight + (1 - decay)
// average += (1 - decay) / weight * (value - average)
//
// This is sum(decay^(t - i) * value_i) / sum(decay^(t - i)), the average that
// starts at zero and is divided by 1 - decay^t. The sum of the weights is a
// slot, so that each row of a table counts its own updates.
//
//===----------------------------------------------------------------------===//

nn.rule @ema of averages hyper(decay = 0.999 from 0.0 below 1.0) slots(weight = 0.0) once {
^bb0(%step: f64, %rate: f64, %decay: f64):
  %one = arith.constant 1.0 : f64
  %rest = arith.subf %one, %decay : f64
  nn.yield %decay, %rest : f64, f64
} each {
^bb0(%average: f32, %value: f32, %weight: f32, %decay: f32, %rest: f32):
  %kept = arith.mulf %decay, %weight : f32
  %new_weight = arith.addf %kept, %rest : f32
  %share = arith.divf %rest, %new_weight : f32
  %difference = arith.subf %value, %average : f32
  %change = arith.mulf %share, %difference : f32
  %new_average = arith.addf %average, %change : f32
  nn.yield %new_average, %new_weight : f32, f32
}
