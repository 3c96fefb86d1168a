//===- Widens.h - Tables that were one in the model -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_DIALECT_NN_IR_WIDENS_H
#define PDLC_DIALECT_NN_IR_WIDENS_H

#include "llvm/ADT/StringRef.h"

namespace pdlc::nn {

/// An attribute (the name of a symbol) of a table that `nn-split-tables` has
/// made: the table whose columns these rows go on. What a group says of each
/// symbol goes for both together. `nn-split-clips`, the last that asks, takes
/// it away.
inline constexpr llvm::StringLiteral kWidensAttrName = "nn.widens";

} // namespace pdlc::nn

#endif // PDLC_DIALECT_NN_IR_WIDENS_H
