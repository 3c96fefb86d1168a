//===- ColumnField.h - Converts columns of a field --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_COLUMNFIELD_H
#define LIB_RUNTIME_DATA_COLUMNFIELD_H

#include "Data/ColumnElements.h"
#include "Data/ColumnValues.h"
#include "Data/RecordColumns.h"
#include "pdlrt/Core/AlignedVector.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pdlrt {

/// Converts the columns of one field, many rows at once. Not thread-safe.
class ColumnField {
public:
  /// `sources`: indices of the columns of the batch: one for all slots if
  /// `isWhole`, otherwise one for each slot. -1: the column is not in the file.
  ColumnField(const pdl_field &field, std::vector<int32_t> sources,
              bool isWhole);

  /// Prepares for the columns of a new batch. `isNew`: by column, true if the
  /// dictionary differs from that of the previous batch.
  void beginBatch(const std::vector<ColumnValues> &columns,
                  const std::vector<bool> &isNew);
  /// Appends `count` rows of the batch, from row `begin`. Returns false, and
  /// appends nothing, if the rows have to be converted one by one, to get their
  /// exact meaning or an error message.
  bool append(const std::vector<ColumnValues> &columns, int64_t begin,
              int64_t count, RecordColumns::Column &into);

private:
  template <typename T>
  bool appendAs(const std::vector<ColumnValues> &columns, int64_t begin,
                int64_t count, RecordColumns::Column &into);
  template <typename T>
  bool appendPlain(const std::vector<ColumnValues> &columns, int64_t begin,
                   int64_t count, RecordColumns::Column &into);
  template <typename T>
  bool appendLists(const ColumnValues &values, int64_t begin, int64_t count,
                   RecordColumns::Column &into);
  template <typename T>
  bool appendBags(const std::vector<ColumnValues> &columns, int64_t begin,
                  int64_t count, RecordColumns::Column &into);
  bool findSizes(const Lists &lists, int64_t begin, int64_t count,
                 int64_t *sizes) const;

  const pdl_field *field;
  std::vector<int32_t> sources;
  bool isWhole;
  bool isSuitable;
  std::vector<ElementConverter> converters; ///< By slot.
  /// Scratch for bags of several slots: values of all rows of each slot, sizes
  /// of their bags, and whether values are missing.
  std::vector<AlignedVector<std::byte>> slotValues;
  std::vector<std::vector<int64_t>> slotSizes;
  std::vector<uint8_t> missing;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_COLUMNFIELD_H
