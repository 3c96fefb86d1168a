//===- ServedSlot.h - Slots that serving reads ------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_DIALECT_NN_IR_SERVEDSLOT_H
#define PDLC_DIALECT_NN_IR_SERVEDSLOT_H

#include "llvm/ADT/StringRef.h"

namespace pdlc::nn {

/// Name of a string attribute that `nn-keep-serving` sets on symbols of a
/// serving module. It names the slot of the symbol's rule that frozen programs
/// read instead of the value. Without the attribute they read the value.
inline constexpr llvm::StringLiteral kServedSlotAttrName = "nn.served_slot";

} // namespace pdlc::nn

#endif // PDLC_DIALECT_NN_IR_SERVEDSLOT_H
