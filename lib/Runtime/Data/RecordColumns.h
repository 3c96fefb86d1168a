//===- RecordColumns.h - Parsed records, one column a field -----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_RECORDCOLUMNS_H
#define LIB_RUNTIME_DATA_RECORDCOLUMNS_H

#include "pdlrt/Core/AlignedVector.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Data/Batch.h"

#include <cstring>
#include <string_view>
#include <vector>

namespace pdlrt {

/// The fields that `program` reads, in its order.
std::vector<const pdl_field *> fieldsOf(const pdl_descriptor &descriptor,
                                        const pdl_program &program);

/// The records of one shuffle window. Readers append to it field by field and
/// then say whether the record is good; batches are copied out of it. It keeps
/// its memory when it is cleared.
class RecordColumns {
public:
  /// Bytes of one element of a column.
  static size_t elementSize(const pdl_field &field) {
    return field.element_type == PDL_F32 ? sizeof(float) : sizeof(int64_t);
  }

  struct Column {
    const pdl_field *field;
    AlignedVector<std::byte> values;
    AlignedVector<int64_t> splits; ///< RAGGED only; begins with a 0

    template <typename T> void append(T value) {
      const size_t size = values.size();
      values.resize(size + sizeof(T));
      std::memcpy(values.data() + size, &value, sizeof(T));
    }
    /// Makes room for `count` more values, which the caller writes.
    template <typename T> T *extend(size_t count) {
      const size_t size = values.size();
      values.resize(size + count * sizeof(T));
      return reinterpret_cast<T *>(values.data() + size); // NOLINT
    }
    /// RAGGED: ends the bag that holds what was appended since the last one.
    void endBag() {
      splits.append(static_cast<int64_t>(values.size() / elementSize(*field)));
    }
  };

  explicit RecordColumns(const std::vector<const pdl_field *> &fields);

  void clear();
  int64_t recordCount() const { return static_cast<int64_t>(origins.size()); }
  Column &column(size_t field) { return columns[field]; }
  const Column &column(size_t field) const { return columns[field]; }

  /// Every column has been given one more record, which came from file `file`
  /// of the source, as row `row` of the pass and sample `sample` of the data.
  /// `copied`: the cell that is to stand beside its predictions.
  void commitRecord(int32_t file, int64_t row, int64_t sample,
                    std::string_view copied) {
    if (!copied.empty())
      copiedText.append(copied.data(), copied.size());
    origins.append({file, row, sample, int64_t(copiedText.size())});
  }
  /// RAGGED: the number of values of a bag that was appended since the last
  /// commit.
  int64_t pendingBagSize(size_t field, int64_t slot) const {
    const Column &from = columns[field];
    const int64_t *ends =
        from.splits.data() + recordCount() * from.field->width;
    return ends[slot + 1] - ends[slot];
  }
  /// Forgets what was appended since the last commit.
  void rollbackRecord();

  /// The file of a record.
  int32_t fileOf(int64_t record) const {
    return origins[static_cast<size_t>(record)].file;
  }
  /// Its row in the pass.
  int64_t rowOf(int64_t record) const {
    return origins[static_cast<size_t>(record)].row;
  }
  /// What is let through of a record, and of all of them, one behind the other.
  std::string_view copiedTextOf(int64_t record) const {
    const auto r = static_cast<size_t>(record);
    const int64_t begin = r ? origins[r - 1].copiedEnd : 0;
    return {copiedText.data() + begin, size_t(origins[r].copiedEnd - begin)};
  }
  std::string_view allCopiedText() const {
    return {copiedText.data(), copiedText.size()};
  }
  /// Appends records to `batch`: those of order[0 .. count), or, without an
  /// order, `count` records from `first`. Fails if a batch would have more ids
  /// than its 32-bit offsets can count.
  Status appendTo(Batch &batch, const int64_t *order, int64_t first,
                  int64_t count) const;
  /// Makes `batch` an empty batch of these fields.
  void reset(Batch &batch) const;
  /// Sets the batch's public view to what was appended.
  void finish(Batch &batch) const;

private:
  std::vector<Column> columns;
  void appendRows(Batch &batch, const int64_t *order, int64_t first,
                  int64_t count) const;

  /// Where a record comes from, and where its text ends in that of all.
  struct Origin {
    int32_t file;
    int64_t row, sample, copiedEnd;
  };
  AlignedVector<Origin> origins;
  AlignedVector<char> copiedText;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_RECORDCOLUMNS_H
