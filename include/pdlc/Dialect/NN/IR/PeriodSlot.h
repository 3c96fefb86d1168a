//===- PeriodSlot.h - Slot for the last update of a row ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_DIALECT_NN_IR_PERIODSLOT_H
#define PDLC_DIALECT_NN_IR_PERIODSLOT_H

#include "llvm/ADT/StringRef.h"

namespace pdlc::nn {

/// Name of the slot that holds the period of a row's last update; periods are
/// numbered from 0. In tables with the clause `shrink`, it is the last row
/// slot, after the slots of their rule. Because it is a slot, it is saved,
/// merged and compared like any other.
inline constexpr llvm::StringLiteral kPeriodSlotName = "period";

} // namespace pdlc::nn

#endif // PDLC_DIALECT_NN_IR_PERIODSLOT_H
