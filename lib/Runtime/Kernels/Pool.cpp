//===- Pool.cpp - Gather, pooling and its gradient ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlabi/abi/calls.h"
#include "pdlabi/abi/codes.h"
#include "pdlabi/rounding.h"
#include "pdlrt/Core/Trace.h"
#include "pdlrt/Sched/Scheduler.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

// All sums are computed by additions one after the other, in the fixed order. A
// vector contains only elements of one row, which do not depend on each other.
// Each row, bag or key is computed by one thread.

namespace {

/// Calls body.operator()<width>() if `width` is a frequent row width, so that
/// loops over a row have a constant length. Otherwise calls
/// body.operator()<0>().
template <typename Body> void withWidth(int64_t width, Body body) {
  auto choose =
      [&]<int64_t... widths>(std::integer_sequence<int64_t, widths...>) {
        const bool found =
            ((width == widths && (body.template operator()<widths>(), true)) ||
             ...);
        if (!found)
          body.template operator()<0>();
      };
  choose(std::integer_sequence<int64_t, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
                               13, 14, 15, 16, 20, 24, 32, 40, 48, 64>());
}

/// Returns `known` if it is not 0, so that the compiler sees a constant;
/// otherwise `width`.
template <int64_t known> int64_t widthOf(int64_t width) {
  return known ? known : width;
}

/// Copies the rows [begin, end) to `out`. `Stored`: type of the rows' elements,
/// either `T` or a type that is widened to `T`.
template <typename Stored, typename T, int64_t known>
void gatherRange(int64_t begin, int64_t end, int64_t dynamicWidth,
                 void *const *rows, T *__restrict out) {
  const int64_t width = widthOf<known>(dynamicWidth);
  // Rows of a large table are not in a cache, so prefetch them.
  constexpr int64_t ahead = 16;
  for (int64_t i = begin; i < end; ++i) {
    if (i + ahead < end) {
      // Rows that are not whole cache lines may end on another line.
      const auto *next = static_cast<const Stored *>(rows[i + ahead]);
      __builtin_prefetch(next);
      __builtin_prefetch(next + width - 1);
    }
    const auto *row = static_cast<const Stored *>(rows[i]);
    for (int64_t j = 0; j < width; ++j)
      out[i * width + j] = row[j];
  }
}

template <typename Stored, typename T>
void gather(const pdl_lookup &lookup, int64_t width, T *out) {
  const int64_t count = lookup.key_count;
  pdlrt::parallelRanges(
      count,
      double(sizeof(Stored) + sizeof(T)) * static_cast<double>(width * count),
      [&](int64_t begin, int64_t end) {
        withWidth(width, [&]<int64_t known>() {
          gatherRange<Stored, T, known>(begin, end, width, lookup.rows, out);
        });
      });
}

/// Returns the divisor of the sum over a bag of `size` ids.
template <typename T> T divisorOf(int32_t pooling, int64_t size) {
  return pooling == PDL_POOL_MEAN ? static_cast<T>(size)
                                  : std::sqrt(static_cast<T>(size));
}

/// Copies the rows of `count` adjacent bags, each of which has one id.
template <typename T, int64_t known>
void copyRows(int64_t count, int64_t dynamicWidth, const T *rows,
              const int32_t *inverse, T *__restrict out) {
  const int64_t width = widthOf<known>(dynamicWidth);
  for (int64_t i = 0; i < count; ++i) {
    const T *row = rows + inverse[i] * width;
    for (int64_t j = 0; j < width; ++j)
      out[i * width + j] = T(0) + row[j];
  }
}

template <typename T, int64_t known>
void poolBag(int32_t pooling, int64_t dynamicWidth, const T *rows,
             const int32_t *begin, const int32_t *end, T *__restrict sum) {
  const int64_t width = widthOf<known>(dynamicWidth);
  for (int64_t j = 0; j < width; ++j)
    sum[j] = 0;
  for (const int32_t *o = begin; o != end; ++o) {
    const T *__restrict row = rows + *o * width;
    for (int64_t j = 0; j < width; ++j)
      sum[j] += row[j];
  }
  if (pooling == PDL_POOL_SUM || end - begin <= 1)
    return;
  const T divisor = divisorOf<T>(pooling, end - begin);
  for (int64_t j = 0; j < width; ++j)
    sum[j] /= divisor;
}

template <typename T, int64_t known>
void poolBags(int32_t pooling, int64_t first, int64_t last, int64_t width,
              const T *rows, const int32_t *inverse, const int32_t *splits,
              int64_t rowBags, int64_t rowStride, T *out) {
  int64_t bagOfRow = first % rowBags;
  out += first / rowBags * rowStride;
  for (int64_t bag = first; bag < last;) {
    const int64_t count = std::min(rowBags - bagOfRow, last - bag);
    T *sums = out + bagOfRow * width;
    if (!splits)
      copyRows<T, known>(count, width, rows, inverse + bag, sums);
    else
      for (int64_t i = 0; i < count; ++i)
        poolBag<T, known>(pooling, width, rows, inverse + splits[bag + i],
                          inverse + splits[bag + i + 1], sums + i * width);
    bag += count;
    bagOfRow = 0;
    out += rowStride;
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
        withWidth(width, [&]<int64_t known>() {
          poolBags<T, known>(pooling, begin, end, width, rows, inverse, splits,
                             rowBags, rowStride, out);
        });
      });
}

