//===- bounded_adagrad.mlir - Row-wise AdaGrad with bounds -----*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// value       -= rate * sqrt(initial / (initial + accumulator)) * gradient
// value        = max(min(value, bound), -bound)
// accumulator += mean of gradient^2 over the row
//
// The rule of PaddlePaddle's sparse tables (SparseAdaGradSGDRule). The first
// step uses the full learning rate, because the accumulator of a step takes
// effect in the next step. In PaddlePaddle, a gradient is divided by the number
// of shows of its row in the step, which this rule does not know. A value
// outside of the bounds moves under a zero gradient, so a group with a table
// must choose untouched(lazy) or untouched(dense).
//
//===----------------------------------------------------------------------===//

nn.rule @bounded_adagrad hyper(initial = 3.0 above 0.0, bound = 10.0 above 0.0) slots() row_slots(accumulator = 0.0) once {
^bb0(%step: f64, %rate: f64, %initial: f64, %bound: f64):
  %least = arith.negf %bound : f64
  nn.yield %rate, %initial, %bound, %least : f64, f64, f64, f64
} sum {
^bb0(%value: f32, %gradient: f32, %rate: f32, %initial: f32, %bound: f32, %least: f32):
  %wide = arith.extf %gradient : f32 to f64
  %square = arith.mulf %wide, %wide : f64
  nn.yield %square : f64
} row {
^bb0(%width: f64, %squares: f64, %accumulator: f32, %rate: f32, %initial: f32, %bound: f32, %least: f32):
  %sum = arith.addf %initial, %accumulator : f32
  %share = arith.divf %initial, %sum : f32
  %root = math.sqrt %share : f32
  %pace = arith.mulf %rate, %root : f32
  %mean = arith.divf %squares, %width : f64
  %added = arith.truncf %mean : f64 to f32
  %new_accumulator = arith.addf %accumulator, %added : f32
  nn.yield %new_accumulator, %pace : f32, f32
} each {
^bb0(%value: f32, %gradient: f32, %rate: f32, %initial: f32, %bound: f32, %least: f32, %pace: f32):
  %change = arith.mulf %pace, %gradient : f32
  %moved = arith.subf %value, %change : f32
  %below = arith.minimumf %moved, %bound : f32
  %new_value = arith.maximumf %below, %least : f32
  nn.yield %new_value : f32
}
