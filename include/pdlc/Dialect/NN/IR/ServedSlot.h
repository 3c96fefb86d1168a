//===- ServedSlot.h - What a model that serves reads ------------*- C++ -*-===//
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

/// An attribute (a string) of symbols of a module that serves
/// (`nn-keep-serving`): which slot of its rule frozen programs read in its
/// place; without it, the value.
inline constexpr llvm::StringLiteral kServedSlotAttrName = "nn.served_slot";

} // namespace pdlc::nn

#endif // PDLC_DIALECT_NN_IR_SERVEDSLOT_H
