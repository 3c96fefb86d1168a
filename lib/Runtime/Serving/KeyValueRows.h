//===- KeyValueRows.h - Rows for exports and comparisons --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_SERVING_KEYVALUEROWS_H
#define LIB_RUNTIME_SERVING_KEYVALUEROWS_H

#include "pdlrt/Checkpoint/SortedRows.h"
#include "pdlrt/Serving/KeyValueExport.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace pdlrt {

inline bool comesBefore(KeyOrder order, int64_t a, int64_t b) {
  return order == KeyOrder::Signed ? a < b : uint64_t(a) < uint64_t(b);
}

/// Reads the rows of a table of a checkpoint in the form in which they are
/// exported: 16-bit values are widened to F32. Not thread-safe.
class WideRows {
public:
  /// Like `SortedRows::open`.
  static Expected<WideRows> open(const Checkpoint &checkpoint,
                                 const CheckpointSymbol &symbol, size_t part,
                                 KeyOrder order, size_t memory);

  const RowElements &elements() const { return wideElements; }
  /// Advances to the next row. Returns an error if a number is not finite.
  Expected<bool> next();
  int64_t key() const { return rows.key(); }
  const std::byte *values() const { return row.data(); }

private:
  WideRows(std::string table, std::string checkpoint, SortedRows rows);

  std::string table, checkpoint;
  SortedRows rows;
  int32_t storage;
  RowElements wideElements;
  std::vector<std::byte> row;
};

/// Export that is open for reading.
struct OpenKeyValues {
  static Expected<OpenKeyValues>
  open(const std::string &path, std::span<const KeyValueFormat *const> formats);

  std::string path;
  const KeyValueFormat &format;
  KeyValueManifest manifest;
};

/// Reads the rows of a table of an export. Not thread-safe.
class TableReader {
public:
  /// The arguments must outlive this object.
  TableReader(const OpenKeyValues &source, const KeyValueTable &table)
      : source(source), table(table) {}

  /// Advances to the next row; returns false at the end. Returns an error if
  /// the keys or the number of rows in a file differ from the manifest.
  Expected<bool> next();
  int64_t key() const { return reader->key(); }
  const std::byte *values() const { return reader->values(); }

private:
  bool check(const KeyValueFile &file);
  Status misplaced(const KeyValueFile &file) const;

  const OpenKeyValues &source;
  const KeyValueTable &table;
  size_t index = 0;
  std::unique_ptr<KeyValueReader> reader;
  int64_t rowsOfFile = 0;
  std::optional<int64_t> last;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_SERVING_KEYVALUEROWS_H
