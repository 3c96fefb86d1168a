//===- ArenaLayout.h - Tensors that share one memory ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How large a batch is, and how many keys it has, is known only when a program
// runs. Sizes that are multiples of the same number, such as the batch, are
// laid out in one pool, in that number as the unit: then where one lies does
// not depend on the number. Pools stand one behind the other.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_NNTORT_ARENALAYOUT_H
#define LIB_CONVERSION_NNTORT_ARENALAYOUT_H

#include "ProgramSizes.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace pdlc {

/// The alignment of all buffers, in bytes.
inline constexpr int64_t kBufferAlignment = 64;

/// So many bytes are needed from position `begin` to position `end`, both
/// included.
struct Lifetime {
  Extent bytes;
  unsigned begin, end;
};

/// Where lifetimes lie in an arena. Those that share a position never overlap.
class ArenaLayout {
public:
  /// Sizes that are multiples of `unit` bytes, which are rounded up to a
  /// multiple of `rounding`, a power of two, so that all begin at
  /// kBufferAlignment.
  struct Pool {
    Extent unit;
    int64_t rounding = 1;
    /// Its bytes: `size` units, and `lines` of kBufferAlignment.
    int64_t size = 0, lines = 0;
    /// The units that the position with the most of them needs.
    int64_t bound = 0;
  };
  /// Behind the first byte of its pool: `at` units and `lines`.
  struct Place {
    unsigned pool;
    int64_t at, lines;

    bool operator==(const Place &other) const = default;
  };

  ArenaLayout() = default;
  explicit ArenaLayout(llvm::ArrayRef<Lifetime> lifetimes);

  /// The first is that of what is the same for all batches.
  llvm::ArrayRef<Pool> getPools() const { return pools; }
  /// The different places.
  llvm::ArrayRef<Place> getPlaces() const { return places; }
  /// The number of a lifetime's place.
  unsigned placeOf(size_t lifetime) const { return placeNumbers[lifetime]; }

private:
  llvm::SmallVector<Pool> pools;
  llvm::SmallVector<Place> places;
  llvm::SmallVector<unsigned> placeNumbers;
};

} // namespace pdlc

#endif // LIB_CONVERSION_NNTORT_ARENALAYOUT_H
