//===- Pool.cpp - Rows of a lookup: gather, pooling and its gradient ------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlabi/abi.h"
#include "pdlrt/Core/Trace.h"
#include "pdlrt/Sched/Scheduler.h"

#include <algorithm>
#include <cmath>
#include <cstring>

// Every sum here is a chain of plain adds in the settled order; only the
// elements of a row, which do not meet, may share a vector. Threads share rows,
// bags and keys, each of which is one thread's.

namespace {

template <typename T>
void gather(int64_t count, int64_t width, void *const *rows, T *out) {
  const size_t bytes = sizeof(T) * static_cast<size_t>(width);
  // Rows of a large table are not in a cache.
  constexpr int64_t ahead = 16;
  pdlrt::parallelRanges(
      count, 2.0 * static_cast<double>(bytes) * static_cast<double>(count),
      [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          if (i + ahead < end)
            __builtin_prefetch(rows[i + ahead]);
          std::memcpy(out + i * width, rows[i], bytes);
        }
      });
}

/// What the sum over a bag of `size` ids is divided by.
template <typename T> T divisorOf(int32_t pooling, int64_t size) {
  return pooling == PDL_POOL_MEAN ? static_cast<T>(size)
                                  : std::sqrt(static_cast<T>(size));
}

template <typename T>
void poolBags(int32_t pooling, int64_t first, int64_t last, int64_t width,
              const T *rows, const int32_t *inverse, const int32_t *splits,
              int64_t rowBags, int64_t rowStride, T *out) {
  int64_t bagOfRow = first % rowBags;
  out += first / rowBags * rowStride;
  for (int64_t bag = first; bag < last; ++bag) {
    const int64_t begin = splits ? splits[bag] : bag;
    const int64_t end = splits ? splits[bag + 1] : bag + 1;
    T *__restrict sum = out + bagOfRow * width;
    if (++bagOfRow == rowBags) {
      bagOfRow = 0;
      out += rowStride;
    }
    std::fill_n(sum, width, T(0));
    for (int64_t o = begin; o < end; ++o) {
      const T *__restrict row = rows + inverse[o] * width;
      for (int64_t j = 0; j < width; ++j)
        sum[j] += row[j];
    }
    if (pooling == PDL_POOL_SUM || end - begin <= 1)
      continue;
    const T divisor = divisorOf<T>(pooling, end - begin);
    for (int64_t j = 0; j < width; ++j)
      sum[j] /= divisor;
  }
}

template <typename T>
void pool(int32_t pooling, int64_t bagCount, int64_t width, const T *rows,
          const int32_t *inverse, const int32_t *splits, int64_t rowBags,
          int64_t rowStride, T *out) {
  const int64_t ids = splits ? splits[bagCount] - splits[0] : bagCount;
  pdlrt::parallelRanges(
      bagCount, static_cast<double>((ids + bagCount) * width) * sizeof(T),
      [&](int64_t begin, int64_t end) {
        poolBags(pooling, begin, end, width, rows, inverse, splits, rowBags,
                 rowStride, out);
      });
}

/// Where bags begin that lie in rows, see pdlrt_pool.
class BagOffsets {
public:
  BagOffsets(int64_t rowBags, int64_t rowStride, int64_t width)
      : rowStride(rowStride), width(width), gap(rowStride - rowBags * width),
        inverse(rowBags == 1
                    ? 0
                    : ~uint64_t(0) / static_cast<uint64_t>(rowBags) + 1) {}

  int64_t operator()(int64_t bag) const {
    if (inverse == 0)
      return bag * rowStride;
    // Both are less than 2^31, so that the quotient is exact; a division would
    // cost more than a narrow row does.
    const auto row =
        static_cast<int64_t>((static_cast<unsigned __int128>(inverse) *
                              static_cast<uint64_t>(bag)) >>
                             64);
    return bag * width + row * gap;
  }

private:
  int64_t rowStride, width, gap;
  /// 2^64 / rowBags, rounded up; 0 if each row is a bag.
  uint64_t inverse;
};

