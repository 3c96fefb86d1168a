//===- philox.h - Counter-based random numbers ------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy
// as 1, 2, 3; SC 2011): a stateless function of a counter and a key. So a
// random number depends only on its use, never on ranks or on the order of
// events.
//
// Initial values use it as follows, for element e of the row with a 64-bit key,
// of a symbol with a 64-bit id, and for a 64-bit seed:
//
//   Counter word 0: low half of the key.
//   Counter word 1: high half of the key.
//   Counter word 2: e / 4.
//   Counter word 3: low half of the symbol id, which is a hash.
//   Key word 0:     low half of the seed.
//   Key word 1:     high half of the seed.
//
// The uniform distribution uses word e mod 4 of the result. The truncated
// normal distribution applies its inverse distribution function to the same
// word. The normal distribution uses the pair of words that contains this word:
// by Box-Muller, the even element uses the cosine and the odd element uses the
// sine. The key of row r of a parameter is r; a vector is row 0. e is the index
// of the element in its row.
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_PHILOX_H
#define PDLABI_PHILOX_H

#include "pdlabi/abi/symbols.h"
#include "pdlabi/math.h"

#include <cstdint>

namespace pdlabi {

/// Four words: a counter or a result.
struct PhiloxBlock {
  uint32_t words[4];
};

/// Returns Philox4x32-10 of a counter. The key is `seed`, low half first.
inline PhiloxBlock philox(PhiloxBlock counter, uint64_t seed) {
  uint32_t key0 = static_cast<uint32_t>(seed);
  uint32_t key1 = static_cast<uint32_t>(seed >> 32);
  uint32_t c0 = counter.words[0], c1 = counter.words[1];
  uint32_t c2 = counter.words[2], c3 = counter.words[3];
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = uint64_t(0xd2511f53u) * c0;
    const uint64_t product1 = uint64_t(0xcd9e8d57u) * c2;
    c0 = static_cast<uint32_t>(product1 >> 32) ^ c1 ^ key0;
    c1 = static_cast<uint32_t>(product1);
    c2 = static_cast<uint32_t>(product0 >> 32) ^ c3 ^ key1;
    c3 = static_cast<uint32_t>(product0);
    key0 += 0x9e3779b9u;
    key1 += 0xbb67ae85u;
  }
  return {{c0, c1, c2, c3}};
}

/// Returns the upper 24 bits of a word as a multiple of 2^-24 in [0, 1).
inline float uniformOfWord(uint32_t word) {
  return static_cast<float>(word >> 8) * 0x1p-24f;
}

/// Returns one of the two standard normal values that Box-Muller computes from
/// two words: the second one if `odd`.
inline float normalOfWords(uint32_t first, uint32_t second, bool odd) {
  // In (0, 1], so that the logarithm is finite; exact in f32.
  const float positive = static_cast<float>((first >> 8) + 1) * 0x1p-24f;
  const float radius = __builtin_sqrtf(-2.0f * log(positive));
  const float turns = uniformOfWord(second);
  return radius * (odd ? sinTurns(turns) : cosTurns(turns));
}

/// Returns a value of the standard normal distribution, truncated to (-2, 2).
/// It is the inverse of the distribution function, at the middle of the
/// interval that the upper 24 bits of a word stand for. By symmetry, the value
/// for t in (-1, 1) is t * P(t^2) / Q(t^2). The quotient interpolates sqrt(2) *
/// erfinv(t * erf(sqrt(2))) / t in 15 Chebyshev nodes of t^2 in [0, 1]. Its
/// relative error is below 2e-9, far less than the precision of f32.
inline double truncatedNormalOfWord(uint32_t word) {
  constexpr double p[] = {1.1962880133226084,   -4.436232776087103,
                          6.631166795960804,    -5.082281624342453,
                          2.0920103987125103,   -0.43744626394576147,
                          0.037987427656848864, -0.0006698973227613182};
  constexpr double q[] = {1.0,
                          -3.9468492134666358,
                          6.365041340335142,
                          -5.36887527698072,
                          2.509887232252245,
                          -0.6303181382972277,
                          0.07429358979244179,
                          -0.002768496657393822};
  // Exact: odd multiples of 2^-24.
  const double t = (2.0 * (word >> 8) + 1.0) * 0x1p-24 - 1.0;
  const double square = t * t;
  double numerator = p[7], denominator = q[7];
  for (int i = 6; i >= 0; --i) {
    numerator = numerator * square + p[i];
    denominator = denominator * square + q[i];
  }
  return t * numerator / denominator;
}

/// Uniform distribution on a half-open interval [a, b).
class UniformInterval {
public:
  explicit UniformInterval(const pdl_initializer &initializer)
      : a(initializer.a), width(initializer.b - initializer.a),
        end(static_cast<float>(initializer.b)),
        isEmpty(!(initializer.a < initializer.b)) {
    const uint32_t bits = detail::bitsOf(end);
    belowEnd = end == 0.0f ? -0x1p-149f
                           : detail::floatOf(end > 0.0f ? bits - 1 : bits + 1);
  }
  /// Returns the value for a random word. It is computed in f64 and rounded
  /// once to f32. If the rounded value is b or more, returns the largest f32
  /// below b.
  float valueOfWord(uint32_t word) const {
    const double unit = uniformOfWord(word);
    const float value = static_cast<float>(a + width * unit);
    return value < end || isEmpty ? value : belowEnd;
  }

private:
  double a, width;
  float end, belowEnd;
  bool isEmpty;
};

