//===- RowScanner.h - The rows of a text file -------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_ROWSCANNER_H
#define LIB_RUNTIME_DATA_ROWSCANNER_H

#include "Data/CellSyntax.h"
#include "Data/InputFile.h"
#include "pdlrt/Core/AlignedVector.h"
#include "pdlrt/Core/Status.h"

#include <string>
#include <string_view>

namespace pdlrt {

/// Reads a file and finds its rows. A row is a line; line breaks inside quoted
/// cells belong to the row.
class RowScanner {
public:
  static constexpr size_t rowMargin = 8;

  /// `besideCaller` and `wait`: as for InputFile.
  Status open(const std::string &name, CellSyntax cellSyntax, bool besideCaller,
              ReadWait *wait);

  /// What a line of nothing but blanks is.
  enum class BlankLines {
    Rows,     ///< a row, like any other line
    EndFiles, ///< no row if only such lines follow, else a row
    Ignored   ///< no row
  };

  /// Moves to the next row; false at the end of the file. The row is valid
  /// until the next call and has no line break at its end. `rowMargin` bytes
  /// before it may be read, whatever they are. After an error because of which
  /// `ReadWait` is late, the next call looks for the same row.
  Expected<bool> next(std::string_view &row, BlankLines blankLines);
  /// The line, from 1, that the current row begins at, and its first byte.
  int64_t line() const { return rowLine; }
  int64_t rowByte() const { return rowBegin; }
  /// The same of what is behind the current row.
  int64_t followingLine() const { return nextLine; }
  int64_t nextByte() const { return bufferByte + int64_t(cursor - rowMargin); }
  /// Goes on at a byte where line `line` begins, which is not read yet, or but
  /// for the current row; false where none begins there.
  Expected<bool> moveTo(int64_t byte, int64_t line);

private:
  enum class Search { Found, NeedsMore };
  Search findRowEnd(const char *&end) const;
  Search findQuotedRowEnd(const char *&end) const;
  bool isBlank(std::string_view row) const;
  Expected<bool> hasTextAhead();
  Status refill();

  std::string path;
  CellSyntax syntax;
  InputFile file;
  AlignedVector<char> buffer;
  size_t cursor = rowMargin; ///< where the next row begins
  size_t limit = rowMargin;  ///< where the bytes that were read end
  bool atEnd = false;
  int64_t bufferByte = 0; ///< of the text, where the buffer has its first
  int64_t textByte = -1;  ///< the last byte that was found not to be blank
  int64_t rowBegin = 0;
  int64_t rowLine = 0;
  int64_t nextLine = 1;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_ROWSCANNER_H
