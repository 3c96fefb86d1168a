//===- Packing.h - Keys and gradients in fewer bytes ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a trainer may do to the bytes that it sends. Formats and rounding are
// defined in docs/Numerics.md, "Gradients in fewer bits", and docs/Protocol.md,
// "Packed sections".
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

/// How keys travel. Changes no result.
enum class KeyPacking : uint8_t {
  None,
  /// In ascending order, as differences.
  Delta,
};

/// How gradients travel. Another one is another training.
enum class GradientPacking : uint8_t {
  None,
  /// Rounded to bf16.
  BFloat16,
  /// Groups of 8-bit integers, each with an exponent.
  Int8,
};

/// The names of flags: "none", "delta"; "none", "bf16", "int8".
const char *nameOf(KeyPacking packing);
const char *nameOf(GradientPacking packing);
/// Nothing where there is no such name.
std::optional<KeyPacking> keyPackingOf(std::string_view name);
std::optional<GradientPacking> gradientPackingOf(std::string_view name);

/// The fingerprint of a training whose gradients travel packed: another one for
/// each packing, and `fingerprint` itself for none. Of its result it gives
/// `fingerprint` back.
uint64_t fingerprintWith(uint64_t fingerprint, GradientPacking packing);

/// Distinct keys in any order, packed by Delta: their number, then, in
/// ascending order, the differences less 1, each with its length in bits.
std::string packKeys(std::span<const int64_t> keys);
/// Takes them apart, in ascending order. An error where the bytes are none, or
/// keys are not distinct; any bytes are safe. Throws std::bad_alloc.
Expected<std::vector<int64_t>> unpackKeys(std::span<const std::byte> bytes);
/// Puts ascending keys into the order of KEYS sections, by (shard, key).
void sortByShard(std::span<const int64_t> ascending, int64_t *out);

/// Elements of a parameter that share an exponent under Int8: those of indices
/// from a multiple of this to the next. A row of a table is a group by itself.
inline constexpr int64_t groupSize = 64;

/// Numbers of one parameter or row, packed: bf16 numbers, or 8-bit integers
/// with one exponent for each group.
struct PackedNumbers {
  /// One of 2 bytes, or of 1, for each element.
  std::byte *codes;
  /// Int8 alone.
  int8_t *exponents = nullptr;
};

/// Bytes of a code.
inline constexpr size_t codeSize(GradientPacking packing) {
  return packing == GradientPacking::BFloat16 ? 2 : 1;
}

/// How consecutive elements of a parameter travel: under Int8 the exponents of
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
  /// Bytes of each.
  size_t exponents, codes;
};

/// How a row of `width` numbers travels, and `counts` more that must be exact:
/// under Int8 its exponent, then its codes, then the counts as they are.
struct PackedRow {
  PackedRow(GradientPacking packing, int64_t width, int64_t counts)
      : exponents(packing == GradientPacking::Int8 ? 1 : 0),
        codes(size_t(width) * codeSize(packing)),
        counts(size_t(counts) * sizeof(float)) {}
  size_t bytes() const { return exponents + codes + counts; }
  size_t exponents, codes, counts;
};

/// Packs `count` numbers, which begin at the first of a group of `group`.
/// `packing` is not None. Thread-safe.
void packNumbers(GradientPacking packing, const float *numbers, int64_t count,
                 int64_t group, PackedNumbers out);
/// The numbers that codes stand for: those from `begin`, counted from the
/// first of a group, whose exponents begin with the group that has it.
void unpackNumbers(GradientPacking packing, const std::byte *codes,
                   const int8_t *exponents, int64_t begin, int64_t count,
                   int64_t group, float *numbers);

} // namespace pdlrt

#endif // PDLRT_PROTOCOL_PACKING_H
