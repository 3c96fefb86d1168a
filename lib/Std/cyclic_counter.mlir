//===- cyclic_counter.mlir - Cyclic counter --------------------*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// value += rate; at length, and above, value = 0
//
// For states. Each step adds the learning rate, whatever value `nn.accumulate`
// provides. With learning rate 1, the value counts from 0 to length - 1 and
// starts again, so it tells whose turn it is. `nn.cycle` uses such a state.
//
//===----------------------------------------------------------------------===//

nn.rule @cyclic_counter of states undivided hyper(length = 2.0 from 1.0) slots() once {
^bb0(%step: f64, %rate: f64, %length: f64):
  nn.yield %rate, %length : f64, f64
} each {
^bb0(%value: f32, %sum: f32, %rate: f32, %length: f32):
  %zero = arith.constant 0.0 : f32
  %next = arith.addf %value, %rate : f32
  %ended = arith.cmpf oge, %next, %length : f32
  %new_value = arith.select %ended, %zero, %next : f32
  nn.yield %new_value : f32
}
