//===- adagrad.mlir - AdaGrad ----------------------------------*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// accumulator += gradient^2
// value       -= rate * gradient / (sqrt(accumulator) + epsilon)
//
// Duchi et al., 2011. Each element has its own learning rate. A zero gradient
// changes nothing, so a group with a table need not choose how untouched rows
// are updated. To change the initial accumulator, copy this rule and change the
// number after its slot.
//
//===----------------------------------------------------------------------===//

nn.rule @adagrad hyper(epsilon = 1.0e-10 from 0.0) slots(accumulator = 0.0) once {
^bb0(%step: f64, %rate: f64, %epsilon: f64):
  nn.yield %rate, %epsilon : f64, f64
} each {
^bb0(%value: f32, %gradient: f32, %accumulator: f32, %rate: f32, %epsilon: f32):
  %square = arith.mulf %gradient, %gradient : f32
  %new_accumulator = arith.addf %accumulator, %square : f32
  %root = math.sqrt %new_accumulator : f32
  %divisor = arith.addf %root, %epsilon : f32
  %direction = arith.divf %gradient, %divisor : f32
  %change = arith.mulf %rate, %direction : f32
  %new_value = arith.subf %value, %change : f32
  nn.yield %new_value, %new_accumulator : f32, f32
}
