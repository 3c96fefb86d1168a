//===- InBatch.cpp - In-batch negatives on a device -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block of scores has at most 128 rows, and each row is as long as a batch.
// One iteration per row would be too few for a GPU. Therefore an iteration of a
// reduction computes one lane of a row. Code that needs the result for a row
// joins the lanes each time, which costs little.
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"
#include "Turns.h"

#include "pdlabi/abi/calls.h"
#include "pdlabi/device.h"
#include "pdlabi/math.h"

using namespace pdldevice;

namespace {

/// Returns the score of user `own` for item `other`, or minus infinity if this
/// item is not a negative: another sample's item with the id of the user's own
/// item.
inline float exclude(const int64_t *__restrict ids, int64_t own, int64_t other,
                     float score) {
  const bool isExcluded = ids && other != own && ids[other] == ids[own];
  return isExcluded ? -infinity<float>() : score;
}

/// Returns the maximum of a row of `count` scores from the maxima of its lanes.
/// A lane without a score repeats lane 0, which then contains only the first
/// score.
inline float joinMaxima(int64_t count, const float *__restrict maxima) {
  float lane[laneCount];
#pragma clang loop unroll(full)
  for (int l = 0; l < laneCount; ++l)
    lane[l] = maxima[l < count ? l : 0];
  return joinLanes(lane, Maximum());
}

inline float joinSums(const float *__restrict sums) {
  float lane[laneCount];
#pragma clang loop unroll(full)
  for (int l = 0; l < laneCount; ++l)
    lane[l] = sums[l];
  return joinLanes(lane, Sum());
}

} // namespace

int64_t pdldevice_in_batch_maxima_turns(int64_t, int64_t rows, int64_t,
                                        const void *, const int64_t *, void *,
                                        void *) {
  return rows * laneCount;
}

void pdldevice_in_batch_maxima_f32(int64_t blockFirst, int64_t rows,
                                   int64_t count,
                                   const float *__restrict correction,
                                   const int64_t *__restrict ids,
                                   float *__restrict scores,
                                   float *__restrict maxima, int64_t first,
                                   int64_t stride) {
  const int64_t turns = pdldevice_in_batch_maxima_turns(
      blockFirst, rows, count, correction, ids, scores, maxima);
  forTurns(turns, first, stride, [&](int64_t turn) {
    const int64_t row = turn / laneCount, lane = turn % laneCount;
    if (lane >= count)
      return;
    auto correct = [&](int64_t j) {
      float &score = scores[row * count + j];
      if (correction)
        score -= correction[j];
      score = exclude(ids, blockFirst + row, j, score);
      return score;
    };
    float largest = correct(lane);
    for (int64_t j = lane + laneCount; j < count; j += laneCount)
      largest = Maximum()(largest, correct(j));
    maxima[turn] = largest;
  });
}

int64_t pdldevice_in_batch_exponentials_turns(int64_t rows, int64_t,
                                              const void *, const void *,
                                              void *) {
  return rows * laneCount;
}

void pdldevice_in_batch_exponentials_f32(int64_t rows, int64_t count,
                                         const float *__restrict scores,
                                         const float *__restrict maxima,
                                         float *__restrict sums, int64_t first,
                                         int64_t stride) {
  const int64_t turns =
      pdldevice_in_batch_exponentials_turns(rows, count, scores, maxima, sums);
  forTurns(turns, first, stride, [&](int64_t turn) {
    const int64_t row = turn / laneCount, lane = turn % laneCount;
    const float largest = joinMaxima(count, maxima + row * laneCount);
    float sum = 0;
    for (int64_t j = lane; j < count; j += laneCount)
      sum += pdlabi::exp(scores[row * count + j] - largest);
    sums[turn] = sum;
  });
}

int64_t pdldevice_in_batch_logarithms_turns(int64_t rows, int64_t, const void *,
                                            const void *, void *) {
  return rows;
}

void pdldevice_in_batch_logarithms_f32(int64_t rows, int64_t count,
                                       const float *__restrict maxima,
                                       const float *__restrict sums,
                                       float *__restrict out, int64_t first,
                                       int64_t stride) {
  forTurns(pdldevice_in_batch_logarithms_turns(rows, count, maxima, sums, out),
           first, stride, [&](int64_t row) {
             const float largest = joinMaxima(count, maxima + row * laneCount);
             out[row] = largest + pdlabi::log(joinSums(sums + row * laneCount));
           });
}

int64_t pdldevice_in_batch_weights_turns(int64_t, int64_t, int64_t rows,
                                         int64_t count, const void *,
                                         const int64_t *, const void *,
                                         const void *, void *) {
  return rows * count;
}

void pdldevice_in_batch_weights_f32(
    int64_t side, int64_t blockFirst, int64_t rows, int64_t count,
    const float *__restrict correction, const int64_t *__restrict ids,
    const float *__restrict sums, const float *__restrict cotangent,
    float *__restrict scores, int64_t first, int64_t stride) {
  const int64_t turns = pdldevice_in_batch_weights_turns(
      side, blockFirst, rows, count, correction, ids, sums, cotangent, scores);
  forTurns(turns, first, stride, [&](int64_t turn) {
    const Division at = divide(turn, count);
    const int64_t own = blockFirst + at.quotient, other = at.remainder;
    // A row of scores belongs to a user or to an item.
    const int64_t user = side == PDL_SIDE_USERS ? own : other;
    const int64_t item = side == PDL_SIDE_USERS ? other : own;
    float score = scores[turn];
    if (correction)
      score -= correction[item];
    score = exclude(ids, own, other, score);
    scores[turn] = cotangent[user] * pdlabi::exp(score - sums[user]);
  });
}
