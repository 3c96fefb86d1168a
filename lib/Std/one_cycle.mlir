//===- one_cycle.mlir - One-cycle schedule ---------------------*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Smith and Topin, 2018. The learning rate starts at rate / divisor and rises
// along half a cosine to the base rate, which it reaches after the share
// `rising` of all `steps` updates. Then it falls along another half to rate /
// divisor / final_divisor, where it stays:
//
// done = min(step - 1, steps - 1), peak = rising * steps - 1
// from low to rate by done / peak, then from rate to lowest by
// (done - peak) / (steps - 1 - peak)
//
//===----------------------------------------------------------------------===//

nn.schedule @one_cycle hyper(steps = 1000.0 above 0.0, rising = 0.3 from 0.0 to 1.0,
    divisor = 25.0 above 0.0, final_divisor = 1.0e4 above 0.0) {
^bb0(%step: f64, %rate: f64, %steps: f64, %rising: f64, %divisor: f64, %final_divisor: f64):
  %zero = arith.constant 0.0 : f64
  %half = arith.constant 0.5 : f64
  %one = arith.constant 1.0 : f64
  %pi = arith.constant 3.141592653589793 : f64
  %low = arith.divf %rate, %divisor : f64
  %lowest = arith.divf %low, %final_divisor : f64
  %passed = arith.subf %step, %one : f64
  %last = arith.subf %steps, %one : f64
  %done = arith.minimumf %passed, %last : f64
  %share = arith.mulf %rising, %steps : f64
  %peak = arith.subf %share, %one : f64
  %before = arith.cmpf ole, %done, %peak : f64
  // A rise of one update consists only of the low learning rate.
  %short = arith.cmpf oeq, %peak, %zero : f64
  %ascent = arith.select %short, %one, %peak : f64
  %risen = arith.divf %done, %ascent : f64
  %descent = arith.subf %last, %peak : f64
  %behind = arith.subf %done, %peak : f64
  %fallen = arith.divf %behind, %descent : f64
  %progress = arith.select %before, %risen, %fallen : f64
  %from = arith.select %before, %low, %rate : f64
  %to = arith.select %before, %rate, %lowest : f64
  %angle = arith.mulf %pi, %progress : f64
  %cosine = math.cos %angle : f64
  %lifted = arith.addf %one, %cosine : f64
  %left = arith.mulf %half, %lifted : f64
  %span = arith.subf %from, %to : f64
  %above = arith.mulf %span, %left : f64
  %there = arith.addf %to, %above : f64
  nn.yield %there : f64
}
