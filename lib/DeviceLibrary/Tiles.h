//===- Tiles.h - Tiles of matrix products -----------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An iteration of a product computes a tile of C in registers. With large
// tiles, each element of A and B that is read is used for more multiplications.
// But a small product has few large tiles, which would leave most of a GPU
// idle. It is computed in many small tiles.
//
// A tile consists of `rows` rows and `groups` groups of `width` adjacent
// columns. The groups of a tile are far apart. Adjacent iterations have
// adjacent groups, so that together they read whole rows of B.
//
// The sizes of C need not be multiples of the sizes of a tile. A tile that
// would exceed C is moved back until it is completely inside. It then overlaps
// its neighbor, and stores only elements that no other tile stores. Therefore
// the loop over k needs no bounds checks, and reads no elements outside the
// factors.
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

/// Returns the kind of tiles for `count` products on a GPU.
///
/// A GPU has some hundred processors. To keep one busy takes hundreds of
/// threads with one sum each, or some ten threads with 16 sums each. With tiles
/// of one element, each multiplication needs two numbers from the caches, which
/// is several times more than the caches can deliver. With large tiles it needs
/// a quarter of a number.
inline TileKind tileKind(int64_t count, int64_t m, int64_t n) {
  if (LargeTile::fits(m, n) && count * LargeTile::turns(m, n) >= 24576)
    return TileKind::large;
  if (MiddleTile::fits(m, n) && count * MiddleTile::turns(m, n) >= 4096)
    return TileKind::middle;
  return TileKind::element;
}

/// Returns the kind of tiles if a single thread runs all iterations. With
/// larger tiles, the thread computes more sums in parallel.
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

/// A tile of C. It is computed from row `row` and columns `column[g]` on, but
/// stores only elements from `ownRow` and `ownColumn[g]` on. These differ only
/// if the tile was moved back at the end of C.
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

/// Returns the tile of iteration `turn` of a product. Adjacent iterations have
/// adjacent columns. If B is transposed, adjacent columns are far apart in
/// memory. Then groups of four iterations have the same columns and adjacent
/// rows, so that 32 iterations read 4 locations of A and 8 of B, instead of 1
/// and 32.
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
