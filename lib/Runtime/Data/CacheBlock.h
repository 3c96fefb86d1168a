//===- CacheBlock.h - Some rows of a cache ----------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_CACHEBLOCK_H
#define LIB_RUNTIME_DATA_CACHEBLOCK_H

#include "Data/PassedRows.h"
#include "Data/RecordColumns.h"
#include "pdlabi/abi/record.h"
#include "pdlrt/Core/AlignedVector.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace pdlrt {

/// Consecutive rows of a file in the form of a cache: the output of a reader,
/// as bytes. Numbers are little-endian; each part is padded with zeros to a
/// multiple of 8 bytes. The parts are, in order:
///
/// - u64: XXH3 of the following bytes, up to the end of the block
/// - u64: bytes of the block; u64: rows; u64: bad rows
/// - u64 for each row: digest of its content
/// - for each field, in the program's order: i64 splits of the good rows, from
///   0, if it is RAGGED; values of the good rows
/// - i64 for each good row: end of its copied text; then these texts
/// - for each bad row: u64 row of the block, u64 bytes of its message, u64
///   bytes of its copied text; then the texts of all bad rows
///
/// This class is a view; the caller owns the bytes. Not thread-safe.
class CacheBlock {
public:
  using Fields = std::vector<const pdl_field *>;

  /// Size of a block before its rows.
  static constexpr size_t headBytes = 4 * sizeof(uint64_t);

  /// Encodes the output of a reader as a block. `records` must have been
  /// committed with row numbers of the block.
  static void encode(const Fields &fields, const RecordColumns &records,
                     const RowLog &log, AlignedVector<std::byte> &bytes);

  /// Creates a block without rows.
  CacheBlock() = default;
  /// Sets the view to a block. Returns false if the bytes are not a valid
  /// block, for instance because a byte has changed.
  bool view(const Fields &fields, std::span<const std::byte> bytes);

  int64_t rowCount() const { return int64_t(contents.size()); }
  /// Returns the content digest of a row of the block.
  uint64_t content(int64_t row) const { return contents[size_t(row)]; }

  /// Repeats the reader's output for rows [first, first + count), as rows of
  /// file `file`. Good rows are appended to `into`.
  Status replay(int64_t first, int64_t count, int32_t file, RecordColumns &into,
                PassedRows &passed) const;

private:
  struct Column {
    const int64_t *splits; ///< Null if the field is not ragged.
    const std::byte *values;
    /// Bytes of one good row, or of one value if ragged.
    size_t bytes;
  };
  struct BadRow {
    int64_t row;
    std::string_view message, copied;
  };

  void appendGood(int64_t row, int64_t record, int64_t count, int32_t file,
                  RecordColumns &into, PassedRows &passed) const;

  std::span<const uint64_t> contents;
  std::vector<Column> columns;
  std::span<const int64_t> copiedEnds;
  const char *copiedText = nullptr;
  std::vector<BadRow> bad;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_CACHEBLOCK_H
