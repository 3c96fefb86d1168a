//===- draws.h - Random numbers of samples ----------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a model draws for a sample: which elements nn.dropout leaves, which ids
// nn.sample gives. As in philox.h it depends on what it is for alone: on the
// seed, the epoch, the op's stream, the sample and the element; so not on
// batches, replicas, threads or servers.
//
//   counter word 0 = low half of the sample's number (pdl_draws)
//   counter word 1 = high half of it
//   counter word 2 = the block: of four elements of nn.dropout, of two of
//                    nn.sample
//   counter word 3 = the stream
//   key            = the first two words of Philox under the seed, of the
//                    counter (low half of the epoch, high half, 0, 1)
//
// Initial values of symbols have the seed itself as their key.
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_DRAWS_H
#define PDLABI_DRAWS_H

#include "pdlabi/hash.h"
#include "pdlabi/philox.h"

#include <cstdint>
#include <string_view>

namespace pdlabi {

/// A stream by its name. Any 32 bits of a hash are as good as others.
inline uint32_t drawStream(std::string_view name) {
  return static_cast<uint32_t>(hashText(name, 0));
}

/// The key of all that is drawn in an epoch.
inline uint64_t drawKey(uint64_t seed, int64_t epoch) {
  const auto bits = static_cast<uint64_t>(epoch);
  const PhiloxBlock block = philox(
      {{static_cast<uint32_t>(bits), static_cast<uint32_t>(bits >> 32), 0, 1}},
      seed);
  return block.words[0] | uint64_t(block.words[1]) << 32;
}

/// Block `index` of what a stream draws for a sample.
inline PhiloxBlock drawBlock(uint64_t key, uint32_t stream, int64_t sample,
                             uint64_t index) {
  const auto bits = static_cast<uint64_t>(sample);
  return philox(
      {{static_cast<uint32_t>(bits), static_cast<uint32_t>(bits >> 32),
        static_cast<uint32_t>(index), stream}},
      key);
}

//===----------------------------------------------------------------------===//
// Dropout
//===----------------------------------------------------------------------===//

/// What nn.dropout does with an element: it is 0 if its word is below
/// `threshold`, else multiplied by `scale`.
template <typename T> struct Dropout {
  uint64_t threshold;
  T scale;

  /// 0 <= rate < 1.
  explicit Dropout(double rate)
      : threshold(static_cast<uint64_t>(rate * 0x1p+32)),
        scale(static_cast<T>(1.0 / (1.0 - rate))) {}
  T operator()(T value, uint32_t word) const {
    return word < threshold ? T(0) : value * scale;
  }
};

/// Of `count` elements, which are all of a sample.
template <typename T>
inline void dropElements(const Dropout<T> &dropout, uint64_t key,
                         uint32_t stream, int64_t sample, int64_t count,
                         const T *values, T *out) {
  for (int64_t i = 0; i < count; i += 4) {
    const PhiloxBlock block =
        drawBlock(key, stream, sample, static_cast<uint64_t>(i / 4));
    const int64_t rest = count - i < 4 ? count - i : 4;
    for (int64_t lane = 0; lane < rest; ++lane)
      out[i + lane] = dropout(values[i + lane], block.words[lane]);
  }
}

//===----------------------------------------------------------------------===//
// Samplers
//===----------------------------------------------------------------------===//

/// How many ids there are with first <= id < behind; first < behind.
inline uint64_t rangeSize(int64_t first, int64_t behind) {
  return static_cast<uint64_t>(behind) - static_cast<uint64_t>(first);
}

/// How much a number counts that has been counted so often.
inline double countWeight(int64_t count, double power) {
  return count == 0 ? 0.0 : pow(static_cast<double>(count), power);
}

/// Writes the sums of weights of numbers that were counted: sums[k] is that of
/// numbers 0 to k, added in their order. No count is below 0.
inline void sumWeights(const int64_t *counts, uint64_t size, double power,
                       double *sums) {
  double sum = 0;
  for (uint64_t k = 0; k < size; ++k)
    sums[k] = sum += countWeight(counts[k], power);
}

/// Which of `size` equal parts of all draws 64 random bits belong to.
inline uint64_t partOf(uint64_t bits, uint64_t size) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<uint64_t>(Wide(bits) * size >> 64);
}

/// What 64 random bits are between 0 and `sum`, which they never reach.
///
/// Their share of it is at least 2^-53 below 1, so that the product is below
/// `sum` by more than half of what separates that from the number before it, or
/// leads to this number exactly.
inline double shareOf(uint64_t bits, double sum) {
  return static_cast<double>(bits >> 11) * 0x1p-53 * sum;
}

