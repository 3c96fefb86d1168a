//===- rowwise_adagrad.mlir - Row-wise AdaGrad -----------------*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// accumulator += mean of gradient^2 over the row
// value       -= rate / (sqrt(accumulator) + epsilon) * gradient
//
// AdaGrad with one accumulator per row instead of one per element. Tables with
// many narrow rows use it, because it costs one number per row. The rows of a
// parameter are those of its first dimension; a vector is one row. A zero
// gradient changes nothing, so a group with a table need not choose how
// untouched rows are updated.
//
//===----------------------------------------------------------------------===//

nn.rule @rowwise_adagrad hyper(epsilon = 1.0e-8 from 0.0) slots() row_slots(accumulator = 0.0) once {
^bb0(%step: f64, %rate: f64, %epsilon: f64):
  nn.yield %rate, %epsilon : f64, f64
} sum {
^bb0(%value: f32, %gradient: f32, %rate: f32, %epsilon: f32):
  %wide = arith.extf %gradient : f32 to f64
  %square = arith.mulf %wide, %wide : f64
  nn.yield %square : f64
} row {
^bb0(%width: f64, %squares: f64, %accumulator: f32, %rate: f32, %epsilon: f32):
  %mean = arith.divf %squares, %width : f64
  %added = arith.truncf %mean : f64 to f32
  %new_accumulator = arith.addf %accumulator, %added : f32
  %root = math.sqrt %new_accumulator : f32
  %divisor = arith.addf %root, %epsilon : f32
  %pace = arith.divf %rate, %divisor : f32
  nn.yield %new_accumulator, %pace : f32, f32
} each {
^bb0(%value: f32, %gradient: f32, %rate: f32, %epsilon: f32, %pace: f32):
  %change = arith.mulf %pace, %gradient : f32
  %new_value = arith.subf %value, %change : f32
  nn.yield %new_value : f32
}
