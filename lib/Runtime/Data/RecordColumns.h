//===- RecordColumns.h - Parsed records, one column per field ---*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_RECORDCOLUMNS_H
#define LIB_RUNTIME_DATA_RECORDCOLUMNS_H

#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Core/AlignedVector.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Data/Batch.h"

#include <cstring>
#include <string_view>
#include <vector>

namespace pdlrt {

/// Returns the fields that `program` reads, in its order.
std::vector<const pdl_field *> fieldsOf(const pdl_descriptor &descriptor,
                                        const pdl_program &program);

/// The records of one shuffle window. A reader appends a record field by field,
/// then commits it or rolls it back. Batches are copied out of it. Clearing
/// keeps the allocated memory.
class RecordColumns {
public:
  /// Returns the size of one element of a column.
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
    /// Appends space for `count` values, which the caller writes.
    template <typename T> T *extend(size_t count) {
      const size_t size = values.size();
      values.resize(size + count * sizeof(T));
      return reinterpret_cast<T *>(values.data() + size); // NOLINT
    }
    /// RAGGED: ends the bag of the values appended since the last bag.
    void endBag() {
      splits.append(static_cast<int64_t>(values.size() / elementSize(*field)));
    }
  };

  explicit RecordColumns(const std::vector<const pdl_field *> &fields);

  void clear();
  int64_t recordCount() const { return static_cast<int64_t>(origins.size()); }
  Column &column(size_t field) { return columns[field]; }
  const Column &column(size_t field) const { return columns[field]; }

  /// Completes a record for which all columns have values. It comes from file
  /// `file` of the source, as row `row` of the pass and sample `sample` of the
  /// data. `copied`: the text that predictions copy.
  void commitRecord(int32_t file, int64_t row, int64_t sample,
                    std::string_view copied) {
    if (!copied.empty())
      copiedText.append(copied.data(), copied.size());
    origins.append({file, row, sample, int64_t(copiedText.size())});
  }
  /// RAGGED: returns the number of values in a bag that was appended since the
  /// last commit.
  int64_t pendingBagSize(size_t field, int64_t slot) const {
    const Column &from = columns[field];
    const int64_t *ends =
        from.splits.data() + recordCount() * from.field->width;
    return ends[slot + 1] - ends[slot];
  }
  /// DENSE: returns a value that was appended since the last commit.
  template <typename T> T pendingValue(size_t field, int64_t slot) const {
    const Column &from = columns[field];
    T value;
    std::memcpy(&value,
                from.values.data() +
                    size_t(recordCount() * from.field->width + slot) *
                        sizeof(T),
                sizeof(T));
    return value;
  }
  /// Discards everything appended since the last commit.
  void rollbackRecord();

  /// Returns the file of a record.
  int32_t fileOf(int64_t record) const {
    return origins[static_cast<size_t>(record)].file;
  }
  /// Returns the row of a record in the pass.
  int64_t rowOf(int64_t record) const {
    return origins[static_cast<size_t>(record)].row;
  }
  /// Returns the sample number (pdl_draws) of a record.
  int64_t sampleOf(int64_t record) const {
    return origins[static_cast<size_t>(record)].sample;
  }
  /// Return the copied text of a record, and the concatenated texts of all
  /// records.
  std::string_view copiedTextOf(int64_t record) const {
    const auto r = static_cast<size_t>(record);
    const int64_t begin = r ? origins[r - 1].copiedEnd : 0;
    return {copiedText.data() + begin, size_t(origins[r].copiedEnd - begin)};
  }
  std::string_view allCopiedText() const {
    return {copiedText.data(), copiedText.size()};
  }
  /// Appends records to `batch`: order[0 .. count), or, without an order,
  /// `count` records from `first`. Fails if the batch would have more ids than
  /// its 32-bit offsets can represent.
  Status appendTo(Batch &batch, const int64_t *order, int64_t first,
                  int64_t count) const;
  /// Makes `batch` an empty batch of these fields.
  void reset(Batch &batch) const;
  /// Sets the batch's public view to the appended data.
  void finish(Batch &batch) const;

private:
  std::vector<Column> columns;
  void appendRows(Batch &batch, const int64_t *order, int64_t first,
                  int64_t count) const;

  /// Origin of a record, and the end of its text in `copiedText`.
  struct Origin {
    int32_t file;
    int64_t row, sample, copiedEnd;
  };
  AlignedVector<Origin> origins;
  AlignedVector<char> copiedText;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_RECORDCOLUMNS_H
