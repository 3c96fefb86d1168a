//===- proximal_sgd.mlir - Proximal gradient descent -----------*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// moved = value - rate * gradient
// value = sign(moved) * max(|moved| - rate * l1, 0) / (1 + rate * l2)
//
// Forward-backward splitting, Duchi and Singer, 2009, for l1 * |value| + l2 / 2
// * value^2. `l1` sets values to zero and keeps them there, while
// decay(#nn.l1<c>) makes them oscillate around zero. Without l1 and l2, a zero
// gradient changes nothing. With one of them, a group with a table must choose
// untouched(lazy) or untouched(dense).
//
//===----------------------------------------------------------------------===//

nn.rule @proximal_sgd hyper(l1 = 0.0 from 0.0, l2 = 0.0 from 0.0) slots() once {
^bb0(%step: f64, %rate: f64, %l1: f64, %l2: f64):
  %one = arith.constant 1.0 : f64
  %threshold = arith.mulf %rate, %l1 : f64
  %strength = arith.mulf %rate, %l2 : f64
  %growth = arith.addf %one, %strength : f64
  // x / (1 + s) = x - s / (1 + s) * x, which is accurate in f32 for a small s.
  %shrink = arith.divf %strength, %growth : f64
  nn.yield %rate, %threshold, %shrink : f64, f64, f64
} each {
^bb0(%value: f32, %gradient: f32, %rate: f32, %threshold: f32, %shrink: f32):
  %zero = arith.constant 0.0 : f32
  %change = arith.mulf %rate, %gradient : f32
  %moved = arith.subf %value, %change : f32
  %size = math.absf %moved : f32
  %above = arith.subf %size, %threshold : f32
  %kept = arith.maximumf %above, %zero : f32
  %soft = math.copysign %kept, %moved : f32
  %sparse = arith.cmpf ogt, %threshold, %zero : f32
  %cut = arith.select %sparse, %soft, %moved : f32
  %pull = arith.mulf %shrink, %cut : f32
  %new_value = arith.subf %cut, %pull : f32
  nn.yield %new_value : f32
}
