//===- FormerNames.h - Names of ops in earlier versions ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_DIALECT_NN_IR_FORMERNAMES_H
#define PDLC_DIALECT_NN_IR_FORMERNAMES_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace pdlc::nn {

/// Returns the current name of the op that earlier versions called `name`, both
/// with the dialect's prefix. Returns an empty string if no op had that name.
llvm::StringRef presentNameOf(llvm::StringRef name);

/// Returns the original name of the op `name`, both with the dialect's prefix.
/// This is `name` itself if the op was never renamed. Fingerprints contain
/// original names, so that renaming an op does not change the fingerprint of a
/// model.
llvm::StringRef firstNameOf(llvm::StringRef name);

/// Returns the text of ops in generic form with their first names.
std::string withFirstNames(std::string text);

} // namespace pdlc::nn

#endif // PDLC_DIALECT_NN_IR_FORMERNAMES_H
