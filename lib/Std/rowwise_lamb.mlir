//===- rowwise_lamb.mlir - LAMB with norms of rows -------------*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// m = beta1 * m + (1 - beta1) * gradient
// v = beta2 * v + (1 - beta2) * gradient^2
// direction = m / (1 - beta1^step) / (sqrt(v / (1 - beta2^step)) + epsilon)
//             + weight_decay * value
// value    -= rate * |value| / |direction| * direction
//
// You et al., 2020, with rows instead of layers. The quotient of the norms is 1
// if one of them is 0. The rows of a parameter are those of its first
// dimension; a vector is one row. The direction is computed twice, for its norm
// and for the step, so that it needs no memory. A row keeps moving under a zero
// gradient, so a group with a table must choose untouched(lazy) or
// untouched(dense).
//
//===----------------------------------------------------------------------===//

nn.rule @rowwise_lamb hyper(beta1 = 0.9 from 0.0 below 1.0, beta2 = 0.999 from 0.0 below 1.0,
    epsilon = 1.0e-6 from 0.0, weight_decay = 0.01 from 0.0) slots(m = 0.0, v = 0.0) once {
^bb0(%step: f64, %rate: f64, %beta1: f64, %beta2: f64, %epsilon: f64, %weight_decay: f64):
  %one = arith.constant 1.0 : f64
  %rest1 = arith.subf %one, %beta1 : f64
  %rest2 = arith.subf %one, %beta2 : f64
  %power1 = math.powf %beta1, %step : f64
  %power2 = math.powf %beta2, %step : f64
  %whole1 = arith.subf %one, %power1 : f64
  %whole2 = arith.subf %one, %power2 : f64
  %correction = arith.divf %one, %whole1 : f64
  %root2 = math.sqrt %whole2 : f64
  %scale = arith.divf %one, %root2 : f64
  nn.yield %correction, %scale, %beta1, %rest1, %beta2, %rest2, %epsilon, %weight_decay, %rate
    : f64, f64, f64, f64, f64, f64, f64, f64, f64
} sum {
^bb0(%value: f32, %gradient: f32, %m: f32, %v: f32,
     %correction: f32, %scale: f32, %beta1: f32, %rest1: f32, %beta2: f32, %rest2: f32, %epsilon: f32,
     %weight_decay: f32, %rate: f32):
  %kept_m = arith.mulf %beta1, %m : f32
  %added_m = arith.mulf %rest1, %gradient : f32
  %new_m = arith.addf %kept_m, %added_m : f32
  %square = arith.mulf %gradient, %gradient : f32
  %kept_v = arith.mulf %beta2, %v : f32
  %added_v = arith.mulf %rest2, %square : f32
  %new_v = arith.addf %kept_v, %added_v : f32
  %root = math.sqrt %new_v : f32
  %corrected_v = arith.mulf %root, %scale : f32
  %divisor = arith.addf %corrected_v, %epsilon : f32
  %corrected_m = arith.mulf %correction, %new_m : f32
  %adapted = arith.divf %corrected_m, %divisor : f32
  %pull = arith.mulf %weight_decay, %value : f32
  %direction = arith.addf %adapted, %pull : f32
  %wide_value = arith.extf %value : f32 to f64
  %value_square = arith.mulf %wide_value, %wide_value : f64
  %wide_direction = arith.extf %direction : f32 to f64
  %direction_square = arith.mulf %wide_direction, %wide_direction : f64
  nn.yield %value_square, %direction_square : f64, f64
} row {
^bb0(%width: f64, %value_squares: f64, %direction_squares: f64,
     %correction: f32, %scale: f32, %beta1: f32, %rest1: f32, %beta2: f32, %rest2: f32, %epsilon: f32,
     %weight_decay: f32, %rate: f32):
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  %value_norm = math.sqrt %value_squares : f64
  %direction_norm = math.sqrt %direction_squares : f64
  %quotient = arith.divf %value_norm, %direction_norm : f64
  %no_value = arith.cmpf oeq, %value_norm, %zero : f64
  %no_direction = arith.cmpf oeq, %direction_norm, %zero : f64
  %of_value = arith.select %no_value, %one, %quotient : f64
  %ratio = arith.select %no_direction, %one, %of_value : f64
  %narrow = arith.truncf %ratio : f64 to f32
  %pace = arith.mulf %rate, %narrow : f32
  nn.yield %pace : f32
} each {
^bb0(%value: f32, %gradient: f32, %m: f32, %v: f32,
     %correction: f32, %scale: f32, %beta1: f32, %rest1: f32, %beta2: f32, %rest2: f32, %epsilon: f32,
     %weight_decay: f32, %rate: f32, %pace: f32):
  %kept_m = arith.mulf %beta1, %m : f32
  %added_m = arith.mulf %rest1, %gradient : f32
  %new_m = arith.addf %kept_m, %added_m : f32
  %square = arith.mulf %gradient, %gradient : f32
  %kept_v = arith.mulf %beta2, %v : f32
  %added_v = arith.mulf %rest2, %square : f32
  %new_v = arith.addf %kept_v, %added_v : f32
  %root = math.sqrt %new_v : f32
  %corrected_v = arith.mulf %root, %scale : f32
  %divisor = arith.addf %corrected_v, %epsilon : f32
  %corrected_m = arith.mulf %correction, %new_m : f32
  %adapted = arith.divf %corrected_m, %divisor : f32
  %pull = arith.mulf %weight_decay, %value : f32
  %direction = arith.addf %adapted, %pull : f32
  %change = arith.mulf %pace, %direction : f32
  %new_value = arith.subf %value, %change : f32
  nn.yield %new_value, %new_m, %new_v : f32, f32, f32
}
