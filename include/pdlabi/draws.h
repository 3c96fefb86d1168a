//===- draws.h - Random numbers for samples ---------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The random numbers that a model draws for a sample: for nn.dropout, and for
// the ids that nn.sample returns. As in philox.h, a random number depends only
// on the seed, the epoch, the stream of the op, the sample, and the element. It
// does not depend on batches, replicas, threads or servers. Random numbers are
// words of Philox blocks:
//
//   Counter word 0: low half of the sample's number (pdl_draws).
//   Counter word 1: high half of it.
//   Counter word 2: number of the block. A block has four elements of
//                   nn.dropout, or two of nn.sample.
//   Counter word 3: number of the op's stream (`drawStream`).
//   Key:            the first two words of the Philox block whose key is the
//                   seed and whose counter is (low half of the epoch, high half
//                   of the epoch, 0, 1).
//
// Initial values of symbols use the seed itself as key (philox.h).
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_DRAWS_H
#define PDLABI_DRAWS_H

#include "pdlabi/abi/codes.h"
#include "pdlabi/hash.h"
#include "pdlabi/philox.h"

#include <cstdint>
#include <string_view>

namespace pdlabi {

/// Returns the number of the stream with this name: 32 bits of a hash of the
/// name.
inline uint32_t drawStream(std::string_view name) {
  return static_cast<uint32_t>(hashText(name, 0));
}

/// Returns the Philox key of all random numbers that are drawn in an epoch.
inline uint64_t drawKey(uint64_t seed, int64_t epoch) {
  const auto bits = static_cast<uint64_t>(epoch);
  const PhiloxBlock block = philox(
      {{static_cast<uint32_t>(bits), static_cast<uint32_t>(bits >> 32), 0, 1}},
      seed);
  return block.words[0] | uint64_t(block.words[1]) << 32;
}

/// Returns block `index` of the random numbers that a stream draws for a
/// sample.
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

/// The operation of nn.dropout on an element. The result is 0 if the random
/// word is less than `threshold`, otherwise the element times `scale`.
template <typename T> struct Dropout {
  uint64_t threshold;
  T scale;

  /// Precondition: 0 <= rate < 1.
  explicit Dropout(double rate)
      : threshold(static_cast<uint64_t>(rate * 0x1p+32)),
        scale(static_cast<T>(1.0 / (1.0 - rate))) {}
  T operator()(T value, uint32_t word) const {
    return word < threshold ? T(0) : value * scale;
  }
};

/// Applies dropout to all `count` elements of a sample.
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

/// Returns the number of ids in [first, `end`), at least 1.
inline uint64_t rangeSize(int64_t first, int64_t end) {
  return static_cast<uint64_t>(end) - static_cast<uint64_t>(first);
}

/// Returns the weight of a number that has occurred `count` times, for draws by
/// counts: `count` to the power `power`, and 0 if `count` is 0.
inline double countWeight(int64_t count, double power) {
  return count == 0 ? 0.0 : pow(static_cast<double>(count), power);
}

/// Writes the prefix sums of the weights of the numbers 0 to `size` - 1:
/// sums[k] is the sum of the weights of 0 to k, added in this order. No count
/// may be negative.
inline void sumWeights(const int64_t *counts, uint64_t size, double power,
                       double *sums) {
  double sum = 0;
  for (uint64_t k = 0; k < size; ++k)
    sums[k] = sum += countWeight(counts[k], power);
}

/// Divides the range of 64 random bits into `size` equal parts and returns the
/// part to which `bits` belongs.
inline uint64_t partOf(uint64_t bits, uint64_t size) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<uint64_t>(Wide(bits) * size >> 64);
}

/// Maps 64 random bits to a number in [0, sum). `sum` must be above the
/// smallest positive normal number.
///
/// The result is never rounded up to `sum`, because the factor of `sum` is at
/// most 1 - 2^-53. If `sum` is a power of two, the largest product is exactly
/// the next lower number. Otherwise each product is below `sum` by more than
/// half of the distance to the next lower number.
inline double shareOf(uint64_t bits, double sum) {
  return static_cast<double>(bits >> 11) * 0x1p-53 * sum;
}

/// Writes the table for draws by counts. It has `size` prefix sums of weights.
/// Then, for each of `size` equal parts of the range of random bits, it has the
/// number that the first bits of the part draw. A search in the prefix sums
/// that starts there has few steps.
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

