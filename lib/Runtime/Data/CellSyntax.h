//===- CellSyntax.h - How rows of text are cut into cells -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_CELLSYNTAX_H
#define LIB_RUNTIME_DATA_CELLSYNTAX_H

#include "pdlrt/Core/Status.h"
#include "pdlrt/Data/BatchSource.h"

#include <string>

namespace pdlrt {

struct CellSyntax {
  char delimiter = ','; ///< ends a cell
  /// Encloses a cell, as RFC 4180 says of double quotes; 0: quotes are text.
  char quote = 0;
};

/// Returns the quote of files whose cells end in `delimiter`, unless a flag
/// says otherwise.
char defaultQuoteOf(char delimiter);

/// Returns the syntax of a file: as the flags say, else by its name. An error
/// if neither tells the delimiter.
Expected<CellSyntax> cellSyntaxOf(const std::string &path,
                                  const DataOptions &options);

/// Returns how messages name a delimiter or a quote.
std::string characterText(char character);

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_CELLSYNTAX_H
