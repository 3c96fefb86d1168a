//===- adamax.mlir - Adam with the maximum norm ----------------*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// m = beta1 * m + (1 - beta1) * gradient
// u = max(beta2 * u, |gradient| + epsilon)
// value -= rate / (1 - beta1^step) * m / u
//
// Kingma and Ba, 2015, section 7.1; epsilon keeps u above zero. The bias
// correction is computed once per group, from the number of its steps. A row
// keeps moving under a zero gradient, so a group with a table must choose
// untouched(lazy) or untouched(dense).
//
//===----------------------------------------------------------------------===//

nn.rule @adamax hyper(beta1 = 0.9 from 0.0 below 1.0, beta2 = 0.999 from 0.0 below 1.0,
    epsilon = 1.0e-8 from 0.0) slots(m = 0.0, u = 0.0) once {
^bb0(%step: f64, %rate: f64, %beta1: f64, %beta2: f64, %epsilon: f64):
  %one = arith.constant 1.0 : f64
  %rest1 = arith.subf %one, %beta1 : f64
  %power1 = math.powf %beta1, %step : f64
  %correction1 = arith.subf %one, %power1 : f64
  %step_size = arith.divf %rate, %correction1 : f64
  nn.yield %step_size, %beta1, %rest1, %beta2, %epsilon : f64, f64, f64, f64, f64
} each {
^bb0(%value: f32, %gradient: f32, %m: f32, %u: f32,
     %step_size: f32, %beta1: f32, %rest1: f32, %beta2: f32, %epsilon: f32):
  %kept_m = arith.mulf %beta1, %m : f32
  %added_m = arith.mulf %rest1, %gradient : f32
  %new_m = arith.addf %kept_m, %added_m : f32
  %size = math.absf %gradient : f32
  %raised = arith.addf %size, %epsilon : f32
  %kept_u = arith.mulf %beta2, %u : f32
  %new_u = arith.maximumf %kept_u, %raised : f32
  %direction = arith.divf %new_m, %new_u : f32
  %change = arith.mulf %step_size, %direction : f32
  %new_value = arith.subf %value, %change : f32
  nn.yield %new_value, %new_m, %new_u : f32, f32, f32
}
