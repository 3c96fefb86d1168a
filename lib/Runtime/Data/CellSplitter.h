//===- CellSplitter.h - Splits rows into cells ------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_CELLSPLITTER_H
#define LIB_RUNTIME_DATA_CELLSPLITTER_H

#include "Data/CellSyntax.h"
#include "pdlrt/Core/AlignedVector.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pdlrt {

/// Removes blanks at both ends of a cell, which never belong to its value.
inline std::string_view trim(std::string_view text) {
  auto isBlank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && isBlank(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && isBlank(text.back()))
    text.remove_suffix(1);
  return text;
}

/// Splits rows into trimmed cells. Reusable: allocates memory only for rows
/// with more cells, or longer quoted cells, than all previous ones.
class CellSplitter {
public:
  explicit CellSplitter(CellSyntax syntax) : syntax(syntax) {}

  /// Splits `row`. Returns null, or a message about cell `cells().size()`.
  const char *split(std::string_view row);
  /// Returns the cells; valid until the next split and during the row's
  /// lifetime.
  const std::vector<std::string_view> &cells() const { return found; }

private:
  const char *splitQuoted(std::string_view row);

  CellSyntax syntax;
  std::vector<std::string_view> found;
  /// Positions of the ends of cells.
  AlignedVector<uint32_t> ends;
  std::string unquoted; ///< Text of cells with doubled quotes.
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_CELLSPLITTER_H
