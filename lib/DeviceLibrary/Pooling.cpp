//===- Pooling.cpp - Pooling of bags on a device --------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every sum is a chain of plain additions in the fixed order, within one
// iteration.
//
//===----------------------------------------------------------------------===//

#include "Turns.h"

#include "pdlabi/abi/calls.h"
#include "pdlabi/device.h"

using namespace pdldevice;

namespace {

/// Returns the divisor of the sum over a bag of `size` ids.
template <typename T> T divisorOf(int64_t pooling, int64_t size) {
  return pooling == PDL_POOL_MEAN ? static_cast<T>(size)
                                  : squareRoot(static_cast<T>(size));
}

/// Returns the offset of a bag's elements.
inline int64_t placeOf(int64_t bag, int64_t width, int64_t rowBags,
                       int64_t rowStride) {
  const Division row = divide(bag, rowBags);
  return row.quotient * rowStride + row.remainder * width;
}

template <typename T>
T poolElement(int64_t pooling, int64_t begin, int64_t end, int64_t width,
              const T *__restrict rows, const int32_t *__restrict inverse) {
  T sum = 0;
  for (int64_t o = begin; o < end; ++o)
    sum += rows[inverse[o] * width];
  if (pooling == PDL_POOL_SUM || end - begin <= 1)
    return sum;
  return sum / divisorOf<T>(pooling, end - begin);
}

template <typename T>
void pool(int64_t pooling, int64_t bagCount, int64_t width,
          const T *__restrict rows, const int32_t *__restrict inverse,
          const int32_t *__restrict splits, int64_t rowBags, int64_t rowStride,
          T *__restrict out, int64_t first, int64_t stride) {
  const int64_t turns = pdldevice_pool_turns(
      pooling, bagCount, width, rows, inverse, splits, rowBags, rowStride, out);
  forTurns(turns, first, stride, [&](int64_t turn) {
    const Division at = divide(turn, width);
    const int64_t bag = at.quotient, column = at.remainder;
    const int64_t begin = splits ? splits[bag] : bag;
    const int64_t end = splits ? splits[bag + 1] : bag + 1;
    out[placeOf(bag, width, rowBags, rowStride) + column] =
        poolElement(pooling, begin, end, width, rows + column, inverse);
  });
}

/// Searches the range [begin, end) of the ascending list `numbers`. Returns the
/// position of the first entry that is at least `number`, or `end` if there is
/// none.
inline int64_t findAtLeast(const int32_t *__restrict numbers, int64_t begin,
                           int64_t end, int64_t number) {
  while (begin < end) {
    const int64_t middle = begin + (end - begin) / 2;
    if (numbers[middle] < number)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

template <typename T>
void poolGradient(int64_t isFirst, int64_t keyCount, int64_t width,
                  const int32_t *__restrict keySplits,
                  const int32_t *__restrict occurrences, int64_t pooling,
                  int64_t inputFirst, int64_t bagCount,
                  const T *__restrict cotangent, int64_t rowBags,
                  int64_t rowStride, const int32_t *__restrict splits,
                  const int32_t *__restrict bagOf, T *__restrict out,
                  int64_t first, int64_t stride) {
  const int64_t turns = pdldevice_pool_gradient_turns(
      isFirst, keyCount, width, keySplits, occurrences, pooling, inputFirst,
      bagCount, cotangent, rowBags, rowStride, splits, bagOf, out);
  forTurns(turns, first, stride, [&](int64_t turn) {
    const Division at = divide(turn, width);
    const int64_t key = at.quotient;
    const T *column = cotangent + at.remainder;
    const int64_t inputEnd =
        inputFirst + (splits ? splits[bagCount] : bagCount);
    const int64_t end = keySplits[key + 1];
    T sum = isFirst ? T(0) : out[turn];
    // The input's occurrences are adjacent, because all occurrences ascend.
    for (int64_t i = findAtLeast(occurrences, keySplits[key], end, inputFirst);
         i < end && occurrences[i] < inputEnd; ++i) {
      const int64_t o = occurrences[i];
      const int64_t bag = splits ? bagOf[o] : o - inputFirst;
      const int64_t size = splits ? splits[bag + 1] - splits[bag] : 1;
      const T value = column[placeOf(bag, width, rowBags, rowStride)];
      sum += pooling == PDL_POOL_SUM || size == 1
                 ? value
                 : value / divisorOf<T>(pooling, size);
    }
    out[turn] = sum;
  });
}

} // namespace

int64_t pdldevice_pool_turns(int64_t, int64_t bagCount, int64_t width,
                             const void *, const int32_t *, const int32_t *,
                             int64_t, int64_t, void *) {
  return bagCount * width;
}

void pdldevice_pool_f32(int64_t pooling, int64_t bagCount, int64_t width,
                        const float *rows, const int32_t *inverse,
                        const int32_t *splits, int64_t rowBags,
                        int64_t rowStride, float *out, int64_t first,
                        int64_t stride) {
  pool(pooling, bagCount, width, rows, inverse, splits, rowBags, rowStride, out,
       first, stride);
}

void pdldevice_pool_f64(int64_t pooling, int64_t bagCount, int64_t width,
                        const double *rows, const int32_t *inverse,
                        const int32_t *splits, int64_t rowBags,
                        int64_t rowStride, double *out, int64_t first,
                        int64_t stride) {
  pool(pooling, bagCount, width, rows, inverse, splits, rowBags, rowStride, out,
       first, stride);
}

int64_t pdldevice_bags_of_turns(int64_t bagCount, const int32_t *, int32_t *) {
  return bagCount;
}

void pdldevice_bags_of(int64_t bagCount, const int32_t *splits, int32_t *bagOf,
                       int64_t first, int64_t stride) {
  forTurns(pdldevice_bags_of_turns(bagCount, splits, bagOf), first, stride,
           [&](int64_t bag) {
             for (int64_t o = splits[bag]; o < splits[bag + 1]; ++o)
               bagOf[o] = static_cast<int32_t>(bag);
           });
}

int64_t pdldevice_pool_gradient_turns(int64_t, int64_t keyCount, int64_t width,
                                      const int32_t *, const int32_t *, int64_t,
                                      int64_t, int64_t, const void *, int64_t,
                                      int64_t, const int32_t *, const int32_t *,
                                      void *) {
  return keyCount * width;
}

void pdldevice_pool_gradient_f32(int64_t isFirst, int64_t keyCount,
                                 int64_t width, const int32_t *keySplits,
                                 const int32_t *occurrences, int64_t pooling,
                                 int64_t inputFirst, int64_t bagCount,
                                 const float *cotangent, int64_t rowBags,
                                 int64_t rowStride, const int32_t *splits,
                                 const int32_t *bagOf, float *out,
                                 int64_t first, int64_t stride) {
  poolGradient(isFirst, keyCount, width, keySplits, occurrences, pooling,
               inputFirst, bagCount, cotangent, rowBags, rowStride, splits,
               bagOf, out, first, stride);
}

void pdldevice_pool_gradient_f64(int64_t isFirst, int64_t keyCount,
                                 int64_t width, const int32_t *keySplits,
                                 const int32_t *occurrences, int64_t pooling,
                                 int64_t inputFirst, int64_t bagCount,
                                 const double *cotangent, int64_t rowBags,
                                 int64_t rowStride, const int32_t *splits,
                                 const int32_t *bagOf, double *out,
                                 int64_t first, int64_t stride) {
  poolGradient(isFirst, keyCount, width, keySplits, occurrences, pooling,
               inputFirst, bagCount, cotangent, rowBags, rowStride, splits,
               bagOf, out, first, stride);
}
