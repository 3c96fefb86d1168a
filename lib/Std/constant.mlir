//===- constant.mlir - The base rate at every step -------------*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a group without a schedule does, by name.
//
//===----------------------------------------------------------------------===//

nn.schedule @constant hyper() {
^bb0(%step: f64, %rate: f64):
  nn.yield %rate : f64
}
