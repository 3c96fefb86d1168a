//===- StrictPackedImpl.h - Strict products with packed B -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Included after StrictKernelsImpl.h, once by the source of each instruction
// set. B was packed before (PackedFactors.h), so that tiles pay off even for
// few rows, and a single row reads B sequentially.
//
// If B is finite, terms of k are skipped for which a whole tile of A is zero,
// which is frequent after a relu. Such a term adds +0 or -0. This changes no
// sum except -0, which +0 would change to +0. A sum is -0 only if tiny numbers
// were rounded to it; if a skipped term could have changed it, it is still -0
// at the end of the block. A tile with such a sum is computed again with all
// terms. The result is therefore bitwise equal.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_GEMM_STRICTPACKEDIMPL_H
#define LIB_RUNTIME_GEMM_STRICTPACKEDIMPL_H

#include "StrictKernelsImpl.h"

namespace pdlrt {
namespace {

/// Packs all of B: blocks of n, and in each of them blocks of k, as `multiply`
/// packs them.
template <typename Vector>
int64_t packWhole(const StrictArguments<typename Vector::Element> &g,
                  typename Vector::Element *out) {
  const DepthBlocks blocks(g.k);
  int64_t count = 0;
  for (int64_t column = 0; column < g.n; column += columnsOfBlock) {
    const int64_t columns = smaller(columnsOfBlock, g.n - column);
    const int64_t padded = vectorsFor<Vector>(columns) * Vector::lanes;
    for (int64_t block = 0; block < blocks.count && out; ++block)
      packFactor<Vector>(g, column, columns, blocks.begin(block),
                         blocks.depth(block),
                         out + count + blocks.begin(block) * padded);
    count += g.k * padded;
  }
  return count;
}

/// One block of k and n of packed B.
template <typename Vector> struct PackedBlock {
  int64_t column, columns, p, depth;
  const typename Vector::Element *b;
  bool starts, ends;
};

/// Calls `body` for each block, those of k in ascending order.
template <typename Vector, typename Body>
void forEachBlock(const StrictArguments<typename Vector::Element> &g,
                  const Body &body) {
  const DepthBlocks blocks(g.k);
  const typename Vector::Element *packed = g.packed;
  for (int64_t column = 0; column < g.n; column += columnsOfBlock) {
    const int64_t columns = smaller(columnsOfBlock, g.n - column);
    const int64_t padded = vectorsFor<Vector>(columns) * Vector::lanes;
    for (int64_t block = 0; block < blocks.count; ++block) {
      const int64_t p = blocks.begin(block);
      body(PackedBlock<Vector>{column, columns, p, blocks.depth(block),
                               packed + p * padded, block == 0,
                               block + 1 == blocks.count});
    }
    packed += g.k * padded;
  }
}

//===----------------------------------------------------------------------===//
// Skipping zeros
//===----------------------------------------------------------------------===//

/// Counts the terms of k in which a tile of packed A has a nonzero number.
template <typename Element, int rows>
int64_t countTurns(const Element *a, int64_t depth) {
  int64_t count = 0;
  for (int64_t p = 0; p < depth; ++p) {
    bool any = false;
#pragma unroll
    for (int r = 0; r < rows; ++r)
      any |= a[p * rows + r] != 0;
    count += any;
  }
  return count;
}

/// Moves these terms to the front, and records their indices.
template <typename Element, int rows>
void keepTurns(Element *a, int64_t depth, int32_t *turns) {
  int64_t count = 0;
  for (int64_t p = 0; p < depth; ++p) {
    bool any = false;
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const Element value = a[p * rows + r];
      any |= value != 0;
      a[count * rows + r] = value;
    }
    turns[count] = static_cast<int32_t>(p);
    count += any;
  }
}

template <typename Vector, int rows, int vectors>
bool hasMinusZero(const typename Vector::Register (&sum)[rows][vectors]) {
  bool found = false;
#pragma unroll
  for (int r = 0; r < rows; ++r)
#pragma unroll
    for (int v = 0; v < vectors; ++v)
      found |= Vector::hasMinusZero(sum[r][v]);
  return found;
}

/// Computes a tile of packed A and B like `computeTile`, with the kept terms
/// only. Returns false, and writes nothing, if a sum is -0.
template <typename Vector, int rows, int vectors>
bool computeTurns(int64_t count, const typename Vector::Element *a,
                  const int32_t *turns, const typename Vector::Element *b,
                  const Tile<Vector> &tile) {
  typename Vector::Register sum[rows][vectors];
  startSums<Vector, rows, vectors>(sum, tile);
  for (int64_t i = 0; i < count; ++i) {
    const typename Vector::Element *row =
        b + int64_t(turns[i]) * (vectors * Vector::lanes);
    typename Vector::Register right[vectors];
#pragma unroll
    for (int v = 0; v < vectors; ++v)
      right[v] = Vector::load(row + v * Vector::lanes);
    addProducts<Vector, rows, vectors>(sum, a + i * rows, 1, right);
  }
  if (hasMinusZero<Vector, rows, vectors>(sum))
    return false;
  storeSums<Vector, rows, vectors>(sum, tile);
  return true;
}

template <typename Vector>
using TurnsFunction = bool (*)(int64_t, const typename Vector::Element *,
                               const int32_t *,
                               const typename Vector::Element *,
                               const Tile<Vector> &);

/// Returns the function for a whole tile's rows, or for one row.
template <typename Vector, int rows, int vectors>
TurnsFunction<Vector> turnsFunction(int64_t vectorCount) {
  if constexpr (vectors > 1)
    if (vectorCount < vectors)
      return turnsFunction<Vector, rows, vectors - 1>(vectorCount);
  return computeTurns<Vector, rows, vectors>;
}

//===----------------------------------------------------------------------===//
// One row
//===----------------------------------------------------------------------===//

/// Number of whole panels of B that are processed together in products of one
/// row. There are then enough independent sums, and B is read sequentially at
/// several positions, which hardware prefetching supports.
constexpr int panelsOfRow = 4;

/// Prefetch distance in B, in terms, if some are skipped.
constexpr int64_t turnsAhead = 8;

/// Computes one row of C, `panelsOfRow` panels wide. Panels of B are
/// `panelStride` elements apart. With `turns`, works like `computeTurns`;
/// `turnsAhead` more entries follow in `turns`.
template <typename Vector, bool keepsSome>
bool computePanels(int64_t count, const typename Vector::Element *a,
                   const int32_t *turns, const typename Vector::Element *b,
                   int64_t panelStride, Tile<Vector> tile) {
  using Register = typename Vector::Register;
  constexpr int vectors = Vector::tileVectors;
  constexpr int64_t width = vectors * Vector::lanes;
  Register sum[panelsOfRow][vectors];
#pragma unroll
  for (int panel = 0; panel < panelsOfRow; ++panel)
#pragma unroll
    for (int v = 0; v < vectors; ++v)
      sum[panel][v] =
          tile.starts
              ? Vector::zero()
              : Vector::load(tile.c + panel * width + v * Vector::lanes);
  for (int64_t i = 0; i < count; ++i) {
    const Register left = Vector::broadcast(a + i);
    const typename Vector::Element *row =
        b + (keepsSome ? int64_t(turns[i]) : i) * width;
    if constexpr (keepsSome)
#pragma unroll
      for (int panel = 0; panel < panelsOfRow; ++panel) {
        const auto *later = reinterpret_cast<const char *>(
            b + turns[i + turnsAhead] * width + panel * panelStride);
        _mm_prefetch(later, _MM_HINT_T0);
        _mm_prefetch(later + 64, _MM_HINT_T0);
      }
#pragma unroll
    for (int panel = 0; panel < panelsOfRow; ++panel)
#pragma unroll
      for (int v = 0; v < vectors; ++v)
        sum[panel][v] = Vector::fma(
            left, Vector::load(row + panel * panelStride + v * Vector::lanes),
            sum[panel][v]);
  }
  if constexpr (keepsSome)
    if (hasMinusZero<Vector, panelsOfRow, vectors>(sum))
      return false;
#pragma unroll
  for (int panel = 0; panel < panelsOfRow; ++panel) {
    Register own[1][vectors];
#pragma unroll
    for (int v = 0; v < vectors; ++v)
      own[0][v] = sum[panel][v];
    if (tile.ends)
      applyPosts<Vector, 1, vectors>(own, tile);
#pragma unroll
    for (int v = 0; v < vectors; ++v)
      Vector::store(tile.c + v * Vector::lanes, own[0][v]);
    tile.c += width;
    tile.column += width;
  }
  return true;
}

/// The row of A, in order, and its kept terms.
template <typename Element> struct RowTurns {
  const Element *all;
  int64_t count;
  const Element *kept;
  const int32_t *turns;
};

/// Returns the terms of one block of k; writes to `scratch`. If few are zero,
/// all are kept.
template <typename Element>
RowTurns<Element> turnsOfRow(const StrictArguments<Element> &g, int64_t p,
                             int64_t depth, Element *scratch) {
  Element *all = scratch, *kept = all + depthOfBlock;
  auto *turns = reinterpret_cast<int32_t *>(kept + depthOfBlock);
  const int64_t stride = g.transposeA ? g.aStride : 1;
  for (int64_t i = 0; i < depth; ++i)
    all[i] = kept[i] = g.a[(p + i) * stride];
  int64_t count = depth;
  if (g.skipsZeros)
    count = countTurns<Element, 1>(all, depth);
  if (count > depth - depth / 4)
    return {all, depth, nullptr, nullptr};
  keepTurns<Element, 1>(kept, depth, turns);
  for (int64_t i = 0; i < turnsAhead; ++i)
    turns[count + i] = static_cast<int32_t>(depth - 1);
  return {all, count, kept, turns};
}

template <typename Vector>
void multiplyRow(const StrictArguments<typename Vector::Element> &g,
                 typename Vector::Element *scratch) {
  using Element = typename Vector::Element;
  constexpr int64_t width = Vector::tileVectors * Vector::lanes;
  forEachBlock<Vector>(g, [&](const PackedBlock<Vector> &block) {
    const RowTurns<Element> row = turnsOfRow(g, block.p, block.depth, scratch);
    const int64_t depth = block.depth;
    Tile<Vector> tile = {nullptr,
                         g.cStride,
                         Vector::maskOf(Vector::lanes),
                         block.starts,
                         block.ends,
                         &g,
                         0,
                         0};
    for (int64_t j = 0; j < block.columns;) {
      const Element *b = block.b + j * depth;
      tile.column = block.column + j;
      tile.c = g.c + tile.column;
      if (block.columns - j >= panelsOfRow * width) {
        if (!row.turns ||
            !computePanels<Vector, true>(row.count, row.kept, row.turns, b,
                                         width * depth, tile))
          computePanels<Vector, false>(depth, row.all, nullptr, b,
                                       width * depth, tile);
        j += panelsOfRow * width;
        continue;
      }
      const int64_t rest = smaller(width, block.columns - j);
      const int64_t vectors = vectorsFor<Vector>(rest);
      tile.tail = tailOf<Vector>(rest);
      if (!row.turns || !turnsFunction<Vector, 1, Vector::tileVectors>(vectors)(
                            row.count, row.kept, row.turns, b, tile))
        tileFunction<Vector, 1, Vector::tileVectors, false>(1, vectors)(
            depth, row.all, 1, 1, b, 0, tile);
      j += rest;
    }
  });
}

//===----------------------------------------------------------------------===//
// Several rows
//===----------------------------------------------------------------------===//

/// Packed rows of A: for each tile all terms, or the kept ones.
template <typename Vector> struct PackedRows {
  static constexpr int64_t tiles =
      (rowsOfBlock + Vector::tileRows - 1) / Vector::tileRows;

  typename Vector::Element *a;
  /// Indexed by tile; 0: all terms.
  int64_t counts[tiles];
  /// Indexed by tile, `depthOfBlock` entries each.
  int32_t *turns;
};

/// Packs rows of one block of k.
template <typename Vector>
void packRowsOfA(const StrictArguments<typename Vector::Element> &g,
                 int64_t row, int64_t rows, const PackedBlock<Vector> &block,
                 PackedRows<Vector> &packed) {
  using Element = typename Vector::Element;
  constexpr int tileRows = Vector::tileRows;
  pack<Element, tileRows, 1>(!g.transposeA,
                             g.transposeA ? g.a + block.p * g.aStride + row
                                          : g.a + row * g.aStride + block.p,
                             g.aStride, block.depth, rows, packed.a);
  for (int64_t tile = 0; tile * tileRows < rows; ++tile) {
    packed.counts[tile] = 0;
    // The last rows, if fewer than a tile has, use all terms.
    if (!g.skipsZeros || rows - tile * tileRows < tileRows)
      continue;
    Element *own = packed.a + tile * tileRows * block.depth;
    const int64_t count = countTurns<Element, tileRows>(own, block.depth);
    if (count > block.depth - block.depth / 16 || count == 0)
      continue;
    keepTurns<Element, tileRows>(own, block.depth,
                                 packed.turns + tile * depthOfBlock);
    packed.counts[tile] = count;
  }
}

template <typename Vector>
void multiplyRows(const StrictArguments<typename Vector::Element> &g,
                  int64_t row, int64_t rows, const PackedBlock<Vector> &block,
                  const PackedRows<Vector> &packed) {
  constexpr int64_t width = Vector::tileVectors * Vector::lanes;
  constexpr int tileRows = Vector::tileRows, tileVectors = Vector::tileVectors;
  for (int64_t j = 0; j < block.columns; j += width) {
    const int64_t columns = smaller(width, block.columns - j);
    const int64_t vectors = vectorsFor<Vector>(columns);
    const typename Vector::Element *b = block.b + j * block.depth;
    const TileFunction<Vector> whole =
        tileFunction<Vector, tileRows, tileVectors, false>(tileRows, vectors);
    const TurnsFunction<Vector> some =
        turnsFunction<Vector, tileRows, tileVectors>(vectors);
    Tile<Vector> tile = {
        nullptr, g.cStride, tailOf<Vector>(columns), block.starts, block.ends,
        &g,      0,         block.column + j};
    for (int64_t i = 0; i < rows; i += tileRows) {
      const int64_t height = smaller(tileRows, rows - i);
      tile.row = row + i;
      tile.c = g.c + tile.row * g.cStride + tile.column;
      const typename Vector::Element *a = packed.a + i * block.depth;
      const int64_t count = packed.counts[i / tileRows];
      if (count == 0) {
        (height == tileRows
             ? whole
             : tileFunction<Vector, tileRows, tileVectors, false>(
                   height, vectors))(block.depth, a, 1, height, b,
                                     vectors * Vector::lanes, tile);
        continue;
      }
      if (some(count, a, packed.turns + i / tileRows * depthOfBlock, b, tile))
        continue;
      // The packed A no longer has all terms, so A itself is read.
      const int64_t rowStride = g.transposeA ? 1 : g.aStride;
      const int64_t depthStride = g.transposeA ? g.aStride : 1;
      tileFunction<Vector, tileRows, tileVectors, true>(tileRows, vectors)(
          block.depth, g.a + tile.row * rowStride + block.p * depthStride,
          rowStride, depthStride, b, vectors * Vector::lanes, tile);
    }
  }
}

template <typename Vector>
void multiplyPacked(const StrictArguments<typename Vector::Element> &g,
                    typename Vector::Element *scratch) {
  if (g.m == 1)
    return multiplyRow<Vector>(g, scratch);
  PackedRows<Vector> packed;
  packed.a = scratch;
  packed.turns =
      reinterpret_cast<int32_t *>(scratch + rowsOfBlock * depthOfBlock);
  static_assert(PackedRows<Vector>::tiles <= columnsOfBlock);
  forEachBlock<Vector>(g, [&](const PackedBlock<Vector> &block) {
    for (int64_t row = 0; row < g.m; row += rowsOfBlock) {
      const int64_t rows = smaller(rowsOfBlock, g.m - row);
      packRowsOfA<Vector>(g, row, rows, block, packed);
      multiplyRows<Vector>(g, row, rows, block, packed);
    }
  });
}

} // namespace
} // namespace pdlrt

#endif // LIB_RUNTIME_GEMM_STRICTPACKEDIMPL_H
