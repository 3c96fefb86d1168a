//===- ArenaLayout.h - Memory layout of arenas ------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The batch size and the number of keys are known only at run time. Sizes that
// are multiples of the same number, such as the batch size, share a pool. The
// layout of a pool uses this number as its unit, so that it does not depend on
// its value. The pools follow each other in the arena.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_NNTORT_ARENALAYOUT_H
#define LIB_CONVERSION_NNTORT_ARENALAYOUT_H

#include "ProgramSizes.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace pdlc {

/// Alignment of all buffers, in bytes.
inline constexpr int64_t kBufferAlignment = 64;

/// A buffer of `bytes` bytes that is in use from position `begin` to position
/// `end`, inclusive.
struct Lifetime {
  Extent bytes;
  unsigned begin, end;
};

/// Assigns an offset in the arena to each buffer. Buffers that are in use at
/// the same position do not overlap in memory.
class ArenaLayout {
public:
  /// Memory for sizes that are multiples of `unit` bytes. Sizes are rounded up
  /// to a multiple of `rounding`, a power of two, so that all buffers are
  /// aligned to kBufferAlignment.
  struct Pool {
    Extent unit;
    int64_t rounding = 1;
    /// Size of the pool: `size` units plus `lines` times kBufferAlignment.
    int64_t size = 0, lines = 0;
    /// Lower bound of `size`: the maximum number of units that are in use at
    /// the same position.
    int64_t bound = 0;
  };
  /// Offset from the start of the pool: `at` units plus `lines` cache lines.
  struct Place {
    unsigned pool;
    int64_t at, lines;

    bool operator==(const Place &other) const = default;
  };

  ArenaLayout() = default;
  explicit ArenaLayout(llvm::ArrayRef<Lifetime> lifetimes);

  /// Returns the pools. The first one holds buffers of constant size.
  llvm::ArrayRef<Pool> getPools() const { return pools; }
  /// Returns the distinct offsets.
  llvm::ArrayRef<Place> getPlaces() const { return places; }
  /// Returns the index of a lifetime's offset.
  unsigned placeOf(size_t lifetime) const { return placeNumbers[lifetime]; }

private:
  llvm::SmallVector<Pool> pools;
  llvm::SmallVector<Place> places;
  llvm::SmallVector<unsigned> placeNumbers;
};

} // namespace pdlc

#endif // LIB_CONVERSION_NNTORT_ARENALAYOUT_H
