//===- model_average.mlir - Mean of weights in a window --------*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For the clause `average` of a group. The value is the current average, and
// the gradient is the new value of the weight.
//
// The average is the mean of the values of the current window and of the
// previous one. A window ends when it contains max(least, min(most, share *
// step)) values. Therefore the average covers between one and two windows, and
// grows during training. Other frameworks call these parameters average window
// rate, minimum window and maximum window.
//
// The rule adds thousands of values. It stores the rounding error of the sum
// and adds it to the next value (W. Kahan, Further Remarks on Reducing
// Truncation Errors, 1965).
//
// The count has the type of the values, and an f32 counts up to 2^24, so no
// window is longer. Rows of a table count their own values; the length of a
// window follows from the steps of the group.
//
//===----------------------------------------------------------------------===//

nn.rule @model_average of averages hyper(share = 0.15 from 0.0, least = 10000.0 from 1.0 to 16777216.0,
    most = 10000.0 from 1.0 to 16777216.0)
    slots(sum = 0.0, lost = 0.0, count = 0.0, older_sum = 0.0, older_count = 0.0) once {
^bb0(%step: f64, %rate: f64, %share: f64, %least: f64, %most: f64):
  %grown = arith.mulf %share, %step : f64
  %limited = arith.minimumf %grown, %most : f64
  %length = arith.maximumf %limited, %least : f64
  nn.yield %length : f64
} each {
^bb0(%average: f32, %value: f32, %sum: f32, %lost: f32, %count: f32, %older_sum: f32,
     %older_count: f32, %length: f32):
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %whole_value = arith.subf %value, %lost : f32
  %with_value = arith.addf %sum, %whole_value : f32
  %added = arith.subf %with_value, %sum : f32
  %now_lost = arith.subf %added, %whole_value : f32
  %counted = arith.addf %count, %one : f32
  %ends = arith.cmpf oge, %counted, %length : f32
  %new_sum = arith.select %ends, %zero, %with_value : f32
  %new_lost = arith.select %ends, %zero, %now_lost : f32
  %new_count = arith.select %ends, %zero, %counted : f32
  %new_older_sum = arith.select %ends, %with_value, %older_sum : f32
  %new_older_count = arith.select %ends, %counted, %older_count : f32
  %whole_sum = arith.addf %new_sum, %new_older_sum : f32
  %whole_count = arith.addf %new_count, %new_older_count : f32
  %new_average = arith.divf %whole_sum, %whole_count : f32
  nn.yield %new_average, %new_sum, %new_lost, %new_count, %new_older_sum, %new_older_count
    : f32, f32, f32, f32, f32, f32
}
