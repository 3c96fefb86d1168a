//===- proximal_adagrad.mlir - Proximal AdaGrad ----------------*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// accumulator += gradient^2
// pace   = rate / sqrt(accumulator)
// moved  = value - pace * gradient
// value  = sign(moved) * max(|moved| - pace * l1, 0) / (1 + pace * l2)
//
// Duchi et al., 2011, by composite mirror descent: an element shrinks by its
// own pace, just as it moves by its own pace. (PaddlePaddle shrinks all
// elements by the learning rate.) The accumulator starts at 0.1, which bounds
// the pace. `l1` sets values to zero and keeps them there. Without l1 and l2, a
// zero gradient changes nothing. With one of them, a group with a table must
// choose untouched(lazy) or untouched(dense).
//
//===----------------------------------------------------------------------===//

nn.rule @proximal_adagrad hyper(l1 = 0.0 from 0.0, l2 = 0.0 from 0.0) slots(accumulator = 0.1) once {
^bb0(%step: f64, %rate: f64, %l1: f64, %l2: f64):
  nn.yield %rate, %l1, %l2 : f64, f64, f64
} each {
^bb0(%value: f32, %gradient: f32, %accumulator: f32, %rate: f32, %l1: f32, %l2: f32):
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %square = arith.mulf %gradient, %gradient : f32
  %new_accumulator = arith.addf %accumulator, %square : f32
  %root = math.sqrt %new_accumulator : f32
  %pace = arith.divf %rate, %root : f32
  %change = arith.mulf %pace, %gradient : f32
  %moved = arith.subf %value, %change : f32
  %threshold = arith.mulf %pace, %l1 : f32
  %size = math.absf %moved : f32
  %above = arith.subf %size, %threshold : f32
  %kept = arith.maximumf %above, %zero : f32
  %soft = math.copysign %kept, %moved : f32
  %sparse = arith.cmpf ogt, %l1, %zero : f32
  %cut = arith.select %sparse, %soft, %moved : f32
  // x / (1 + s) = x - s / (1 + s) * x, which is accurate in f32 for a small s.
  %strength = arith.mulf %pace, %l2 : f32
  %growth = arith.addf %one, %strength : f32
  %shrink = arith.divf %strength, %growth : f32
  %pull = arith.mulf %shrink, %cut : f32
  %new_value = arith.subf %cut, %pull : f32
  nn.yield %new_value, %new_accumulator : f32, f32
}
