//===- Draws.cpp - Random numbers for samples on a device -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlabi/draws.h"

#include "Blocks.h"
#include "Turns.h"

#include "pdlabi/device.h"

using namespace pdldevice;

namespace {

/// Number of elements that share a block of random numbers.
constexpr int64_t elementsOfBlock = 4;

/// Returns the number of bags of each sample. Without splits, a sample is one
/// bag with one row.
inline int64_t bagsOfSample(int64_t sampleCount, int64_t bagCount,
                            const int32_t *splits) {
  return splits ? bagCount / sampleCount : 1;
}

/// Applies dropout. An iteration processes four adjacent columns of all rows of
/// a bag. If the width is a multiple of four, these columns of a row share one
/// block of random numbers.
template <typename T>
void drop(uint64_t seed, int64_t epoch, int64_t sampleCount,
          const int64_t *__restrict samples, int64_t stream, double rate,
          int64_t width, int64_t bagCount, const int32_t *__restrict splits,
          const T *__restrict values, T *__restrict out, int64_t first,
          int64_t stride) {
  const int64_t turns =
      pdldevice_dropout_turns(seed, epoch, sampleCount, samples, stream, rate,
                              width, bagCount, splits, values, out);
  if (first >= turns)
    return;
  const pdlabi::Dropout<T> dropout(rate);
  const uint64_t key = pdlabi::drawKey(seed, epoch);
  const int64_t bags = bagsOfSample(sampleCount, bagCount, splits);
  const int64_t begin = splits ? splits[0] : 0;
  forTurns(turns, first, stride, [&](int64_t turn) {
    const Division at = divide(turn, partsOf(width, elementsOfBlock));
    const int64_t bag = at.quotient, sample = divide(bag, bags).quotient;
    const int64_t column = at.remainder * elementsOfBlock;
    const int64_t columns = smaller(elementsOfBlock, width - column);
    const int64_t firstRow = splits ? splits[sample * bags] : sample;
    const int64_t firstOfBag = splits ? splits[bag] : bag;
    const int64_t end = splits ? splits[bag + 1] : bag + 1;
    pdlabi::PhiloxBlock block = {};
    int64_t drawn = -1;
    for (int64_t row = firstOfBag; row < end; ++row)
      for (int64_t i = 0; i < columns; ++i) {
        const int64_t element = (row - firstRow) * width + column + i;
        if (element / elementsOfBlock != drawn) {
          drawn = element / elementsOfBlock;
          block =
              pdlabi::drawBlock(key, static_cast<uint32_t>(stream),
                                samples[sample], static_cast<uint64_t>(drawn));
        }
        const int64_t place = (row - begin) * width + column + i;
        out[place] =
            dropout(values[place], wordOf(block, element % elementsOfBlock));
      }
  });
}

} // namespace

int64_t pdldevice_dropout_turns(uint64_t, int64_t, int64_t sampleCount,
                                const int64_t *, int64_t, double, int64_t width,
                                int64_t bagCount, const int32_t *splits,
                                const void *, void *) {
  if (sampleCount <= 0)
    return 0;
  return sampleCount * bagsOfSample(sampleCount, bagCount, splits) *
         partsOf(width, elementsOfBlock);
}

void pdldevice_dropout_f32(uint64_t seed, int64_t epoch, int64_t sampleCount,
                           const int64_t *samples, int64_t stream, double rate,
                           int64_t width, int64_t bagCount,
                           const int32_t *splits, const float *values,
                           float *out, int64_t first, int64_t stride) {
  drop(seed, epoch, sampleCount, samples, stream, rate, width, bagCount, splits,
       values, out, first, stride);
}

void pdldevice_dropout_f64(uint64_t seed, int64_t epoch, int64_t sampleCount,
                           const int64_t *samples, int64_t stream, double rate,
                           int64_t width, int64_t bagCount,
                           const int32_t *splits, const double *values,
                           double *out, int64_t first, int64_t stride) {
  drop(seed, epoch, sampleCount, samples, stream, rate, width, bagCount, splits,
       values, out, first, stride);
}
