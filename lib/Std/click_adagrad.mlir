//===- click_adagrad.mlir - Row-wise AdaGrad scaled by shows ---*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// scaled       = gradient / shows of the row in this step (1 without any)
// value       -= rate * sqrt(initial / (initial + accumulator)) * scaled
// value        = max(min(value, bound), -bound)
// accumulator += mean of scaled^2 over the row
// show        += shows of the row in this step
// click       += clicks of the row in this step
//
// The rule of PaddlePaddle's tables for click models (CtrCommonAccessor with
// SparseAdaGradSGDRule and show_scale). Gradients are sums over samples and are
// not divided by their weights. Instead, the gradient of each row is divided by
// the number of shows of the row, so that a frequent id does not move further
// than a rare one.
//
// The total shows and clicks are stored with the row. A program adds both with
// `nn.count @table[%ids] show(%one) click(%label)`. A value outside of the
// bounds moves under a zero gradient, so a group with a table must choose
// untouched(lazy) or untouched(dense).
//
//===----------------------------------------------------------------------===//

nn.rule @click_adagrad undivided hyper(initial = 3.0 above 0.0, bound = 10.0 above 0.0) slots() row_slots(accumulator = 0.0, show = 0.0, click = 0.0) counts(show, click) once {
^bb0(%step: f64, %rate: f64, %initial: f64, %bound: f64):
  %least = arith.negf %bound : f64
  nn.yield %rate, %initial, %bound, %least : f64, f64, f64, f64
} sum {
^bb0(%value: f32, %gradient: f32, %rate: f32, %initial: f32, %bound: f32, %least: f32):
  %wide = arith.extf %gradient : f32 to f64
  %square = arith.mulf %wide, %wide : f64
  nn.yield %square : f64
} row {
^bb0(%width: f64, %squares: f64, %accumulator: f32, %show: f32, %click: f32, %shows: f32, %clicks: f32, %rate: f32, %initial: f32, %bound: f32, %least: f32):
  %none = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %shown = arith.cmpf ogt, %shows, %none : f32
  %scale = arith.select %shown, %shows, %one : f32
  %sum = arith.addf %initial, %accumulator : f32
  %share = arith.divf %initial, %sum : f32
  %root = math.sqrt %share : f32
  %pace = arith.mulf %rate, %root : f32
  %wide_scale = arith.extf %scale : f32 to f64
  %scale_square = arith.mulf %wide_scale, %wide_scale : f64
  %divisor = arith.mulf %width, %scale_square : f64
  %mean = arith.divf %squares, %divisor : f64
  %added = arith.truncf %mean : f64 to f32
  %new_accumulator = arith.addf %accumulator, %added : f32
  %new_show = arith.addf %show, %shows : f32
  %new_click = arith.addf %click, %clicks : f32
  nn.yield %new_accumulator, %new_show, %new_click, %pace, %scale : f32, f32, f32, f32, f32
} each {
^bb0(%value: f32, %gradient: f32, %rate: f32, %initial: f32, %bound: f32, %least: f32, %pace: f32, %scale: f32):
  %scaled = arith.divf %gradient, %scale : f32
  %change = arith.mulf %pace, %scaled : f32
  %moved = arith.subf %value, %change : f32
  %below = arith.minimumf %moved, %bound : f32
  %new_value = arith.maximumf %below, %least : f32
  nn.yield %new_value : f32
}
