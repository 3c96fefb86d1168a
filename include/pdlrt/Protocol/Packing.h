//===- Packing.h - Compression of keys and gradients ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compresses (packs) the keys and gradients that a trainer sends.
// docs/Numerics.md, "Gradients in fewer bits", and docs/Protocol.md, "Packed
// sections", define the formats and the rounding.
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
  /// Ascending keys, encoded as differences.
  Delta,
};

/// Compression of gradients. It is lossy, so each value gives another result of
/// training.
enum class GradientPacking : uint8_t {
  None,
  /// Values rounded to bf16.
  BFloat16,
  /// Values rounded to 8-bit integers, in groups with a common exponent.
  Int8,
};

/// Return the name that flags use: "none" or "delta" for keys, and "none",
/// "bf16" or "int8" for gradients.
const char *nameOf(KeyPacking packing);
const char *nameOf(GradientPacking packing);
/// Return the packing with this name, or nullopt if there is none.
std::optional<KeyPacking> keyPackingOf(std::string_view name);
std::optional<GradientPacking> gradientPackingOf(std::string_view name);

/// Returns the training fingerprint of a program with fingerprint `fingerprint`
/// if its gradients are packed. It differs for each packing; for None it is
/// `fingerprint`. A second call with the result returns `fingerprint` again.
uint64_t fingerprintWith(uint64_t fingerprint, GradientPacking packing);

/// Packs distinct keys, which may have any order, with Delta. The result has
/// the number of keys. Then, for each key in ascending order, it has the
/// difference from the previous key minus 1, in as few bits as possible, after
/// the number of these bits.
std::string packKeys(std::span<const int64_t> keys);
/// Unpacks keys, in ascending order. Accepts any bytes; returns an error if
/// they are damaged or keys are not distinct. Throws std::bad_alloc.
Expected<std::vector<int64_t>> unpackKeys(std::span<const std::byte> bytes);
/// Sorts ascending keys into the order of KEYS sections, which is by (shard,
/// key). Writes them to `out`.
void sortByShard(std::span<const int64_t> ascending, int64_t *out);

/// Number of consecutive elements of a parameter that have a common exponent
/// with Int8. Groups start at multiples of this number. A row of a table is one
/// group.
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

/// Sizes in the format of consecutive elements of a parameter. With Int8, the
/// exponents of all groups that have some of these elements come first, then
/// the codes of the elements.
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

/// Sizes in the format of a row with `width` values that are packed and
/// `counts` values that must stay exact. With Int8, the exponent comes first,
/// then the codes, then the unchanged counts.
struct PackedRow {
  PackedRow(GradientPacking packing, int64_t width, int64_t counts)
      : exponents(packing == GradientPacking::Int8 ? 1 : 0),
        codes(size_t(width) * codeSize(packing)),
        counts(size_t(counts) * sizeof(float)) {}
  size_t bytes() const { return exponents + codes + counts; }
  size_t exponents, codes, counts;
};

/// Packs `count` numbers in groups of `group` elements. The first number must
/// be the start of a group. `packing` must not be None. Thread-safe.
void packNumbers(GradientPacking packing, const float *numbers, int64_t count,
                 int64_t group, PackedNumbers out);
/// Unpacks `count` numbers from `codes`, in groups of `group` elements. `begin`
/// is the index of the first number, counted from the start of a group. The
/// first element of `exponents` is the exponent of the group that contains the
/// first number.
void unpackNumbers(GradientPacking packing, const std::byte *codes,
                   const int8_t *exponents, int64_t begin, int64_t count,
                   int64_t group, float *numbers);

} // namespace pdlrt

#endif // PDLRT_PROTOCOL_PACKING_H