int64_t occurrencesOf(const pdl_pooled_input &input) {
  return input.splits ? input.splits[input.bag_count] : input.bag_count;
}

template <typename T, int64_t known>
void addBag(const pdl_pooled_input &input, int64_t size, int64_t dynamicWidth,
            const T *__restrict source, T *__restrict sum) {
  const int64_t width = widthOf<known>(dynamicWidth);
  if (input.pooling == PDL_POOL_SUM || size == 1) {
    for (int64_t j = 0; j < width; ++j)
      sum[j] += source[j];
    return;
  }
  const T divisor = divisorOf<T>(input.pooling, size);
  for (int64_t j = 0; j < width; ++j)
    sum[j] += source[j] / divisor;
}

/// Goes through the bags of `input` in the order of memory. Reads the cotangent
/// of each bag once, and adds it to the sums of the keys in the bag.
template <typename T, int64_t known>
void scatterInput(const pdl_pooled_input &input, const int32_t *inverse,
                  int64_t dynamicWidth, T *out) {
  const int64_t width = widthOf<known>(dynamicWidth);
  const auto *row = static_cast<const T *>(input.cotangent);
  const int32_t *key = inverse + input.first;
  for (int64_t bag = 0; bag < input.bag_count; row += input.row_stride) {
    const int64_t bagsEnd = std::min(bag + input.row_bags, input.bag_count);
    for (const T *source = row; bag < bagsEnd; ++bag, source += width) {
      const int64_t size =
          input.splits ? input.splits[bag + 1] - input.splits[bag] : 1;
      for (int64_t i = 0; i < size; ++i)
        addBag<T, known>(input, size, width, source, out + *key++ * width);
    }
  }
}

/// Goes through the keys [firstKey, lastKey), and adds up the cotangents of all
/// occurrences of each key. Different threads can compute different keys.
/// `inputs` must be ordered by `first`; `bagOf` must be filled for inputs with
/// splits.
template <typename T, int64_t known>
void collectKeys(int64_t firstKey, int64_t lastKey, const pdl_lookup &lookup,
                 int64_t dynamicWidth, int32_t inputCount,
                 const pdl_pooled_input *inputs, const int32_t *bagOf, T *out) {
  const int64_t width = widthOf<known>(dynamicWidth);
  for (int64_t key = firstKey; key < lastKey; ++key) {
    const int32_t *o = lookup.occurrences + lookup.key_splits[key];
    const int32_t *end = lookup.occurrences + lookup.key_splits[key + 1];
    const pdl_pooled_input *input = std::upper_bound(
        inputs, inputs + inputCount, int64_t(*o),
        [](int64_t occurrence, const pdl_pooled_input &candidate) {
          return occurrence < candidate.first + occurrencesOf(candidate);
        });
    for (; o != end; ++o) {
      while (input != inputs + inputCount &&
             *o >= input->first + occurrencesOf(*input))
        ++input;
      if (input == inputs + inputCount)
        break;
      if (*o < input->first)
        continue;
      // Both are less than 2^31, and 32-bit division takes half as long.
      const auto bag =
          static_cast<uint32_t>(input->splits ? bagOf[*o] : *o - input->first);
      const auto rowBags = static_cast<uint32_t>(input->row_bags);
      const int64_t row = bag / rowBags, place = bag % rowBags;
      const int64_t size =
          input->splits ? input->splits[bag + 1] - input->splits[bag] : 1;
      addBag<T, known>(*input, size, width,
                       static_cast<const T *>(input->cotangent) +
                           row * input->row_stride + place * width,
                       out + key * width);
    }
  }
}

