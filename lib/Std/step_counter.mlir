//===- step_counter.mlir - Step counter ------------------------*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// value += rate
//
// For states. Each step adds the learning rate, whatever value `nn.accumulate`
// provides. With learning rate 1, an f32 counts to 16,777,216 and stays there.
//
//===----------------------------------------------------------------------===//

nn.rule @step_counter of states undivided hyper() slots() once {
^bb0(%step: f64, %rate: f64):
  nn.yield %rate : f64
} each {
^bb0(%value: f32, %sum: f32, %rate: f32):
  %new_value = arith.addf %value, %rate : f32
  nn.yield %new_value : f32
}
