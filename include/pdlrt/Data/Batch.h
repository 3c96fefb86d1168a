//===- Batch.h - The records of one step of one replica ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_DATA_BATCH_H
#define PDLRT_DATA_BATCH_H

#include "pdlrt/Core/AlignedVector.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pdlrt {

/// The fields of up to batch-size records, laid out as the ABI says. Filled by
/// a BatchSource and reused: once it has held the largest batch of a run, it
/// allocates no more. One thread at a time.
class Batch {
public:
  /// The number of samples; 0 before the first fill.
  int64_t size() const { return sampleCount; }
  /// The batch's index within its group's epoch, from 0.
  int64_t index() const { return batchIndex; }
  /// The epoch that the batch was read in.
  int64_t epoch() const { return batchEpoch; }
  /// The file that the first sample came from.
  const std::string &file() const { return fileName; }
  /// Which row of its group's pass a sample is, from 0, good and bad ones
  /// counted.
  int64_t row(int64_t sample) const { return rows[size_t(sample)]; }
  /// By sample, its number in the data, `pdl_draws::samples`. Valid until the
  /// next fill.
  const int64_t *sampleNumbers() const { return samples.data(); }
  /// What is let through of a sample: the cell of `DataOptions::copyColumns`
  /// (several of them as `takeCopiedCell` takes them), or the value of
  /// `DataOptions::idField`. Valid until the next fill.
  std::string_view copiedCell(int64_t sample) const {
    const int64_t begin = sample ? copiedEnds[size_t(sample) - 1] : 0;
    return {copiedText.data() + begin,
            size_t(copiedEnds[size_t(sample)] - begin)};
  }
  /// One entry for each field that the program reads, in the program's order:
  /// what `pdl_step_context::fields` wants. Valid until the next fill.
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
  // By sample; the ends are those of its text in that of all.
  AlignedVector<int64_t> rows, samples, copiedEnds;
  AlignedVector<char> copiedText;
  std::vector<pdl_field_data> fieldData;
  int64_t sampleCount = 0;
  int64_t batchIndex = 0, batchEpoch = 0;
  std::string fileName;
};

} // namespace pdlrt

#endif // PDLRT_DATA_BATCH_H
