//===- delay_compensation.mlir - Delay compensation ------------*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// gradient += strength * gradient^2 * (value - seen)
//
// Zheng et al., "Asynchronous Stochastic Gradient Descent with Delay
// Compensation", 2017. The formula is the first term of a Taylor series around
// the value for which the gradient was computed, with gradient^2 as the
// diagonal of the Hessian. This rule does not train: the clause `compensate` of
// a group names it, in addition to any training rule.
//
//===----------------------------------------------------------------------===//

nn.rule @delay_compensation of delays hyper(strength = 0.04 from 0.0) slots() once {
^bb0(%step: f64, %rate: f64, %strength: f64):
  nn.yield %strength : f64
} each {
^bb0(%value: f32, %gradient: f32, %seen: f32, %strength: f32):
  %moved = arith.subf %value, %seen : f32
  %square = arith.mulf %gradient, %gradient : f32
  %curvature = arith.mulf %strength, %square : f32
  %change = arith.mulf %curvature, %moved : f32
  %compensated = arith.addf %gradient, %change : f32
  nn.yield %compensated : f32
}