/// Draws numbers in [0, size) with probabilities that fall like 1 / (k + 1).
class LogUniform {
public:
  explicit LogUniform(uint64_t size)
      : size(size),
        logarithm(detail::logOfPositive(static_cast<double>(size) + 1.0)) {}

  /// Returns the number that 64 random bits draw. With u in [0, 1), it is the k
  /// for which (size + 1)^u is in [k + 1, k + 2). The power has the bits of
  /// `pow`; only the logarithm of its base is computed in advance.
  uint64_t operator()(uint64_t bits) const {
    const double unit = static_cast<double>(bits >> 11) * 0x1p-53;
    const double high = unit * logarithm.high;
    const double low = __builtin_fma(
        unit, logarithm.low, __builtin_fma(unit, logarithm.high, -high));
    const auto number =
        static_cast<uint64_t>(detail::expOfPair({high, low})) - 1;
    return number < size ? number : size - 1;
  }

private:
  uint64_t size;
  detail::DoublePair logarithm;
};

/// Returns the number in [0, size) that 64 random bits draw. `table` is the
/// result of writeDrawTable if the distribution is by counts; otherwise it is
/// not used. Not for log-uniform draws, which `LogUniform` computes.
inline uint64_t drawnNumber(int32_t distribution, uint64_t size,
                            const double *table, uint64_t bits) {
  const uint64_t part = partOf(bits, size);
  if (distribution == PDL_DISTRIBUTION_UNIFORM)
    return part;
  // Finds the first sum above the draw's share. The sum of a number without
  // weight equals the previous sum, so it is never the first; the last sum is
  // always above the share.
  const double share = shareOf(bits, table[size - 1]);
  auto k = static_cast<uint64_t>(table[size + part]);
  while (table[k] <= share)
    ++k;
  return k;
}

/// Writes the `count` ids that a stream draws for a sample. `draw` returns the
/// number that 64 random bits draw, and `first` is the id of number 0.
template <typename Draw>
inline void drawIdsOfSample(const Draw &draw, int64_t first, uint64_t key,
                            uint32_t stream, int64_t sample, int64_t count,
                            int64_t *out) {
  for (int64_t i = 0; i < count; i += 2) {
    const PhiloxBlock block =
        drawBlock(key, stream, sample, static_cast<uint64_t>(i / 2));
    for (int64_t lane = 0; lane < 2 && i + lane < count; ++lane) {
      const uint64_t bits =
          block.words[2 * lane] | uint64_t(block.words[2 * lane + 1]) << 32;
      out[i + lane] =
          static_cast<int64_t>(static_cast<uint64_t>(first) + draw(bits));
    }
  }
}

/// Writes the ids in [first, end) that a stream draws for each of
/// `sampleCount` samples, `count` for each. `table` is as in drawnNumber.
inline void drawIds(int32_t distribution, int64_t first, int64_t end,
                    const double *table, uint64_t key, uint32_t stream,
                    const int64_t *samples, int64_t sampleCount, int64_t count,
                    int64_t *out) {
  const uint64_t size = rangeSize(first, end);
  const auto drawAll = [&](const auto &draw) {
    for (int64_t i = 0; i < sampleCount; ++i)
      drawIdsOfSample(draw, first, key, stream, samples[i], count,
                      out + i * count);
  };
  if (distribution == PDL_DISTRIBUTION_LOG_UNIFORM)
    drawAll(LogUniform(size));
  else
    drawAll([&](uint64_t bits) {
      return drawnNumber(distribution, size, table, bits);
    });
}

namespace detail {
inline double log(double x) { return __builtin_log(x); }
inline double log1p(double x) { return __builtin_log1p(x); }
inline float log(float x) { return pdlabi::log(x); }
inline float log1p(float x) { return pdlabi::log1p(x); }
} // namespace detail

/// Writes the logarithm of each number's probability for draws by counts. The
/// probability is the weight of the number, divided by the sum of all weights
/// (sumWeights). The logarithm is minus infinity if the count is 0.
inline void logProbabilitiesOfCounts(const int64_t *counts, uint64_t size,
                                     double power, double *logarithms) {
  sumWeights(counts, size, power, logarithms);
  const double sum = logarithms[size - 1];
  for (uint64_t k = 0; k < size; ++k)
    logarithms[k] = counts[k] == 0
                        ? -__builtin_inf()
                        : detail::log(countWeight(counts[k], power) / sum);
}

/// Returns the logarithm of the probability of drawing number k < `size`.
/// `logarithms` is the result of logProbabilitiesOfCounts if the distribution
/// is by counts; otherwise it is not used.
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
