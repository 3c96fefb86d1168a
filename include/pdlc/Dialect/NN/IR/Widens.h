//===- Widens.h - Tables split from one table -------------------*- C++ -*-===//
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

/// Name of an attribute that `nn-split-tables` sets on a table that it creates.
/// The attribute names the table whose columns the rows of the new table
/// continue. Everything that a group states for each symbol applies to both
/// tables together. `nn-split-clips` is the last pass that needs the attribute,
/// and it removes it.
inline constexpr llvm::StringLiteral kWidensAttrName = "nn.widens";

} // namespace pdlc::nn

#endif // PDLC_DIALECT_NN_IR_WIDENS_H
