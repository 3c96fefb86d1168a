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
#include "pdlrt/Core/AlignedVector.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace pdlrt {

/// Consecutive rows of a file as a cache keeps them: what a reader says of
/// them, in bytes. Little-endian; each part is filled up with zeros to a
/// multiple of 8 bytes. In order:
///
///   u64 XXH3 of the bytes behind it, up to the end of the block
///   u64 bytes of the block; u64 rows; u64 bad rows
///   u64 content of each row
///   of each field, in the program's order:
///     RAGGED: i64 splits of the good rows, from 0
///     values of the good rows
///   i64 where the copied text of each good row ends; that text
///   of each bad row: u64 row of the block, u64 bytes of its sentence,
///     u64 bytes of its copied text; behind all of them their texts
///
/// A view of such bytes, which somebody else keeps. Not thread-safe.
class CacheBlock {
public:
  using Fields = std::vector<const pdl_field *>;

  /// Bytes of a block before its rows.
  static constexpr size_t headBytes = 4 * sizeof(uint64_t);

  /// Makes a block of what a reader has said. `records` were committed with
  /// their row of the block.
  static void encode(const Fields &fields, const RecordColumns &records,
                     const RowLog &log, AlignedVector<std::byte> &bytes);

  /// None: it has no rows.
  CacheBlock() = default;
  /// Views a block; false where the bytes are none, for instance because one of
  /// them has changed.
  bool view(const Fields &fields, std::span<const std::byte> bytes);

  int64_t rowCount() const { return int64_t(contents.size()); }
  /// Of a row of the block.
  uint64_t content(int64_t row) const { return contents[size_t(row)]; }

  /// Says again what the reader said of rows [first, first + count), as rows of
  /// file `file`: the good ones are appended to `into`.
  Status replay(int64_t first, int64_t count, int32_t file, RecordColumns &into,
                PassedRows &passed) const;

private:
  struct Column {
    const int64_t *splits; ///< null: not ragged
    const std::byte *values;
    /// Of one good row; where it is ragged, of one value.
    size_t bytes;
  };
  struct BadRow {
    int64_t row;
    std::string_view sentence, copied;
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
