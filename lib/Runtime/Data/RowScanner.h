//===- RowScanner.h - The rows of a text file -------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_ROWSCANNER_H
#define LIB_RUNTIME_DATA_ROWSCANNER_H

#include "Data/InputFile.h"
#include "pdlrt/Core/AlignedVector.h"
#include "pdlrt/Core/Status.h"

#include <string>
#include <string_view>

namespace pdlrt {

/// Reads a file and finds its rows. A row is a line; where `quotes` is set,
/// line breaks inside quoted cells belong to the row. Lines of nothing but
/// blanks are passed over.
class RowScanner {
public:
  /// `delimiter` ends cells; quotes are known where it is a comma.
  Status open(const std::string &path, char delimiter);

  /// Moves to the next row; false at the end of the file. The row is valid
  /// until the next call and has no line break at its end.
  Expected<bool> next(std::string_view &row);
  /// The line, from 1, that the current row begins at.
  int64_t line() const { return rowLine; }

private:
  enum class Search { Found, NeedsMore };
  Search findRowEnd(const char *&end) const;
  Search findQuotedRowEnd(const char *&end) const;
  bool isBlank(std::string_view row) const;
  Status refill();

  std::string path;
  char delimiter = ',';
  InputFile file;
  AlignedVector<char> buffer;
  size_t cursor = 0; ///< where the next row begins
  size_t limit = 0;  ///< where the bytes that were read end
  bool atEnd = false;
  int64_t rowLine = 0;
  int64_t nextLine = 1;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_ROWSCANNER_H
