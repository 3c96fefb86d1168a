//===- RTOps.td - All ops of the runtime dialect -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_DIALECT_RT_IR_RTOPS_TD
#define PDLC_DIALECT_RT_IR_RTOPS_TD

include "pdlc/Dialect/RT/IR/RTCallOps.td"
include "pdlc/Dialect/RT/IR/RTDescriptorOps.td"
include "pdlc/Dialect/RT/IR/RTDeviceOps.td"

#endif // PDLC_DIALECT_RT_IR_RTOPS_TD
