//===- ftrl.mlir - Follow the proximally regularized leader ----*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gradient is the sum over the samples of a step.
//
// sigma = (sqrt(n + gradient^2) - sqrt(n)) / rate
// z    += gradient - sigma * value
// n    += gradient^2
// value = |z| <= l1 ? 0 : (sign(z) * l1 - z) / ((beta + sqrt(n)) / rate + l2)
//
// FTRL-Proximal with a learning rate per element, algorithm 1 of McMahan et
// al., "Ad Click Prediction: a View from the Trenches", 2013. The group's
// learning rate is the paper's alpha. `l1` keeps rare features at exactly zero.
//
// beta, l1 and l2 are compared with sums of gradients. Therefore the rule is
// `undivided`, and published settings for one sample per step are valid for
// every batch size. A feature that occurs once in a batch is updated like with
// a single sample. If it occurs often, the square of the sum replaces the sum
// of squares. This is as large if gradients have random signs, and larger if
// they agree, so no batch moves further than the learning rate allows.
//
// The value follows from z and n, which start at zero, so initialize it with
// #nn.zeros. For the same reason, a zero gradient may move a value that does
// not match z and n, so a group with a table must choose untouched(lazy) or
// untouched(dense). With learning rate 0, value, z and n do not change.
//
//===----------------------------------------------------------------------===//

nn.rule @ftrl undivided hyper(beta = 1.0 from 0.0, l1 = 0.0 from 0.0, l2 = 0.0 from 0.0) slots(z = 0.0, n = 0.0) once {
^bb0(%step: f64, %rate: f64, %beta: f64, %l1: f64, %l2: f64):
  nn.yield %rate, %beta, %l1, %l2 : f64, f64, f64, f64
} each {
^bb0(%value: f32, %gradient: f32, %z: f32, %n: f32, %rate: f32, %beta: f32, %l1: f32, %l2: f32):
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  // A schedule may end at learning rate 0. Then nothing changes.
  %stands = arith.cmpf oeq, %rate, %zero : f32
  %pace = arith.select %stands, %one, %rate : f32
  %square = arith.mulf %gradient, %gradient : f32
  %new_n = arith.addf %n, %square : f32
  %old_root = math.sqrt %n : f32
  %root = math.sqrt %new_n : f32
  %growth = arith.subf %root, %old_root : f32
  %sigma = arith.divf %growth, %pace : f32
  %pull = arith.mulf %sigma, %value : f32
  %push = arith.subf %gradient, %pull : f32
  %new_z = arith.addf %z, %push : f32
  %size = math.absf %new_z : f32
  %small = arith.cmpf ole, %size, %l1 : f32
  %threshold = math.copysign %l1, %new_z : f32
  %rest = arith.subf %threshold, %new_z : f32
  %confidence = arith.addf %beta, %root : f32
  %scaled = arith.divf %confidence, %pace : f32
  %divisor = arith.addf %scaled, %l2 : f32
  %solution = arith.divf %rest, %divisor : f32
  %new_value = arith.select %small, %zero, %solution : f32
  %kept_value = arith.select %stands, %value, %new_value : f32
  %kept_z = arith.select %stands, %z, %new_z : f32
  %kept_n = arith.select %stands, %n, %new_n : f32
  nn.yield %kept_value, %kept_z, %kept_n : f32, f32, f32
}
