//===- AffineSize.cpp - Memory that a batch needs -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Abi/AffineSize.h"

#include <algorithm>
#include <new>

using namespace pdlrt;

bool pdlrt::isValid(const pdl_affine_size &size, int32_t fieldCount,
                    int32_t lookupCount) {
  auto areBytes = [](const int64_t *numbers, int32_t count) {
    return !numbers || std::all_of(numbers, numbers + count,
                                   [](int64_t bytes) { return bytes >= 0; });
  };
  return size.constant >= 0 && size.per_batch >= 0 &&
         size.per_batch_squared >= 0 && areBytes(size.per_id, fieldCount) &&
         areBytes(size.per_key, lookupCount) &&
         areBytes(size.per_occurrence, lookupCount);
}

namespace {

/// Adds up products, and detects an overflow of int64_t.
class CheckedSum {
public:
  explicit CheckedSum(int64_t start) : sum(start) {}
  void add(int64_t bytes, int64_t count) {
    int64_t product = 0;
    overflows |= __builtin_mul_overflow(bytes, count, &product) ||
                 __builtin_add_overflow(sum, product, &sum);
  }
  std::optional<int64_t> result() const {
    return overflows ? std::nullopt : std::optional(sum);
  }

private:
  int64_t sum;
  bool overflows = false;
};

} // namespace

std::optional<int64_t> pdlrt::evaluate(const pdl_affine_size &size,
                                       const SizeCounts &counts) {
  CheckedSum sum(size.constant);
  sum.add(size.per_batch, counts.batch);
  if (size.per_batch_squared != 0) {
    int64_t perSample = 0;
    if (__builtin_mul_overflow(size.per_batch_squared, counts.batch,
                               &perSample))
      return std::nullopt;
    sum.add(perSample, counts.batch);
  }
  for (size_t f = 0; size.per_id && f < counts.fields.size(); ++f)
    sum.add(size.per_id[f], counts.fields[f].value_count);
  for (size_t l = 0; l < counts.lookups.size(); ++l) {
    if (size.per_key)
      sum.add(size.per_key[l], counts.lookups[l].key_count);
    if (size.per_occurrence)
      sum.add(size.per_occurrence[l], counts.lookups[l].occurrence_count);
  }
  return sum.result();
}

size_t pdlrt::bytesToAllocate(const pdl_affine_size &size,
                              const SizeCounts &counts) {
  const std::optional<int64_t> bytes = evaluate(size, counts);
  if (!bytes)
    throw std::bad_alloc();
  return size_t(*bytes);
}
