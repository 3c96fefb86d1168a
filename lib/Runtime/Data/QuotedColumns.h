//===- QuotedColumns.h - Columns whose cells all have quotes ----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_QUOTEDCOLUMNS_H
#define LIB_RUNTIME_DATA_QUOTEDCOLUMNS_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace pdlrt {

/// Finds columns of which each cell stands in quotes, where quotes are text:
/// such quotes were hardly meant as a part of values. Looks at the first rows
/// only.
class QuotedColumns {
public:
  static constexpr int64_t rowsLookedAt = 100;

  /// Takes the cells of the next row.
  void note(const std::vector<std::string_view> &cells) {
    if (!isOver)
      noteRow(cells);
  }
  /// Returns a column, from 0, of which all cells were quoted, once enough rows
  /// were seen; `atEnd`: no more will come. Returns none again after that.
  std::optional<size_t> take(bool atEnd);

private:
  void noteRow(const std::vector<std::string_view> &cells);

  /// Whether no more rows are wanted.
  bool isOver = false;
  int64_t rows = 0;
  /// The columns of which all cells so far were quoted.
  std::vector<size_t> columns;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_QUOTEDCOLUMNS_H
