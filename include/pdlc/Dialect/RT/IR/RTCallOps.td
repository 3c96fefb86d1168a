//===- RTCallOps.td - Calls of the runtime -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_DIALECT_RT_IR_RTCALLOPS_TD
#define PDLC_DIALECT_RT_IR_RTCALLOPS_TD

include "pdlc/Dialect/RT/IR/RTDialect.td"

#endif // PDLC_DIALECT_RT_IR_RTCALLOPS_TD
