//===- ArenaLayout.cpp - Memory layout of arenas --------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ArenaLayout.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <limits>
#include <numeric>
#include <tuple>

using namespace mlir;
using namespace pdlc;

namespace {

/// A lifetime within its pool.
struct Piece {
  size_t lifetime;
  unsigned begin, end;
  int64_t size;  // Size in units.
  int64_t lines; // Cache lines for the constant part of the size.
  int64_t at = 0, line = 0;

  bool meets(const Piece &other) const {
    return begin <= other.end && other.begin <= end;
  }
};

} // namespace

/// Splits a size into a unit, such as one byte for each sample, and the number
/// of units. The constant part of a size is counted only if the size is
/// constant.
static std::pair<Extent, int64_t> unitOf(const Extent &bytes) {
  Extent unit = bytes;
  unit.constant = 0;
  int64_t size = std::gcd(std::gcd(bytes.perBatch, bytes.perKey),
                          std::gcd(bytes.perOccurrence, bytes.perCount));
  if (size == 0) {
    unit.constant = 1;
    return {unit, llvm::alignTo(bytes.constant, kBufferAlignment)};
  }
  return {unit.scaled(1, size), size};
}

/// Inserts the piece at the lowest free offset. `there` is sorted by offset.
static void put(Piece piece, SmallVectorImpl<Piece> &there) {
  for (const Piece &other : there) {
    if (!piece.meets(other))
      continue;
    if (other.at >= piece.at + piece.size)
      break;
    piece.at = std::max(piece.at, other.at + other.size);
  }
  there.insert(llvm::upper_bound(there, piece,
                                 [](const Piece &first, const Piece &second) {
                                   return first.at < second.at;
                                 }),
               piece);
}

/// Returns the maximum number of units that are in use at one position.
static int64_t boundOf(ArrayRef<Piece> pieces) {
  SmallVector<std::pair<uint64_t, int64_t>> changes;
  for (const Piece &piece : pieces) {
    changes.push_back({piece.begin, piece.size});
    changes.push_back({uint64_t(piece.end) + 1, -piece.size});
  }
  // Ends sort before begins at the same position, so memory can be reused at
  // once.
  llvm::sort(changes);
  int64_t now = 0, most = 0;
  for (auto [position, change] : changes)
    most = std::max(most, now += change);
  return most;
}

/// Lays out the pieces with several heuristics. Each heuristic inserts the
/// pieces in a different order, always at the lowest free offset. Returns the
/// layout with the fewest units, sorted by offset. If several layouts are
/// equally small, returns the first one. Stops early at a layout of `bound`
/// units, because none can be smaller.
static SmallVector<Piece> layOut(ArrayRef<Piece> pieces, int64_t bound) {
  using Rank = int64_t (*)(const Piece &);
  // Orders of insertion: by size, largest first, so that small pieces fill
  // gaps; by size times lifetime; by lifetime, longest first; by begin.
  const Rank ranks[] = {
      [](const Piece &piece) { return -piece.size; },
      [](const Piece &piece) {
        return -piece.size * (int64_t(piece.end) - piece.begin + 1);
      },
      [](const Piece &piece) { return int64_t(piece.begin) - piece.end; },
      [](const Piece &piece) { return int64_t(piece.begin); }};
  SmallVector<Piece> best;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (Rank rank : ranks) {
    SmallVector<Piece> ordered(pieces), there;
    llvm::sort(ordered, [&](const Piece &first, const Piece &second) {
      return std::tuple(rank(first), -first.size, first.lifetime) <
             std::tuple(rank(second), -second.size, second.lifetime);
    });
    int64_t units = 0;
    for (const Piece &piece : ordered)
      put(piece, there);
    for (const Piece &piece : there)
      units = std::max(units, piece.at + piece.size);
    if (units < least) {
      least = units;
      best = std::move(there);
    }
    if (least <= bound)
      break;
  }
  return best;
}

ArenaLayout::ArenaLayout(ArrayRef<Lifetime> lifetimes) {
  Extent constant;
  constant.constant = 1;
  pools.push_back({constant});
  SmallVector<SmallVector<Piece>> piecesOf(1);
  for (auto [number, lifetime] : llvm::enumerate(lifetimes)) {
    auto [unit, size] = unitOf(lifetime.bytes);
    auto *pool = llvm::find_if(
        pools, [&](const Pool &each) { return each.unit == unit; });
    if (pool == pools.end()) {
      pools.push_back({unit});
      piecesOf.emplace_back();
      pool = &pools.back();
    }
    Piece piece = {number, lifetime.begin, lifetime.end, size, 0};
    if (!unit.isStatic())
      piece.lines = llvm::divideCeil(
          std::max<int64_t>(lifetime.bytes.constant, 0), kBufferAlignment);
    piecesOf[pool - pools.begin()].push_back(piece);
  }

  placeNumbers.resize(lifetimes.size());
  for (auto [number, pool, pieces] : llvm::enumerate(pools, piecesOf)) {
    pool.bound = boundOf(pieces);
    int64_t common = kBufferAlignment;
    for (const Piece &piece : pieces)
      common = std::gcd(common, piece.size);
    pool.rounding = kBufferAlignment / common;
    SmallVector<Piece> there = layOut(pieces, pool.bound);
    for (size_t i = 0; i < there.size(); ++i) {
      Piece &piece = there[i];
      for (const Piece &below : ArrayRef<Piece>(there).take_front(i))
        if (piece.meets(below))
          piece.line = std::max(piece.line, below.line + below.lines);
      pool.size = std::max(pool.size, piece.at + piece.size);
      pool.lines = std::max(pool.lines, piece.line + piece.lines);
      const Place place = {static_cast<unsigned>(number), piece.at, piece.line};
      auto *known = llvm::find(places, place);
      placeNumbers[piece.lifetime] = known - places.begin();
      if (known == places.end())
        places.push_back(place);
    }
  }
}
