//===- Spelling.h - Names that were meant -----------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_SUPPORT_SPELLING_H
#define PDLC_SUPPORT_SPELLING_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace pdlc {

/// "; did you mean 'KNOWN'?" with the one of `known` that is spelled most like
/// `name`; empty if none is close.
std::string didYouMean(llvm::StringRef name,
                       llvm::ArrayRef<llvm::StringRef> known);

} // namespace pdlc

#endif // PDLC_SUPPORT_SPELLING_H
