//===- constant.mlir - Constant learning rate ------------------*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The base learning rate at every step. Names the behavior of a group without a
// schedule.
//
//===----------------------------------------------------------------------===//

nn.schedule @constant hyper() {
^bb0(%step: f64, %rate: f64):
  nn.yield %rate : f64
}
