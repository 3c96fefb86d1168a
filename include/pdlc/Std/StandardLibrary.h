//===- StandardLibrary.h - Built-in optimizers and schedules ----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_STD_STANDARDLIBRARY_H
#define PDLC_STD_STANDARDLIBRARY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace pdlc {

/// One file of `lib/Std`: an nn.rule or nn.schedule of the same name, as text.
/// Users can print it, copy it into a model, and change it.
struct StandardDefinition {
  llvm::StringLiteral name;
  llvm::StringLiteral source;
};

/// Returns all definitions in ascending order of their names.
llvm::ArrayRef<StandardDefinition> getStandardLibrary();

/// Returns the definition called `name`; null if there is none.
const StandardDefinition *findStandardDefinition(llvm::StringRef name);

/// Lists all names, separated by commas, for diagnostics and help.
std::string standardLibraryList();

} // namespace pdlc

#endif // PDLC_STD_STANDARDLIBRARY_H
