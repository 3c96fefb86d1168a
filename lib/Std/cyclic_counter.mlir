//===- cyclic_counter.mlir - A counter that begins again -------*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// value += rate; at length, and above, value = 0
//
// For states: whatever `nn.accumulate` brings, a step adds the rate. At rate 1 the value
// goes from 0 to length - 1 and round again: whose turn it is. `nn.cycle` keeps such a
// state.
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
