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

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pdlrt {

class KafkaRows;
struct KafkaPlace;

/// Reads a file and finds its rows. A row is a line; line breaks inside quoted
/// cells belong to the row.
class RowScanner {
public:
  static constexpr size_t rowMargin = 8;

  RowScanner();
  ~RowScanner();

  /// Opens a file, or partitions of a topic of Kafka. The lines of messages are
  /// rows. Quotes do not join lines there.
  Status open(const std::string &name, CellSyntax cellSyntax,
              const InputOptions &options);

  /// Meaning of lines that contain only blanks.
  enum class BlankLines {
    Rows,     ///< A row like any other line.
    EndFiles, ///< Not a row if only such lines follow, otherwise a row.
    Ignored   ///< Not a row.
  };

  /// Moves to the next row. Returns false at the end of the file. The row is
  /// valid until the next call and has no line break at its end. The
  /// `rowMargin` bytes before it are readable, with any content. After an error
  /// with `ReadWait::isLate`, the next call searches for the same row.
  Expected<bool> next(std::string_view &row, BlankLines blankLines);
  /// Return the line, from 1, and the byte at which the current row begins.
  int64_t line() const { return rowLine; }
  int64_t rowByte() const { return rowBegin; }
  /// Return the line and byte after the current row.
  int64_t followingLine() const { return nextLine; }
  int64_t nextByte() const {
    return messages ? followingByte : bufferByte + int64_t(cursor - rowMargin);
  }
  /// Returns the place of the current row in messages, such as "file.csv:7".
  std::string placeText() const;
  /// Returns true if the rows are of messages.
  bool hasMessages() const { return messages != nullptr; }
  /// Return what `KafkaRows` returns; nothing for files.
  std::optional<int64_t> sample() const;
  std::vector<KafkaPlace> places() const;
  /// Continues at a byte where line `line` begins. It must not have been read
  /// yet, except as part of the current row. Returns false if no line begins
  /// there.
  Expected<bool> moveTo(int64_t byte, int64_t line);

private:
  Expected<bool> nextOfMessages(std::string_view &row, BlankLines blankLines);
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
  size_t cursor = rowMargin; ///< Start of the next row.
  size_t limit = rowMargin;  ///< End of the bytes that were read.
  bool atEnd = false;
  int64_t bufferByte = 0; ///< Position in the text of the buffer's first byte.
  int64_t textByte = -1;  ///< Last byte that was found not to be blank.
  int64_t rowBegin = 0;
  int64_t rowLine = 0;
  int64_t nextLine = 1;
  /// Null if a file is read.
  std::unique_ptr<KafkaRows> messages;
  int64_t followingByte = 0; ///< `KafkaRows::following`
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_ROWSCANNER_H
