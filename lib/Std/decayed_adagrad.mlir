//===- decayed_adagrad.mlir - AdaGrad with decay ---------------*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// accumulator = decay * accumulator + (1 - decay) * gradient^2
// value      -= rate * gradient / (sqrt(accumulator) + epsilon)
//
// The rule that PaddlePaddle calls DecayedAdagrad, with its default parameters.
// The formula is that of @rmsprop. The accumulator decays under a zero
// gradient, so a group with a table must choose untouched(lazy) or
// untouched(dense).
//
//===----------------------------------------------------------------------===//

nn.rule @decayed_adagrad hyper(decay = 0.95 from 0.0 below 1.0, epsilon = 1.0e-6 from 0.0) slots(accumulator = 0.0) once {
^bb0(%step: f64, %rate: f64, %decay: f64, %epsilon: f64):
  %one = arith.constant 1.0 : f64
  %rest = arith.subf %one, %decay : f64
  nn.yield %rate, %decay, %rest, %epsilon : f64, f64, f64, f64
} each {
^bb0(%value: f32, %gradient: f32, %accumulator: f32,
     %rate: f32, %decay: f32, %rest: f32, %epsilon: f32):
  %square = arith.mulf %gradient, %gradient : f32
  %kept = arith.mulf %decay, %accumulator : f32
  %added = arith.mulf %rest, %square : f32
  %new_accumulator = arith.addf %kept, %added : f32
  %root = math.sqrt %new_accumulator : f32
  %divisor = arith.addf %root, %epsilon : f32
  %direction = arith.divf %gradient, %divisor : f32
  %change = arith.mulf %rate, %direction : f32
  %new_value = arith.subf %value, %change : f32
  nn.yield %new_value, %new_accumulator : f32, f32
}
