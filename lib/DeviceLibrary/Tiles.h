//===- Tiles.h - Tiles of matrix products -----------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An iteration of a product computes a tile of C in registers. Large tiles read
// less of A and B for each multiplication. Many small ones use a GPU that large
// ones would leave idle, and wait less for each other.
//
// A tile is `rows` rows by `groups` runs of `width` adjacent columns. The runs
// of a tile are far apart, and those of adjacent iterations are adjacent, so
// that together they read whole rows of B.
//
// The size of C need not be a multiple of a tile's. At its ends, a tile is
// moved back until it is completely in C, and stores only elements that no
// other tile stores. The loop over k therefore needs no bounds checks, and
// reads no elements outside of the factors.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DEVICELIBRARY_TILES_H
#define LIB_DEVICELIBRARY_TILES_H

#include "Turns.h"

namespace pdldevice {

template <int rowCount, int groupCount, int widthOfGroup> struct TileShape {
  static constexpr int rows = rowCount;
  static constexpr int groups = groupCount;
  static constexpr int width = widthOfGroup;

  static int64_t rowTiles(int64_t m) { return partsOf(m, rows); }
  static int64_t columnTiles(int64_t n) {
    return partsOf(partsOf(n, width), groups);
  }
  /// Returns true if C is at least as large as a tile.
  static bool fits(int64_t m, int64_t n) { return m >= rows && n >= width; }
  static int64_t turns(int64_t m, int64_t n) {
    return rowTiles(m) * columnTiles(n);
  }
};

using LargeTile = TileShape<8, 2, 4>;
using MiddleTile = TileShape<4, 1, 4>;
using RowTile = TileShape<1, 1, 4>;
using ElementTile = TileShape<1, 1, 1>;

enum class TileKind { large, middle, row, element };

/// Returns the kind of tiles for `count` products.
///
/// A GPU has some hundred processors. Each needs hundreds of threads if a
/// thread has one sum, and some ten if a thread has 16 sums. Tiles of one
/// element load two numbers from the caches for each multiplication, several
/// times more than the caches can deliver; large tiles load a quarter of a
/// number.
inline TileKind tileKind(int64_t count, int64_t m, int64_t n) {
  if (LargeTile::fits(m, n) && count * LargeTile::turns(m, n) >= 24576)
    return TileKind::large;
  if (MiddleTile::fits(m, n) && count * MiddleTile::turns(m, n) >= 4096)
    return TileKind::middle;
  return TileKind::element;
}

/// Returns the kind of tiles if one thread runs all iterations. Then the number
/// of sums that it can compute in parallel matters.
inline TileKind tileKindOfThread(int64_t m, int64_t n) {
  if (MiddleTile::fits(m, n))
    return TileKind::middle;
  return RowTile::fits(m, n) ? TileKind::row : TileKind::element;
}

template <typename Body> inline auto withTileShape(TileKind kind, Body body) {
  switch (kind) {
  case TileKind::large:
    return body(LargeTile());
  case TileKind::middle:
    return body(MiddleTile());
  case TileKind::row:
    return body(RowTile());
  case TileKind::element:
    break;
  }
  return body(ElementTile());
}

/// Returns the number of iterations of `count` products.
inline int64_t turnsOfProducts(int64_t count, int64_t m, int64_t n) {
  if (count <= 0 || m <= 0 || n <= 0)
    return 0;
  return withTileShape(tileKind(count, m, n),
                       [&](auto shape) { return count * shape.turns(m, n); });
}

/// A tile of C: its first row and columns, and the first of them that belong to
/// it.
template <typename Shape> struct Tile {
  int64_t row, ownRow;
  int64_t column[Shape::groups], ownColumn[Shape::groups];

  Tile() = default;
  Tile(int64_t m, int64_t n, int64_t rowTile, int64_t columnTile) {
    ownRow = rowTile * Shape::rows;
    row = smaller(ownRow, m - Shape::rows);
    const int64_t columnTiles = Shape::columnTiles(n);
#pragma clang loop unroll(full)
    for (int g = 0; g < Shape::groups; ++g) {
      // A group that begins after the last column has no columns.
      ownColumn[g] = (columnTile + g * columnTiles) * Shape::width;
      column[g] = smaller(ownColumn[g], n - Shape::width);
    }
  }
  bool ownsRow(int r) const { return Shape::rows == 1 || row + r >= ownRow; }
  bool ownsColumn(int c) const {
    const int g = c / Shape::width;
    return columnOf(c) >= ownColumn[g];
  }
  int64_t columnOf(int c) const {
    return column[c / Shape::width] + c % Shape::width;
  }
};

/// Returns the tile of an iteration of a product. Adjacent iterations have
/// adjacent columns. If B is transposed, these are far apart in memory; then
/// groups of four iterations share columns and have adjacent rows, so that 32
/// iterations read 4 locations of A and 8 of B instead of 1 and 32.
template <typename Shape>
inline Tile<Shape> tileOfTurn(bool transposeB, int64_t m, int64_t n,
                              int64_t turn) {
  const int64_t columnTiles = Shape::columnTiles(n);
  if (!transposeB) {
    const Division at = divide(turn, columnTiles);
    return Tile<Shape>(m, n, at.quotient, at.remainder);
  }
  constexpr int64_t together = 4;
  const Division block = divide(turn, together * columnTiles);
  const int64_t firstRow = block.quotient * together;
  const Division at =
      divide(block.remainder, smaller(together, Shape::rowTiles(m) - firstRow));
  return Tile<Shape>(m, n, firstRow + at.remainder, at.quotient);
}

} // namespace pdldevice

#endif // LIB_DEVICELIBRARY_TILES_H
