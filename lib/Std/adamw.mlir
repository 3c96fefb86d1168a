//===- adamw.mlir - Adam with decoupled weight decay -----------*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// m = beta1 * m + (1 - beta1) * gradient
// v = beta2 * v + (1 - beta2) * gradient^2
// value -= rate / (1 - beta1^step) * m / (sqrt(v / (1 - beta2^step)) + epsilon)
//        + rate * weight_decay * value
//
// Loshchilov and Hutter, 2019. `weight_decay` reduces the value directly,
// scaled by the learning rate of the step. In contrast, a group's
// decay(#nn.l2<c>) adds c * value to the gradient, from which the moments are
// computed, so it affects elements with large gradients less. A group may use
// either or both.
//
// A row keeps moving under a zero gradient, so a group with a table must choose
// untouched(lazy) or untouched(dense). With untouched(lazy), a row decays only
// when a batch uses it.
//
//===----------------------------------------------------------------------===//

nn.rule @adamw hyper(beta1 = 0.9 from 0.0 below 1.0, beta2 = 0.999 from 0.0 below 1.0,
    epsilon = 1.0e-8 from 0.0, weight_decay = 0.01 from 0.0) slots(m = 0.0, v = 0.0) once {
^bb0(%step: f64, %rate: f64, %beta1: f64, %beta2: f64, %epsilon: f64, %weight_decay: f64):
  %one = arith.constant 1.0 : f64
  %rest1 = arith.subf %one, %beta1 : f64
  %rest2 = arith.subf %one, %beta2 : f64
  %power1 = math.powf %beta1, %step : f64
  %power2 = math.powf %beta2, %step : f64
  %correction1 = arith.subf %one, %power1 : f64
  %correction2 = arith.subf %one, %power2 : f64
  %step_size = arith.divf %rate, %correction1 : f64
  %root2 = math.sqrt %correction2 : f64
  %scale = arith.divf %one, %root2 : f64
  %shrink = arith.mulf %rate, %weight_decay : f64
  nn.yield %step_size, %scale, %beta1, %rest1, %beta2, %rest2, %epsilon, %shrink
    : f64, f64, f64, f64, f64, f64, f64, f64
} each {
^bb0(%value: f32, %gradient: f32, %m: f32, %v: f32,
     %step_size: f32, %scale: f32, %beta1: f32, %rest1: f32, %beta2: f32, %rest2: f32, %epsilon: f32,
     %shrink: f32):
  %kept_m = arith.mulf %beta1, %m : f32
  %added_m = arith.mulf %rest1, %gradient : f32
  %new_m = arith.addf %kept_m, %added_m : f32
  %square = arith.mulf %gradient, %gradient : f32
  %kept_v = arith.mulf %beta2, %v : f32
  %added_v = arith.mulf %rest2, %square : f32
  %new_v = arith.addf %kept_v, %added_v : f32
  %root = math.sqrt %new_v : f32
  %corrected = arith.mulf %root, %scale : f32
  %divisor = arith.addf %corrected, %epsilon : f32
  %direction = arith.divf %new_m, %divisor : f32
  %move = arith.mulf %step_size, %direction : f32
  // Avoid value * (1 - shrink): near one, f32 is too coarse for a small shrink.
  %pull = arith.mulf %shrink, %value : f32
  %change = arith.addf %move, %pull : f32
  %new_value = arith.subf %value, %change : f32
  nn.yield %new_value, %new_m, %new_v : f32, f32, f32
}
