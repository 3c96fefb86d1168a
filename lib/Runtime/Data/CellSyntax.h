//===- CellSyntax.h - Delimiter and quotes of text files --------*- C++ -*-===//
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

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace pdlrt {

struct CellSyntax {
  char delimiter = ','; ///< Ends a cell.
  /// Encloses a cell like double quotes in RFC 4180; 0: quotes are ordinary
  /// text.
  char quote = 0;
};

/// Returns the default quote for files with that delimiter.
char defaultQuoteOf(char delimiter);

/// Returns the suffixes of delimited text files.
std::span<const std::string_view> delimitedSuffixes();

/// Returns the delimiter that a file name implies; none if it implies none.
std::optional<char> delimiterByName(const std::string &path);

/// Returns an error if the quote in the flags cannot enclose cells that end in
/// `delimiter`.
Status checkQuote(const DataOptions &options, char delimiter);

/// Returns the syntax of a file from the flags, or from its name. Returns an
/// error if neither determines the delimiter.
Expected<CellSyntax> cellSyntaxOf(const std::string &path,
                                  const DataOptions &options);

/// Returns the name of a delimiter or quote in messages.
std::string characterText(char character);

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_CELLSYNTAX_H
