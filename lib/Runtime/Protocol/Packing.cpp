//===- Packing.cpp - Compression of keys and gradients --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Protocol/Packing.h"

#include "pdlabi/hash.h"
#include "pdlabi/placement.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

using namespace pdlrt;

static constexpr std::array keyNames = {"none", "delta"};
static constexpr std::array gradientNames = {"none", "bf16", "int8"};

const char *pdlrt::nameOf(KeyPacking packing) {
  return keyNames[size_t(packing)];
}

const char *pdlrt::nameOf(GradientPacking packing) {
  return gradientNames[size_t(packing)];
}

template <typename Packing, size_t Count>
static std::optional<Packing> find(const std::array<const char *, Count> &names,
                                   std::string_view name) {
  for (size_t i = 0; i < Count; ++i)
    if (name == names[i])
      return Packing(i);
  return std::nullopt;
}

std::optional<KeyPacking> pdlrt::keyPackingOf(std::string_view name) {
  return find<KeyPacking>(keyNames, name);
}

std::optional<GradientPacking> pdlrt::gradientPackingOf(std::string_view name) {
  return find<GradientPacking>(gradientNames, name);
}

uint64_t pdlrt::fingerprintWith(uint64_t fingerprint, GradientPacking packing) {
  return packing == GradientPacking::None
             ? fingerprint
             : fingerprint ^ pdlabi::mixKey(uint64_t(packing));
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

/// XOR with this bit maps signed keys to unsigned numbers in the same order.
static constexpr uint64_t signBit = uint64_t(1) << 63;

/// Number of bits of a field with the length of a number. If the field has the
/// value `longest`, all 64 bits of the number follow.
static constexpr unsigned lengthBits = 6, longest = 63;

namespace {

/// Writes bit fields, starting with the lowest bit of each byte.
class BitWriter {
public:
  /// Appends the lowest `count` bits of `number`. All other bits of `number`
  /// must be zero. `count` is at most 63.
  void add(uint64_t number, unsigned count) {
    held |= number << used;
    if (used + count < 64) {
      used += count;
      return;
    }
    out.append(reinterpret_cast<const char *>(&held), sizeof(held));
    held = used == 0 ? 0 : number >> (64 - used);
    used = used + count - 64;
  }
  std::string finish() {
    out.append(reinterpret_cast<const char *>(&held), (used + 7) / 8);
    return std::move(out);
  }

private:
  std::string out;
  uint64_t held = 0;
  unsigned used = 0;
};

class BitReader {
public:
  explicit BitReader(std::span<const std::byte> of) : bytes(of) {}
  uint64_t left() const { return bytes.size() * 8 - at; }
  /// Reads `count` bits: at most 32, and at most as many as are left.
  uint64_t take(unsigned count) {
    uint64_t window = 0;
    std::memcpy(&window, bytes.data() + at / 8,
                std::min<size_t>(sizeof(window), bytes.size() - at / 8));
    window >>= at % 8;
    at += count;
    return window & ((uint64_t(1) << count) - 1);
  }
  /// Reads up to 64 bits.
  uint64_t takeLong(unsigned count) {
    const unsigned low = std::min(count, 32U);
    const uint64_t first = low > 0 ? take(low) : 0;
    return count > low ? first | take(count - low) << low : first;
  }

private:
  const std::span<const std::byte> bytes;
  uint64_t at = 0;
};

} // namespace

std::string pdlrt::packKeys(std::span<const int64_t> keys) {
  std::vector<int64_t> ascending(keys.begin(), keys.end());
  std::sort(ascending.begin(), ascending.end());
  BitWriter bits;
  bits.add(keys.size() & 0xffffffff, 32);
  bits.add(keys.size() >> 32, 32);
  // One less than the smallest number, modulo 2^64.
  uint64_t before = std::numeric_limits<uint64_t>::max();
  for (const int64_t key : ascending) {
    const uint64_t number = uint64_t(key) ^ signBit;
    const uint64_t difference = number - before - 1;
    before = number;
    const auto length =
        std::min(static_cast<unsigned>(std::bit_width(difference)), longest);
    bits.add(length, lengthBits);
    if (length == longest) {
      bits.add(difference & 0xffffffff, 32);
      bits.add(difference >> 32, 32);
    } else if (length > 1) {
      // The highest bit is always 1, so it is not stored.
      bits.add(difference ^ uint64_t(1) << (length - 1), length - 1);
    }
  }
  return bits.finish();
}

Expected<std::vector<int64_t>>
pdlrt::unpackKeys(std::span<const std::byte> bytes) {
  const Status damaged = Status::dataLoss("packed keys are damaged");
  BitReader bits(bytes);
  if (bits.left() < 64)
    return damaged;
  const uint64_t count = bits.takeLong(64);
  if (count > bits.left() / lengthBits)
    return damaged;
  std::vector<int64_t> keys(count);
  uint64_t before = std::numeric_limits<uint64_t>::max();
  for (size_t i = 0; i < count; ++i) {
    if (bits.left() < lengthBits)
      return damaged;
    const auto length = static_cast<unsigned>(bits.take(lengthBits));
    const unsigned after = length == longest ? 64 : length > 1 ? length - 1 : 0;
    if (bits.left() < after)
      return damaged;
    uint64_t difference = bits.takeLong(after);
    if (length > 0 && length < longest)
      difference |= uint64_t(1) << (length - 1);
    const uint64_t number = before + 1 + difference;
    // The sum wraps around if the keys do not ascend.
    if (i > 0 && number <= before)
      return damaged;
    keys[i] = int64_t(number ^ signBit);
    before = number;
  }
  if (bits.left() >= 8 || bits.takeLong(unsigned(bits.left())) != 0)
    return damaged;
  return keys;
}

void pdlrt::sortByShard(std::span<const int64_t> ascending, int64_t *out) {
  std::array<size_t, pdlabi::logicalShardCount + 1> next{};
  for (const int64_t key : ascending)
    ++next[size_t(pdlabi::shardOfKey(key)) + 1];
  for (size_t shard = 1; shard < next.size(); ++shard)
    next[shard] += next[shard - 1];
  for (const int64_t key : ascending)
    out[next[size_t(pdlabi::shardOfKey(key))]++] = key;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// Exponent of a group in which a number is NaN or infinite. All numbers of
/// such a group are unpacked as NaN.
static constexpr int8_t notFinite = -128;
/// Lower bound of a group's exponent. With it, 2^exponent and each nonzero
/// unpacked value are normal floats, so that unpacking never rounds.
static constexpr int smallestExponent = -126;

static uint16_t toBFloat16(float number) {
  const auto bits = std::bit_cast<uint32_t>(number);
  // Rounds to nearest, ties to even. A NaN stays a NaN and becomes quiet.
  const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  const uint32_t quiet = bits >> 16 | 0x40;
  return uint16_t((bits & 0x7fffffff) > 0x7f800000 ? quiet : rounded);
}

static float powerOfTwo(int exponent) {
  return std::bit_cast<float>(uint32_t(exponent + 127) << 23);
}

/// Returns the smallest exponent for which the code of each number in the group
/// is at most 127 after rounding.
static int8_t exponentOf(const float *numbers, int64_t count) {
  // Magnitudes of floats have the same order as their bits.
  uint32_t largest = 0;
  for (int64_t i = 0; i < count; ++i)
    largest =
        std::max(largest, std::bit_cast<uint32_t>(numbers[i]) & 0x7fffffff);
  if (largest >= 0x7f800000)
    return notFinite;
  int exponent = 0;
  const float fraction = std::frexp(std::bit_cast<float>(largest), &exponent);
  // 128 times the fraction is in [64, 128). From 127.5 on it rounds to 128.
  exponent -= fraction * 128 < 127.5F ? 7 : 6;
  return int8_t(std::max(exponent, smallestExponent));
}

void pdlrt::packNumbers(GradientPacking packing, const float *numbers,
                        int64_t count, int64_t group, PackedNumbers out) {
  if (packing == GradientPacking::BFloat16) {
    for (int64_t i = 0; i < count; ++i) {
      const uint16_t code = toBFloat16(numbers[i]);
      std::memcpy(out.codes + i * sizeof(code), &code, sizeof(code));
    }
    return;
  }
  for (int64_t begin = 0; begin < count; begin += group) {
    const int64_t size = std::min(group, count - begin);
    const int8_t exponent = exponentOf(numbers + begin, size);
    *out.exponents++ = exponent;
    auto *codes = reinterpret_cast<int8_t *>(out.codes) + begin;
    if (exponent == notFinite) {
      std::memset(codes, 0, size_t(size));
      continue;
    }
    const float scale = powerOfTwo(-exponent);
    for (int64_t i = 0; i < size; ++i)
      codes[i] = int8_t(std::nearbyintf(numbers[begin + i] * scale));
  }
}

void pdlrt::unpackNumbers(GradientPacking packing, const std::byte *codes,
                          const int8_t *exponents, int64_t begin, int64_t count,
                          int64_t group, float *numbers) {
  if (packing == GradientPacking::BFloat16) {
    for (int64_t i = 0; i < count; ++i) {
      uint16_t code = 0;
      std::memcpy(&code, codes + i * sizeof(code), sizeof(code));
      numbers[i] = std::bit_cast<float>(uint32_t(code) << 16);
    }
    return;
  }
  const auto *integers = reinterpret_cast<const int8_t *>(codes);
  for (int64_t done = 0; done < count;) {
    const int64_t size = std::min(count - done, group - (begin + done) % group);
    const int8_t exponent = *exponents++;
    const float scale =
        exponent == notFinite
            ? std::numeric_limits<float>::quiet_NaN()
            : powerOfTwo(std::max<int>(exponent, smallestExponent));
    for (int64_t i = done; i < done + size; ++i)
      numbers[i] = float(integers[i]) * scale;
    done += size;
  }
}