void fillBagOf(const pdl_pooled_input &input, int32_t *bagOf) {
  if (!input.splits)
    return;
  bagOf += input.first;
  for (int64_t bag = 0; bag < input.bag_count; ++bag)
    for (int32_t o = input.splits[bag]; o < input.splits[bag + 1]; ++o)
      bagOf[o] = static_cast<int32_t>(bag);
}

/// Computes the gradient of pooling, on one thread or on several. Both ways add
/// the occurrences of a key in ascending order, so results are equal.
template <typename T>
void poolGradient(const pdl_lookup &lookup, int64_t width, int32_t inputCount,
                  const pdl_pooled_input *inputs, int32_t *bagOf, T *out) {
  const int64_t keys = lookup.key_count;
  const int32_t *begins = lookup.key_splits;
  const int64_t ids = lookup.occurrence_count;
  const int64_t ranges = pdlrt::rangesFor(
      keys, static_cast<double>((keys + ids) * width) * sizeof(T));
  if (ranges == 1) {
    std::fill_n(out, keys * width, T(0));
    withWidth(width, [&]<int64_t known>() {
      for (int32_t i = 0; i < inputCount; ++i)
        scatterInput<T, known>(inputs[i], lookup.inverse, width, out);
    });
    return;
  }
  pdlrt::parallelFor(inputCount,
                     [&](int64_t i) { fillBagOf(inputs[i], bagOf); });
  // The ranges of keys have about the same number of ids. In real data, a few
  // keys have most of the ids.
  auto keyAt = [&](int64_t range) {
    if (range == ranges)
      return keys;
    const int64_t id = ids * range / ranges;
    return static_cast<int64_t>(std::lower_bound(begins, begins + keys, id) -
                                begins);
  };
  pdlrt::parallelFor(ranges, [&](int64_t range) {
    const int64_t first = keyAt(range), last = keyAt(range + 1);
    std::fill_n(out + first * width, (last - first) * width, T(0));
    withWidth(width, [&]<int64_t known>() {
      collectKeys<T, known>(first, last, lookup, width, inputCount, inputs,
                            bagOf, out);
    });
  });
}

} // namespace

void pdlrt_gather(int32_t type, const pdl_lookup *lookup, int64_t width,
                  void *out) {
  const pdlrt::TraceSpan span("gather", {lookup->key_count, width});
  if (type == PDL_F64)
    gather<double>(*lookup, width, static_cast<double *>(out));
  else if (lookup->storage == PDL_STORE_BF16)
    gather<pdlabi::BFloat16>(*lookup, width, static_cast<float *>(out));
  else if (lookup->storage == PDL_STORE_F16)
    gather<pdlabi::Float16>(*lookup, width, static_cast<float *>(out));
  else
    gather<float>(*lookup, width, static_cast<float *>(out));
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

void pdlrt_pool_gradient(int32_t type, const pdl_lookup *lookup, int64_t width,
                         int32_t inputCount, const pdl_pooled_input *inputs,
                         int32_t *bagOf, void *out) {
  const pdlrt::TraceSpan span("pool gradient",
                              {lookup->key_count, inputCount, width});
  if (type == PDL_F64)
    poolGradient(*lookup, width, inputCount, inputs, bagOf,
                 static_cast<double *>(out));
  else
    poolGradient(*lookup, width, inputCount, inputs, bagOf,
                 static_cast<float *>(out));
}
