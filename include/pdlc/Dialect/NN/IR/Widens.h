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

/// Name of an attribute of a table of deferred embedding vectors, which
/// `nn-split-tables` creates. It names the table that contains the first
/// columns of the same rows. A property that a group defines for each symbol,
/// such as a clip by the symbol's norm, applies to the two tables as one.
/// `nn-split-clips` is the last pass that needs the attribute, and removes it.
inline constexpr llvm::StringLiteral kWidensAttrName = "nn.widens";

} // namespace pdlc::nn

#endif // PDLC_DIALECT_NN_IR_WIDENS_H
