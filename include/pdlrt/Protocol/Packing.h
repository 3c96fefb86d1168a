//===- Packing.h - Compression of keys and gradients ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compression of the keys and gradients that a trainer sends. docs/Numerics.md,
// "Gradients in fewer bits", and docs/Protocol.md, "Packed sections", define
// the formats and the rounding.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_PROTOCOL_PACKING_H
#define PDLRT_PROTOCOL_PACKING_H

#include "pdlrt/Core/Status.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pdlrt {

/// Compression of keys. Lossless.
enum class KeyPacking : uint8_t {
  None,
  /// Ascending keys, as differences.
  Delta,
};

/// Compression of gradients. Lossy, so each packing is a different training.
enum class GradientPacking : uint8_t {
  None,
  /// Values rounded to bf16.
  BFloat16,
  /// Groups of 8-bit integers that share an exponent.
  Int8,
};

/// Returns the name used in flags: "none", "delta"; "none", "bf16", "int8".
const char *nameOf(KeyPacking packing);
const char *nameOf(GradientPacking packing);
/// Returns the packing of that name, or nothing if there is none.
std::optional<KeyPacking> keyPackingOf(std::string_view name);
std::optional<GradientPacking> gradientPackingOf(std::string_view name);

/// Returns the training fingerprint for a packing: a different one for each
/// packing, and `fingerprint` itself for None. Applied twice, it returns
/// `fingerprint` again.
uint64_t fingerprintWith(uint64_t fingerprint, GradientPacking packing);

/// Packs distinct keys, given in any order, with Delta: their number, then the
/// differences of ascending keys less 1, each with its length in bits.
std::string packKeys(std::span<const int64_t> keys);
/// Unpacks keys, in ascending order. Accepts any bytes; returns an error if
/// they are damaged or keys are not distinct. Throws std::bad_alloc.
Expected<std::vector<int64_t>> unpackKeys(std::span<const std::byte> bytes);
/// Sorts ascending keys into the order of KEYS sections: by (shard, key).
void sortByShard(std::span<const int64_t> ascending, int64_t *out);

/// Number of parameter elements that share an exponent with Int8. Groups start
/// at multiples of it. A table row is one group.
inline constexpr int64_t groupSize = 64;

/// Output of packing one parameter or row: bf16 values, or 8-bit integers with
/// one exponent per group.
struct PackedNumbers {
  /// One code of 2 bytes (bf16) or 1 byte (Int8) for each element.
  std::byte *codes;
  /// Int8 only.
  int8_t *exponents = nullptr;
};

/// Returns the size of a code in bytes.
inline constexpr size_t codeSize(GradientPacking packing) {
  return packing == GradientPacking::BFloat16 ? 2 : 1;
}

/// Format of consecutive elements of a parameter. With Int8: the exponents of
/// the groups that they touch, then their codes.
struct PackedBlock {
  PackedBlock(GradientPacking packing, int64_t begin, int64_t count)
      : firstGroup(begin / groupSize),
        exponents(packing == GradientPacking::Int8 && count > 0
                      ? size_t((begin + count - 1) / groupSize - firstGroup + 1)
                      : 0),
        codes(size_t(count) * codeSize(packing)) {}
  size_t bytes() const { return exponents + codes; }
  int64_t firstGroup;
  /// Sizes in bytes.
  size_t exponents, codes;
};

/// Format of a row of `width` values and `counts` more that must stay exact.
/// With Int8: the exponent, then the codes, then the unchanged counts.
struct PackedRow {
  PackedRow(GradientPacking packing, int64_t width, int64_t counts)
      : exponents(packing == GradientPacking::Int8 ? 1 : 0),
        codes(size_t(width) * codeSize(packing)),
        counts(size_t(counts) * sizeof(float)) {}
  size_t bytes() const { return exponents + codes + counts; }
  size_t exponents, codes, counts;
};

/// Packs `count` numbers, the first of which starts a group of `group`
/// elements. `packing` must not be None. Thread-safe.
void packNumbers(GradientPacking packing, const float *numbers, int64_t count,
                 int64_t group, PackedNumbers out);
/// Unpacks `count` numbers from codes. `begin` is the index of the first
/// number, counted from the start of a group; `exponents` starts with the
/// exponent of the group that contains it.
void unpackNumbers(GradientPacking packing, const std::byte *codes,
                   const int8_t *exponents, int64_t begin, int64_t count,
                   int64_t group, float *numbers);

} // namespace pdlrt

#endif // PDLRT_PROTOCOL_PACKING_H
