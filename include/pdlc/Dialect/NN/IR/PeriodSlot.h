//===- PeriodSlot.h - When a row was updated last ---------------*- C++ -*-===//
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

/// The name of the last row slot of a table that shrinks, behind those of its
/// rule: the period of the row's last update, from 0. A slot, so that it is
/// saved, merged and compared as others are.
inline constexpr llvm::StringLiteral kPeriodSlotName = "period";

} // namespace pdlc::nn

#endif // PDLC_DIALECT_NN_IR_PERIODSLOT_H
