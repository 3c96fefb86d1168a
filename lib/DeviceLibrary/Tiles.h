//===- Tiles.h - Which thread forms which part of a product -----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A turn of a product forms a tile of C in registers. Large tiles read less of
// A and B for each multiplication; many small ones keep a GPU busy that large
// ones would leave idle, and wait less for each other.
//
// A tile is `rows` rows by `groups` runs of `width` neighbouring columns. Runs
// of one tile are far apart: those of neighbouring turns are neighbours, so
// that together they read whole rows of B.
//
// At its ends C is not a multiple of tiles. There a tile is moved back until
// all of it is in C, and stores what no other tile does. So the loop over k
// knows no ends, and reads nothing that is not there.
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
  /// Whether a tile has room in C.
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

/// The tiles of `count` products.
///
/// A GPU has some hundred processors, each of which wants hundreds of threads
/// where they have one sum each, and some ten with 16 sums each. Tiles of an
/// element ask the caches for two numbers for each multiplication, which is
/// several times what they can give; large ones for a quarter of one.
inline TileKind tileKind(int64_t count, int64_t m, int64_t n) {
  if (LargeTile::fits(m, n) && count * LargeTile::turns(m, n) >= 24576)
    return TileKind::large;
  if (MiddleTile::fits(m, n) && count * MiddleTile::turns(m, n) >= 4096)
    return TileKind::middle;
  return TileKind::element;
}

/// The same where one thread has all turns: what counts is how many sums it
/// can work on side by side.
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

/// The turns of `count` products.
inline int64_t turnsOfProducts(int64_t count, int64_t m, int64_t n) {
  if (count <= 0 || m <= 0 || n <= 0)
    return 0;
  return withTileShape(tileKind(count, m, n),
                       [&](auto shape) { return count * shape.turns(m, n); });
}

/// A tile of C: where it begins, and from where on it is its own.
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
      // One that begins behind the last column has none of its own.
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

/// The tile of a turn of a product. Neighbouring turns have neighbouring
/// columns. Where B is transposed, these are far apart in memory; there four
/// neighbours share them, and have neighbouring rows, so that 32 turns read 4
/// places of A and 8 of B, not one and 32.
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
