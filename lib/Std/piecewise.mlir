//===- piecewise.mlir - Piecewise constant learning rate -------*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The learning rate is the base rate for the first `after1` updates, then
// `rate1`, then `rate2` after `after2` updates, and so on, for up to four
// pieces:
//
// schedule(@piecewise {after1 = 1000.0, rate1 = 0.01, after2 = 5000.0, rate2 = 0.001})
//
// Each `after` needs its `rate`. None may be below 0, and they must ascend
// without a gap. A group with other parameters is rejected. For more pieces,
// copy this schedule.
//
//===----------------------------------------------------------------------===//

nn.schedule @piecewise hyper(after1 = 1.0e300, rate1 = -1.0, after2 = 1.0e300, rate2 = -1.0,
    after3 = 1.0e300, rate3 = -1.0, after4 = 1.0e300, rate4 = -1.0) {
^bb0(%step: f64, %rate: f64, %after1: f64, %rate1: f64, %after2: f64, %rate2: f64, %after3: f64, %rate3: f64, %after4: f64, %rate4: f64):
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  // Defaults of missing parameters: an unreachable boundary, and a rate below 0.
  %never = arith.constant 1.0e300 : f64
  %nan = arith.constant 0x7FF8000000000000 : f64
  %done = arith.subf %step, %one : f64
  %passed1 = arith.cmpf oge, %done, %after1 : f64
  %piece1 = arith.select %passed1, %rate1, %rate : f64
  %passed2 = arith.cmpf oge, %done, %after2 : f64
  %piece2 = arith.select %passed2, %rate2, %piece1 : f64
  %passed3 = arith.cmpf oge, %done, %after3 : f64
  %piece3 = arith.select %passed3, %rate3, %piece2 : f64
  %passed4 = arith.cmpf oge, %done, %after4 : f64
  %piece4 = arith.select %passed4, %rate4, %piece3 : f64
  // Zero if the parameters are complete, else NaN, which the first update rejects.
  %has_after1 = arith.cmpf olt, %after1, %never : f64
  %has_rate1 = arith.cmpf oge, %rate1, %zero : f64
  %with_after1 = arith.select %has_rate1, %zero, %nan : f64
  %without1 = arith.select %has_rate1, %nan, %zero : f64
  %paired1 = arith.select %has_after1, %with_after1, %without1 : f64
  %has_after2 = arith.cmpf olt, %after2, %never : f64
  %has_rate2 = arith.cmpf oge, %rate2, %zero : f64
  %with_after2 = arith.select %has_rate2, %zero, %nan : f64
  %without2 = arith.select %has_rate2, %nan, %zero : f64
  %paired2 = arith.select %has_after2, %with_after2, %without2 : f64
  %ordered2 = arith.cmpf ole, %after1, %after2 : f64
  %order2 = arith.select %ordered2, %zero, %nan : f64
  %has_after3 = arith.cmpf olt, %after3, %never : f64
  %has_rate3 = arith.cmpf oge, %rate3, %zero : f64
  %with_after3 = arith.select %has_rate3, %zero, %nan : f64
  %without3 = arith.select %has_rate3, %nan, %zero : f64
  %paired3 = arith.select %has_after3, %with_after3, %without3 : f64
  %ordered3 = arith.cmpf ole, %after2, %after3 : f64
  %order3 = arith.select %ordered3, %zero, %nan : f64
  %has_after4 = arith.cmpf olt, %after4, %never : f64
  %has_rate4 = arith.cmpf oge, %rate4, %zero : f64
  %with_after4 = arith.select %has_rate4, %zero, %nan : f64
  %without4 = arith.select %has_rate4, %nan, %zero : f64
  %paired4 = arith.select %has_after4, %with_after4, %without4 : f64
  %ordered4 = arith.cmpf ole, %after3, %after4 : f64
  %order4 = arith.select %ordered4, %zero, %nan : f64
  %checked1 = arith.addf %piece4, %paired1 : f64
  %checked2 = arith.addf %checked1, %paired2 : f64
  %checked3 = arith.addf %checked2, %order2 : f64
  %checked4 = arith.addf %checked3, %paired3 : f64
  %checked5 = arith.addf %checked4, %order3 : f64
  %checked6 = arith.addf %checked5, %paired4 : f64
  %checked7 = arith.addf %checked6, %order4 : f64
  nn.yield %checked7 : f64
}