/// Returns an initial value. `word` is the random word of its element. `first`
/// and `second` are the pair of words that contains it; it is the second one if
/// `odd`. The value is computed in f64 and rounded once to f32.
inline float initialValueOfWords(const pdl_initializer &initializer,
                                 uint32_t word, uint32_t first, uint32_t second,
                                 bool odd) {
  const double a = initializer.a;
  const double b = initializer.b;
  if (initializer.kind == PDL_INIT_UNIFORM)
    return UniformInterval(initializer).valueOfWord(word);
  if (initializer.kind == PDL_INIT_NORMAL) {
    const double standard = normalOfWords(first, second, odd);
    return static_cast<float>(a + b * standard);
  }
  if (initializer.kind == PDL_INIT_TRUNCATED_NORMAL)
    return static_cast<float>(a + b * truncatedNormalOfWord(word));
  return static_cast<float>(a);
}

/// Returns an initial value. `block` is the Philox block of its element e, and
/// `lane` is e mod 4.
inline float initialValueOfBlock(const pdl_initializer &initializer,
                                 const PhiloxBlock &block, int lane) {
  const int pair = lane & ~1;
  return initialValueOfWords(initializer, block.words[lane], block.words[pair],
                             block.words[pair + 1], lane & 1);
}

/// Number of Philox blocks that are computed in parallel, in the lanes of
/// vectors.
inline constexpr int philoxLanes = 4;

/// One counter word of each block that is computed in parallel. Each 32-bit
/// word is in a 64-bit lane, because its products have 64 bits.
typedef uint64_t PhiloxLanes __attribute__((vector_size(8 * philoxLanes)));
struct PhiloxCounters {
  PhiloxLanes words[4];
};

/// Computes the blocks of `philoxLanes` counters. Writes word w of block i to
/// words[4 * i + w].
inline void philoxBlocks(const PhiloxCounters &counters, uint64_t seed,
                         uint32_t (&words)[4 * philoxLanes]) {
  constexpr uint64_t low = 0xffffffffu;
  PhiloxLanes c0 = counters.words[0], c1 = counters.words[1];
  PhiloxLanes c2 = counters.words[2], c3 = counters.words[3];
  uint64_t key0 = seed & low, key1 = seed >> 32;
  for (int round = 0; round < 10; ++round) {
    // The mask shows the compiler that these are products of 32-bit numbers:
    // one instruction each instead of three.
    const PhiloxLanes product0 = (c0 & low) * uint64_t(0xd2511f53u);
    const PhiloxLanes product1 = (c2 & low) * uint64_t(0xcd9e8d57u);
    c0 = (product1 >> 32) ^ c1 ^ key0;
    c1 = product1 & low;
    c2 = (product0 >> 32) ^ c3 ^ key1;
    c3 = product0 & low;
    key0 = (key0 + 0x9e3779b9u) & low;
    key1 = (key1 + 0xbb67ae85u) & low;
  }
  for (int i = 0; i < philoxLanes; ++i) {
    words[4 * i] = static_cast<uint32_t>(c0[i]);
    words[4 * i + 1] = static_cast<uint32_t>(c1[i]);
    words[4 * i + 2] = static_cast<uint32_t>(c2[i]);
    words[4 * i + 3] = static_cast<uint32_t>(c3[i]);
  }
}

/// Like the function above, for counters that differ only in word 2, which is
/// `first`, `first` + 1, and so on.
inline void philoxBlocks(uint64_t key, uint32_t first, uint32_t symbol,
                         uint64_t seed, uint32_t (&words)[4 * philoxLanes]) {
  constexpr uint64_t low = 0xffffffffu;
  const PhiloxLanes zero = {};
  philoxBlocks({{zero + (key & low), zero + (key >> 32),
                 (PhiloxLanes{0, 1, 2, 3} + first) & low, zero + symbol}},
               seed, words);
}

/// Writes the initial values of the first `count` elements of the row of `key`.
/// If T is double, the values are those of f32, so that f32 and f64 programs
/// start with the same values.
template <typename T>
inline void fillInitialValues(const pdl_initializer &initializer, uint64_t seed,
                              uint64_t symbolId, uint64_t key, int64_t count,
                              T *out) {
  if (initializer.kind == PDL_INIT_CONSTANT) {
    for (int64_t element = 0; element < count; ++element)
      out[element] = static_cast<float>(initializer.a);
    return;
  }
  constexpr int64_t atOnce = 4 * philoxLanes;
  uint32_t words[atOnce];
  for (int64_t begin = 0; begin < count; begin += atOnce) {
    philoxBlocks(key, static_cast<uint32_t>(begin / 4),
                 static_cast<uint32_t>(symbolId), seed, words);
    const int64_t elements = count - begin < atOnce ? count - begin : atOnce;
    if (initializer.kind == PDL_INIT_UNIFORM) {
      const UniformInterval interval(initializer);
      for (int64_t i = 0; i < elements; ++i)
        out[begin + i] = interval.valueOfWord(words[i]);
      continue;
    }
    for (int64_t i = 0; i < elements; ++i) {
      const PhiloxBlock block = {{words[i & ~3], words[(i & ~3) + 1],
                                  words[(i & ~3) + 2], words[(i & ~3) + 3]}};
      out[begin + i] =
          initialValueOfBlock(initializer, block, static_cast<int>(i & 3));
    }
  }
}

} // namespace pdlabi

#endif // PDLABI_PHILOX_H
