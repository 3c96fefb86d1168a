//===- Batch.h - The samples of one step of one replica ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_DATA_BATCH_H
#define PDLRT_DATA_BATCH_H

#include "pdlabi/abi/record.h"
#include "pdlrt/Core/AlignedVector.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pdlrt {

/// The samples of one batch, with their fields in the layout of the ABI. A
/// BatchSource fills it. Reuse a Batch: it allocates memory only if a batch is
/// larger than all before. Not thread-safe.
class Batch {
public:
  /// Returns the number of samples; 0 before the first fill.
  int64_t size() const { return sampleCount; }
  /// Returns the batch's index within the epoch of its replica group, from 0.
  int64_t index() const { return batchIndex; }
  /// Returns the epoch in which the batch was read.
  int64_t epoch() const { return batchEpoch; }
  /// Returns the name of the file that contains the first sample.
  const std::string &file() const { return fileName; }
  /// Returns the row number of a sample among the rows that its replica group
  /// reads in this epoch, from 0. Bad rows have numbers too.
  int64_t row(int64_t sample) const { return rows[size_t(sample)]; }
  /// Returns the numbers that identify the samples in the data, as in
  /// `pdl_draws::samples`. Valid until the next fill.
  const int64_t *sampleNumbers() const { return samples.data(); }
  /// Returns the text that predictions copy from a sample: the cells of
  /// `DataOptions::copyColumns` (`takeCopiedCell` separates them), or the value
  /// of `DataOptions::idField`. Valid until the next fill.
  std::string_view copiedCell(int64_t sample) const {
    const int64_t begin = sample ? copiedEnds[size_t(sample) - 1] : 0;
    return {copiedText.data() + begin,
            size_t(copiedEnds[size_t(sample)] - begin)};
  }
  /// Returns one entry for each field that the program reads, in the program's
  /// order, for `pdl_step_context::fields`. Valid until the next fill.
  const pdl_field_data *fields() const { return fieldData.data(); }
  size_t fieldCount() const { return fieldData.size(); }

private:
  friend class BatchSource;
  friend class RecordColumns;

  struct FieldBuffers {
    AlignedVector<std::byte> values;
    AlignedVector<int32_t> splits;
  };
  std::vector<FieldBuffers> buffers;
  // Indexed by sample; `copiedEnds` are end positions in `copiedText`.
  AlignedVector<int64_t> rows, samples, copiedEnds;
  AlignedVector<char> copiedText;
  std::vector<pdl_field_data> fieldData;
  int64_t sampleCount = 0;
  int64_t batchIndex = 0, batchEpoch = 0;
  std::string fileName;
};

} // namespace pdlrt

#endif // PDLRT_DATA_BATCH_H
