//===- sgd.mlir - Stochastic gradient descent ------------------*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// value -= rate * gradient
//
// The rule receives the mean gradient over all samples, after clipping and
// regularization. A zero gradient changes nothing, so a group with a table need
// not choose how untouched rows are updated.
//
//===----------------------------------------------------------------------===//

nn.rule @sgd hyper() slots() once {
^bb0(%step: f64, %rate: f64):
  nn.yield %rate : f64
} each {
^bb0(%value: f32, %gradient: f32, %rate: f32):
  %change = arith.mulf %rate, %gradient : f32
  %new_value = arith.subf %value, %change : f32
  nn.yield %new_value : f32
}