template <typename T>
void poolGradientOfKeys(int64_t firstKey, int64_t lastKey, int32_t pooling,
                        const pdl_lookup &lookup, int64_t first, int64_t count,
                        int64_t width, const T *cotangent,
                        const BagOffsets &offsetOf, const int32_t *bagOf,
                        const int32_t *splits, bool accumulate, T *out) {
  const int64_t last = first + count;
  for (int64_t key = firstKey; key < lastKey; ++key) {
    T *__restrict sum = out + key * width;
    if (!accumulate)
      std::fill_n(sum, width, T(0));
    const int32_t *begin = lookup.occurrences + lookup.key_splits[key];
    const int32_t *end = lookup.occurrences + lookup.key_splits[key + 1];
    if (first > 0)
      begin = std::lower_bound(begin, end, first);
    for (const int32_t *o = begin; o != end && *o < last; ++o) {
      const int64_t position = *o - first;
      const int64_t bag = bagOf ? bagOf[position] : position;
      const T *__restrict source = cotangent + offsetOf(bag);
      const int64_t size = splits ? splits[bag + 1] - splits[bag] : 1;
      if (pooling == PDL_POOL_SUM || size == 1) {
        for (int64_t j = 0; j < width; ++j)
          sum[j] += source[j];
        continue;
      }
      const T divisor = divisorOf<T>(pooling, size);
      for (int64_t j = 0; j < width; ++j)
        sum[j] += source[j] / divisor;
    }
  }
}

/// Ranges of keys with about as many ids each: of real data, few keys have most
/// of the ids.
template <typename T>
void poolGradient(int32_t pooling, const pdl_lookup &lookup, int64_t first,
                  int64_t count, int64_t width, const T *cotangent,
                  const BagOffsets &offsetOf, const int32_t *bagOf,
                  const int32_t *splits, bool accumulate, T *out) {
  const int64_t keys = lookup.key_count;
  const int32_t *begins = lookup.key_splits;
  const int64_t ids = lookup.occurrence_count;
  const int64_t ranges = pdlrt::rangesFor(
      keys, static_cast<double>((keys + count) * width) * sizeof(T));
  auto keyAt = [&](int64_t range) {
    if (range == ranges)
      return keys;
    const int64_t id = ids * range / ranges;
    return static_cast<int64_t>(std::lower_bound(begins, begins + keys, id) -
                                begins);
  };
  pdlrt::parallelFor(ranges, [&](int64_t range) {
    poolGradientOfKeys(keyAt(range), keyAt(range + 1), pooling, lookup, first,
                       count, width, cotangent, offsetOf, bagOf, splits,
                       accumulate, out);
  });
}

} // namespace

void pdlrt_gather(int32_t type, int64_t count, int64_t width, void *const *rows,
                  void *out) {
  const pdlrt::TraceSpan span("gather", {count, width});
  if (type == PDL_F64)
    gather(count, width, rows, static_cast<double *>(out));
  else
    gather(count, width, rows, static_cast<float *>(out));
}

void pdlrt_pool(int32_t type, int32_t pooling, int64_t bagCount, int64_t width,
                const void *rows, const int32_t *inverse, const int32_t *splits,
                int64_t rowBags, int64_t rowStride, void *out) {
  const pdlrt::TraceSpan span("pool", {bagCount, width});
  if (type == PDL_F64)
    pool(pooling, bagCount, width, static_cast<const double *>(rows), inverse,
         splits, rowBags, rowStride, static_cast<double *>(out));
  else
    pool(pooling, bagCount, width, static_cast<const float *>(rows), inverse,
         splits, rowBags, rowStride, static_cast<float *>(out));
}

void pdlrt_pool_gradient(int32_t type, int32_t pooling,
                         const pdl_lookup *lookup, int64_t first, int64_t count,
                         int64_t width, const void *cotangent, int64_t rowBags,
                         int64_t rowStride, const int32_t *bagOf,
                         const int32_t *splits, int32_t accumulate, void *out) {
  const pdlrt::TraceSpan span("pool gradient",
                              {lookup->key_count, count, width});
  const BagOffsets offsetOf(rowBags, rowStride, width);
  if (type == PDL_F64)
    poolGradient(pooling, *lookup, first, count, width,
                 static_cast<const double *>(cotangent), offsetOf, bagOf,
                 splits, accumulate != 0, static_cast<double *>(out));
  else
    poolGradient(pooling, *lookup, first, count, width,
                 static_cast<const float *>(cotangent), offsetOf, bagOf, splits,
                 accumulate != 0, static_cast<float *>(out));
}

void pdlrt_bag_of(int64_t bagCount, const int32_t *splits, int32_t *bagOf) {
  const pdlrt::TraceSpan span("bag of", {bagCount});
  for (int64_t bag = 0; bag < bagCount; ++bag)
    for (int32_t o = splits[bag]; o < splits[bag + 1]; ++o)
      bagOf[o] = static_cast<int32_t>(bag);
}
