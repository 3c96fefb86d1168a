//===- lars.mlir - LARS with norms of parameters ---------------*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ratio    = coefficient * |value| / (|gradient| + weight_decay * |value|)
// velocity = momentum * velocity + rate * ratio * (gradient + weight_decay * value)
// value   -= velocity
//
// You et al., 2017, with parameters instead of layers. The ratio is 1 if one of
// the two norms is 0. Use @rowwise_lars for tables.
//
//===----------------------------------------------------------------------===//

nn.rule @lars hyper(momentum = 0.9 from 0.0 below 1.0, coefficient = 1.0e-3 above 0.0,
    weight_decay = 5.0e-4 from 0.0) slots(velocity = 0.0) once {
^bb0(%step: f64, %rate: f64, %momentum: f64, %coefficient: f64, %weight_decay: f64):
  nn.yield %rate, %momentum, %coefficient, %weight_decay : f64, f64, f64, f64
} sum {
^bb0(%value: f32, %gradient: f32, %velocity: f32,
     %rate: f32, %momentum: f32, %coefficient: f32, %weight_decay: f32):
  %wide_value = arith.extf %value : f32 to f64
  %value_square = arith.mulf %wide_value, %wide_value : f64
  %wide_gradient = arith.extf %gradient : f32 to f64
  %gradient_square = arith.mulf %wide_gradient, %wide_gradient : f64
  nn.yield %value_square, %gradient_square : f64, f64
} param {
^bb0(%width: f64, %value_squares: f64, %gradient_squares: f64,
     %rate: f32, %momentum: f32, %coefficient: f32, %weight_decay: f32):
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  %value_norm = math.sqrt %value_squares : f64
  %gradient_norm = math.sqrt %gradient_squares : f64
  %wide_coefficient = arith.extf %coefficient : f32 to f64
  %wide_decay = arith.extf %weight_decay : f32 to f64
  %decayed = arith.mulf %wide_decay, %value_norm : f64
  %divisor = arith.addf %gradient_norm, %decayed : f64
  %dividend = arith.mulf %wide_coefficient, %value_norm : f64
  %quotient = arith.divf %dividend, %divisor : f64
  %no_value = arith.cmpf oeq, %value_norm, %zero : f64
  %no_gradient = arith.cmpf oeq, %gradient_norm, %zero : f64
  %of_value = arith.select %no_value, %one, %quotient : f64
  %ratio = arith.select %no_gradient, %one, %of_value : f64
  %narrow = arith.truncf %ratio : f64 to f32
  %pace = arith.mulf %rate, %narrow : f32
  nn.yield %pace : f32
} each {
^bb0(%value: f32, %gradient: f32, %velocity: f32,
     %rate: f32, %momentum: f32, %coefficient: f32, %weight_decay: f32, %pace: f32):
  %pull = arith.mulf %weight_decay, %value : f32
  %direction = arith.addf %gradient, %pull : f32
  %change = arith.mulf %pace, %direction : f32
  %kept = arith.mulf %momentum, %velocity : f32
  %new_velocity = arith.addf %kept, %change : f32
  %new_value = arith.subf %value, %new_velocity : f32
  nn.yield %new_value, %new_velocity : f32, f32
}
