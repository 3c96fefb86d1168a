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

/// What 64 random bits draw of `size` numbers from 0.
inline uint64_t drawnNumber(int32_t distribution, uint64_t size,
                            uint64_t bits) {
  if (distribution == PDL_DISTRIBUTION_UNIFORM) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<uint64_t>(Wide(bits) * size >> 64);
  }
  // With u in [0, 1), the k for which (size + 1)^u is in [k + 1, k + 2).
  const double unit = static_cast<double>(bits >> 11) * 0x1p-53;
  const double power = pow(static_cast<double>(size) + 1.0, unit);
  const auto number = static_cast<uint64_t>(power) - 1;
  return number < size ? number : size - 1;
}

/// Writes the `count` ids that a stream draws for a sample.
inline void drawIds(int32_t distribution, int64_t first, int64_t behind,
                    uint64_t key, uint32_t stream, int64_t sample,
                    int64_t count, int64_t *out) {
  const uint64_t size = rangeSize(first, behind);
  for (int64_t i = 0; i < count; i += 2) {
    const PhiloxBlock block =
        drawBlock(key, stream, sample, static_cast<uint64_t>(i / 2));
    for (int64_t lane = 0; lane < 2 && i + lane < count; ++lane) {
      const uint64_t bits =
          block.words[2 * lane] | uint64_t(block.words[2 * lane + 1]) << 32;
      out[i + lane] = static_cast<int64_t>(
          static_cast<uint64_t>(first) + drawnNumber(distribution, size, bits));
    }
  }
}

namespace detail {
inline double log(double x) { return __builtin_log(x); }
inline double log1p(double x) { return __builtin_log1p(x); }
inline float log(float x) { return pdlabi::log(x); }
inline float log1p(float x) { return pdlabi::log1p(x); }
} // namespace detail

/// The logarithm of the probability that a draw gives number k of `size`;
/// k < size.
template <typename T>
inline T logProbability(int32_t distribution, uint64_t size, uint64_t k) {
  if (distribution == PDL_DISTRIBUTION_UNIFORM)
    return -detail::log(static_cast<T>(size));
  const T share = detail::log1p(T(1) / static_cast<T>(k + 1));
  return detail::log(share / detail::log(static_cast<T>(size) + T(1)));
}

} // namespace pdlabi

#endif // PDLABI_DRAWS_H
