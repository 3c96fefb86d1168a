//===- QuotedColumns.h - Finds columns with quoted cells --------*- C++ -*-===//
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

/// Finds columns in which every cell is enclosed in quotes although quotes are
/// ordinary text. Such quotes are probably not part of the values. Examines
/// only the first rows.
class QuotedColumns {
public:
  static constexpr int64_t rowsLookedAt = 100;

  /// Examines the cells of the next row.
  void note(const std::vector<std::string_view> &cells) {
    if (!isOver)
      noteRow(cells);
  }
  /// When enough rows were examined, returns a column, from 0, whose cells were
  /// all quoted. `atEnd`: there are no more rows. Later calls return none.
  std::optional<size_t> take(bool atEnd);

private:
  void noteRow(const std::vector<std::string_view> &cells);

  /// True if no more rows are needed.
  bool isOver = false;
  int64_t rows = 0;
  /// Columns whose cells so far were all quoted.
  std::vector<size_t> columns;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_QUOTEDCOLUMNS_H