/// Writes the table by which numbers are drawn that were counted: `size` sums
/// of weights, and for each of as many parts of all draws the number at which
/// its first draw ends, so that few sums are between that and a draw's own
/// number.
inline void writeDrawTable(const int64_t *counts, uint64_t size, double power,
                           double *table) {
  sumWeights(counts, size, power, table);
  __extension__ using Wide = unsigned __int128;
  uint64_t k = 0;
  for (uint64_t part = 0; part < size; ++part) {
    const auto bits =
        static_cast<uint64_t>(((Wide(part) << 64) + size - 1) / size);
    while (table[k] <= shareOf(bits, table[size - 1]))
      ++k;
    table[size + part] = static_cast<double>(k);
  }
}

/// What 64 random bits draw of `size` numbers from 0; `table`, by counts, as
/// writeDrawTable writes it.
inline uint64_t drawnNumber(int32_t distribution, uint64_t size,
                            const double *table, uint64_t bits) {
  const uint64_t part = partOf(bits, size);
  if (distribution == PDL_DISTRIBUTION_UNIFORM)
    return part;
  if (distribution == PDL_DISTRIBUTION_COUNTS) {
    // The first whose sum is above the draw's share. A number without weight,
    // whose sum is that of the number before it, never is; the last sum is.
    const double share = shareOf(bits, table[size - 1]);
    auto k = static_cast<uint64_t>(table[size + part]);
    while (table[k] <= share)
      ++k;
    return k;
  }
  // With u in [0, 1), the k for which (size + 1)^u is in [k + 1, k + 2).
  const double unit = static_cast<double>(bits >> 11) * 0x1p-53;
  const double power = pow(static_cast<double>(size) + 1.0, unit);
  const auto number = static_cast<uint64_t>(power) - 1;
  return number < size ? number : size - 1;
}

/// Writes the `count` ids that a stream draws for a sample; `table` as for
/// drawnNumber.
inline void drawIds(int32_t distribution, int64_t first, int64_t behind,
                    const double *table, uint64_t key, uint32_t stream,
                    int64_t sample, int64_t count, int64_t *out) {
  const uint64_t size = rangeSize(first, behind);
  for (int64_t i = 0; i < count; i += 2) {
    const PhiloxBlock block =
        drawBlock(key, stream, sample, static_cast<uint64_t>(i / 2));
    for (int64_t lane = 0; lane < 2 && i + lane < count; ++lane) {
      const uint64_t bits =
          block.words[2 * lane] | uint64_t(block.words[2 * lane + 1]) << 32;
      out[i + lane] =
          static_cast<int64_t>(static_cast<uint64_t>(first) +
                               drawnNumber(distribution, size, table, bits));
    }
  }
}

namespace detail {
inline double log(double x) { return __builtin_log(x); }
inline double log1p(double x) { return __builtin_log1p(x); }
inline float log(float x) { return pdlabi::log(x); }
inline float log1p(float x) { return pdlabi::log1p(x); }
} // namespace detail

/// Writes the logarithm of each number's probability where numbers are drawn by
/// counts: of its weight over the sum of all, which is that of sumWeights.
/// Minus infinity where the count is 0.
inline void logProbabilitiesOfCounts(const int64_t *counts, uint64_t size,
                                     double power, double *logarithms) {
  sumWeights(counts, size, power, logarithms);
  const double sum = logarithms[size - 1];
  for (uint64_t k = 0; k < size; ++k)
    logarithms[k] = counts[k] == 0
                        ? -__builtin_inf()
                        : detail::log(countWeight(counts[k], power) / sum);
}

/// The logarithm of the probability that a draw gives number k of `size`;
/// k < size. `logarithms`, by counts: those of all numbers.
template <typename T>
inline T logProbability(int32_t distribution, uint64_t size,
                        const double *logarithms, uint64_t k) {
  if (distribution == PDL_DISTRIBUTION_COUNTS)
    return static_cast<T>(logarithms[k]);
  if (distribution == PDL_DISTRIBUTION_UNIFORM)
    return -detail::log(static_cast<T>(size));
  const T share = detail::log1p(T(1) / static_cast<T>(k + 1));
  return detail::log(share / detail::log(static_cast<T>(size) + T(1)));
}

} // namespace pdlabi

#endif // PDLABI_DRAWS_H
