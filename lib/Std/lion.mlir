//===- lion.mlir - Lion ----------------------------------------*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mixed  = beta1 * m + (1 - beta1) * gradient
// value -= rate * (sign(mixed) + weight_decay * value)
// m      = beta2 * m + (1 - beta2) * gradient
//
// Chen et al., 2023; sign(0) is 0. Each element moves by the full learning
// rate, so learning rates should be a tenth of Adam's or less. `weight_decay`
// is decoupled, as in @adamw. A row keeps moving under a zero gradient, so a
// group with a table must choose untouched(lazy) or untouched(dense).
//
//===----------------------------------------------------------------------===//

nn.rule @lion hyper(beta1 = 0.9 from 0.0 below 1.0, beta2 = 0.99 from 0.0 below 1.0,
    weight_decay = 0.0 from 0.0) slots(m = 0.0) once {
^bb0(%step: f64, %rate: f64, %beta1: f64, %beta2: f64, %weight_decay: f64):
  %one = arith.constant 1.0 : f64
  %rest1 = arith.subf %one, %beta1 : f64
  %rest2 = arith.subf %one, %beta2 : f64
  %shrink = arith.mulf %rate, %weight_decay : f64
  nn.yield %rate, %beta1, %rest1, %beta2, %rest2, %shrink : f64, f64, f64, f64, f64, f64
} each {
^bb0(%value: f32, %gradient: f32, %m: f32,
     %rate: f32, %beta1: f32, %rest1: f32, %beta2: f32, %rest2: f32, %shrink: f32):
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %old_part = arith.mulf %beta1, %m : f32
  %new_part = arith.mulf %rest1, %gradient : f32
  %mixed = arith.addf %old_part, %new_part : f32
  %side = math.copysign %one, %mixed : f32
  %stands = arith.cmpf oeq, %mixed, %zero : f32
  %direction = arith.select %stands, %zero, %side : f32
  %move = arith.mulf %rate, %direction : f32
  %pull = arith.mulf %shrink, %value : f32
  %change = arith.addf %move, %pull : f32
  %new_value = arith.subf %value, %change : f32
  %kept = arith.mulf %beta2, %m : f32
  %added = arith.mulf %rest2, %gradient : f32
  %new_m = arith.addf %kept, %added : f32
  nn.yield %new_value, %new_m : f32, f32
}
