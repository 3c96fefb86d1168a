//===- Spelling.h - Suggestions for misspelled names ------------*- C++ -*-===//
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

/// Returns "; did you mean 'KNOWN'?" with the name of `known` that is most
/// similar to `name`. Returns an empty string if no name is similar.
std::string didYouMean(llvm::StringRef name,
                       llvm::ArrayRef<llvm::StringRef> known);

} // namespace pdlc

#endif // PDLC_SUPPORT_SPELLING_H
