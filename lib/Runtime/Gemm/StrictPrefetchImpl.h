//===- StrictPrefetchImpl.h - Strict products that prefetch -----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Included after StrictKernelsImpl.h, once by the source of each instruction
// set that has these kernels. They compute the same chains as `multiply`, so
// the result is bitwise equal.
//
// The factors and results of a training step exceed the L2 cache, and Intel's
// Xeons then wait for their large, slow L3 cache. So each tile prefetches a
// part of the rows that later tiles need, and the cache lines of its part of C.
// There are two forms:
//
//   A in place     A is read where it is, and B is packed once per block of k.
//   A transposed   Its columns are packed in shallow blocks of k, so that the
//                  packed blocks and the block of C stay in L2.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_GEMM_STRICTPREFETCHIMPL_H
#define LIB_RUNTIME_GEMM_STRICTPREFETCHIMPL_H

#include "StrictKernelsImpl.h"

#include <cassert>

namespace pdlrt {
namespace {

constexpr int64_t lineBytes = 64;

/// Depth of a block of k if A is transposed.
constexpr int64_t depthOfTransposed = 192;
/// Maximum number of rows of packed A in such a block.
constexpr int64_t rowsOfTransposed = 480;
static_assert(depthOfTransposed * (rowsOfTransposed + columnsOfBlock + 16) <=
              packedElements);

/// A matrix in memory that tiles prefetch into L2, step by step.
struct PrefetchStream {
  const char *next;
  int64_t step;
};

/// Describes what the tiles of a block prefetch: `rows` rows, `stride` elements
/// apart, of which `used` elements are read.
template <typename Element> struct PrefetchedRows {
  const Element *from;
  int64_t rows, stride, used;

  /// Returns the share of tile `tile` of `tiles`, which has `steps` steps.
  PrefetchStream share(int64_t tile, int64_t tiles, int64_t steps) const {
    const auto *begin = reinterpret_cast<const char *>(from);
    const int64_t strideBytes = stride * int64_t(sizeof(Element));
    if (rows <= 0)
      return {begin, 0};
    if (stride <= 2 * used || tiles < rows / 2) {
      // All memory from the first to the last row.
      const int64_t bytes = rows * strideBytes;
      return {begin + bytes * tile / tiles, bytes / (tiles * steps) + 1};
    }
    return {begin + rows * tile / tiles * strideBytes,
            used * int64_t(sizeof(Element)) / steps + 1};
  }
};

/// Distances of the cache lines of a tile of C from its start, in bytes, one
/// for each step of a tile; the last one repeats.
struct LinesOfC {
  static constexpr int64_t steps = depthOfBlock / 2;

  template <typename Vector> static LinesOfC of(int64_t strideBytes) {
    // The lines of three vectors that do not start at a line.
    constexpr int64_t lines = 4;
    static_assert(Vector::tileVectors * sizeof(typename Vector::Register) ==
                  (lines - 1) * lineBytes);
    LinesOfC result;
    for (int64_t i = 0; i < steps; ++i) {
      const int64_t line = smaller(i, lines * Vector::tileRows - 1);
      result.offsets[i] =
          line / lines * strideBytes +
          smaller(line % lines * lineBytes, (lines - 1) * lineBytes - 1);
    }
    return result;
  }

  int64_t offsets[steps];
};

/// Addresses that a tile prefetches. `mask` is the operand of a relu's
/// gradient, or C itself.
struct Prefetches {
  PrefetchStream first, second;
  const int64_t *lines;
  const void *c;
  const void *mask;
};

/// Adds the products of a row of packed B like `addProducts`. The compiler must
/// not move loads of the next row here, because it would spill sums.
template <typename Vector, int vectors>
[[gnu::always_inline]] inline void
addInOrder(typename Vector::Register (&sum)[Vector::tileRows][vectors],
           const typename Vector::Element *a, int64_t rowStride,
           const typename Vector::Element *b) {
  typename Vector::Register right[vectors];
#pragma unroll
  for (int v = 0; v < vectors; ++v)
    right[v] = Vector::load(b + v * Vector::lanes);
#pragma unroll
  for (int r = 0; r < Vector::tileRows; ++r) {
    const typename Vector::Register left = Vector::broadcast(a + r * rowStride);
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
      sum[r][v] = Vector::fma(left, right[v], sum[r][v]);
      asm volatile("" : "+v"(sum[r][v])::"memory");
    }
  }
}

/// Computes a tile of `Vector::tileRows` rows like `computeTile`. If
/// `isInPlace`, rows of A are `rowStride` apart and their elements are
/// consecutive; otherwise A is packed.
template <typename Vector, int vectors, bool isInPlace>
void computeTileAhead(int64_t depth, const typename Vector::Element *a,
                      int64_t rowStride, const typename Vector::Element *b,
                      const Tile<Vector> &tile, const Prefetches &ahead) {
  typename Vector::Register sum[Vector::tileRows][vectors];
  startSums<Vector, Vector::tileRows, vectors>(sum, tile);
  if constexpr (!isInPlace)
    rowStride = 1;
  constexpr int64_t depthStride = isInPlace ? 1 : Vector::tileRows;
  constexpr int64_t bStride = vectors * Vector::lanes;
  const char *first = ahead.first.next, *second = ahead.second.next;
  const auto *c = static_cast<const char *>(ahead.c);
  const auto *mask = static_cast<const char *>(ahead.mask);
  const int64_t *line = ahead.lines;
  for (int64_t step = depth / 2; step > 0; --step) {
    addInOrder<Vector, vectors>(sum, a, rowStride, b);
    _mm_prefetch(first, _MM_HINT_T1);
    _mm_prefetch(second, _MM_HINT_T1);
    __builtin_prefetch(c + *line, /*rw=*/1, /*locality=*/3);
    _mm_prefetch(mask + *line, _MM_HINT_T0);
    first += ahead.first.step;
    second += ahead.second.step;
    ++line;
    addInOrder<Vector, vectors>(sum, a + depthStride, rowStride, b + bStride);
    a += 2 * depthStride;
    b += 2 * bStride;
  }
  if (depth % 2 != 0)
    addInOrder<Vector, vectors>(sum, a, rowStride, b);
  storeSums<Vector, Vector::tileRows, vectors>(sum, tile);
}

template <typename Vector>
using AheadFunction = void (*)(int64_t, const typename Vector::Element *,
                               int64_t, const typename Vector::Element *,
                               const Tile<Vector> &, const Prefetches &);

/// Returns the kernel for `vectorCount`, from 1 to `vectors`.
template <typename Vector, int vectors, bool isInPlace>
AheadFunction<Vector> aheadFunction(int64_t vectorCount) {
  if constexpr (vectors > 1)
    if (vectorCount < vectors)
      return aheadFunction<Vector, vectors - 1, isInPlace>(vectorCount);
  return computeTileAhead<Vector, vectors, isInPlace>;
}

/// Splits `total` > 0 elements into equal blocks of at most `most` elements;
/// the last block may be smaller. Returns their size, a multiple of `granule`,
/// which divides `most`.
inline int64_t evenBlock(int64_t total, int64_t most, int64_t granule) {
  assert(total > 0);
  const int64_t count = (total + most - 1) / most;
  const int64_t even = (total + count - 1) / count;
  return (even + granule - 1) / granule * granule;
}

/// Packs like `pack` if not `transposed`, a few rows at a time: the hardware
/// prefetches along them, and the parts of a panel that are written are whole
/// cache lines.
template <typename T, int panel, int granule>
void packPanels(const T *source, int64_t stride, int64_t depth, int64_t count,
                T *out) {
  constexpr int64_t together = 8;
  const int64_t whole = count - count % panel;
  for (int64_t p = 0; p < depth; p += together) {
    const int64_t rows = smaller(together, depth - p);
    for (int64_t i = 0; i < whole; i += panel) {
      const T *from = source + p * stride + i;
      T *to = out + i * depth + p * panel;
      for (int64_t row = 0; row < rows; ++row)
        copyPanel<T, panel>(from + row * stride, to + row * panel);
    }
  }
  if (whole < count)
    pack<T, panel, granule>(false, source + whole, stride, depth, count - whole,
                            out + whole * depth);
}

/// Returns the address of an element in the operand of a relu's gradient, if it
/// has the row stride of C, otherwise its address in C.
template <typename Element>
const void *maskOf(const StrictArguments<Element> &g, int64_t row,
                   int64_t column) {
  for (int64_t post = 0; post < g.postCount && g.cStride == g.n; ++post)
    if (g.posts[post].kind == PDL_POST_RELU_GRADIENT)
      return static_cast<const Element *>(g.posts[post].operand) + row * g.n +
             column;
  return g.c + row * g.cStride + column;
}

/// Computes a product whose A is not transposed.
template <typename Vector>
void multiplyInPlace(const StrictArguments<typename Vector::Element> &g,
                     typename Vector::Element *packedB) {
  using Element = typename Vector::Element;
  constexpr int64_t width = Vector::tileVectors * Vector::lanes;
  constexpr int tileRows = Vector::tileRows;
  const LinesOfC lines =
      LinesOfC::of<Vector>(g.cStride * int64_t(sizeof(Element)));
  const DepthBlocks blocks(g.k);
  const int64_t columnsOf = evenBlock(g.n, columnsOfBlock, width);
  for (int64_t column = 0; column < g.n; column += columnsOf) {
    const int64_t columns = smaller(columnsOf, g.n - column);
    for (int64_t block = 0; block < blocks.count; ++block) {
      const int64_t p = blocks.begin(block), depth = blocks.depth(block);
      packFactor<Vector>(g, column, columns, p, depth, packedB);
      const int64_t panels = (columns + width - 1) / width;
      for (int64_t row = 0; row < g.m; row += tileRows) {
        const int64_t rows = smaller(tileRows, g.m - row);
        const Element *a = g.a + row * g.aStride + p;
        const PrefetchedRows<Element> nextRows = {
            a + rows * g.aStride, smaller(tileRows, g.m - row - rows),
            g.aStride, depth};
        Prefetches ahead = {{}, {}, lines.offsets, nullptr, nullptr};
        ahead.second = {reinterpret_cast<const char *>(a), 0};
        for (int64_t j = 0; j < columns; j += width) {
          const int64_t own = smaller(width, columns - j);
          const int64_t vectors = vectorsFor<Vector>(own);
          const Tile<Vector> tile = {g.c + row * g.cStride + column + j,
                                     g.cStride,
                                     tailOf<Vector>(own),
                                     block == 0,
                                     block + 1 == blocks.count,
                                     &g,
                                     row,
                                     column + j};
          const Element *b = packedB + j * depth;
          if (rows < tileRows) {
            tileFunction<Vector, tileRows, Vector::tileVectors, true>(
                rows, vectors)(depth, a, g.aStride, 1, b,
                               vectors * Vector::lanes, tile);
            continue;
          }
          ahead.first = nextRows.share(j / width, panels, depth / 2);
          ahead.c = tile.c;
          ahead.mask = maskOf(g, row, column + j);
          aheadFunction<Vector, Vector::tileVectors, true>(vectors)(
              depth, a, g.aStride, b, tile, ahead);
        }
      }
    }
  }
}

/// A block of m, n and k of a product whose A is transposed.
struct TransposedBlock {
  int64_t row, rows, column, columns, p, depth;
  /// Depth of the next block of k, or 0.
  int64_t nextDepth;
};

template <typename Vector>
void multiplyTransposedBlock(const StrictArguments<typename Vector::Element> &g,
                             const TransposedBlock &block,
                             const LinesOfC &lines,
                             const typename Vector::Element *packedA,
                             const typename Vector::Element *packedB) {
  using Element = typename Vector::Element;
  constexpr int64_t width = Vector::tileVectors * Vector::lanes;
  constexpr int tileRows = Vector::tileRows;
  const int64_t depth = block.depth, next = block.p + depth;
  const int64_t tiles = (block.rows + tileRows - 1) / tileRows *
                        ((block.columns + width - 1) / width);
  // The next block of k of both factors.
  const PrefetchedRows<Element> nextA = {g.a + next * g.aStride + block.row,
                                         block.nextDepth, g.aStride,
                                         block.rows};
  const PrefetchedRows<Element> nextB = {g.b + next * g.bStride + block.column,
                                         block.nextDepth, g.bStride,
                                         block.columns};
  Prefetches ahead = {{}, {}, lines.offsets, nullptr, nullptr};
  int64_t number = 0;
  for (int64_t i = 0; i < block.rows; i += tileRows) {
    const int64_t rows = smaller(tileRows, block.rows - i);
    const Element *a = packedA + i * depth;
    for (int64_t j = 0; j < block.columns; j += width, ++number) {
      const int64_t own = smaller(width, block.columns - j);
      const int64_t vectors = vectorsFor<Vector>(own);
      const Tile<Vector> tile = {g.c + (block.row + i) * g.cStride +
                                     block.column + j,
                                 g.cStride,
                                 tailOf<Vector>(own),
                                 block.p == 0,
                                 next == g.k,
                                 &g,
                                 block.row + i,
                                 block.column + j};
      const Element *b = packedB + j * depth;
      if (rows < tileRows) {
        tileFunction<Vector, tileRows, Vector::tileVectors, false>(
            rows, vectors)(depth, a, 1, rows, b, vectors * Vector::lanes, tile);
        continue;
      }
      ahead.first = nextA.share(number, tiles, depth / 2);
      ahead.second = nextB.share(number, tiles, depth / 2);
      // The next tile loads its part of C at its start.
      ahead.c = ahead.mask =
          j + width < block.columns
              ? tile.c + width
              : tile.c - j + smaller(tileRows, block.rows - i - 1) * g.cStride;
      aheadFunction<Vector, Vector::tileVectors, false>(vectors)(depth, a, 1, b,
                                                                 tile, ahead);
    }
  }
}

/// Computes a product whose A is transposed and whose B is not.
template <typename Vector>
void multiplyTransposed(const StrictArguments<typename Vector::Element> &g,
                        typename Vector::Element *scratch) {
  using Element = typename Vector::Element;
  constexpr int64_t width = Vector::tileVectors * Vector::lanes;
  const LinesOfC lines =
      LinesOfC::of<Vector>(g.cStride * int64_t(sizeof(Element)));
  Element *packedB = scratch;
  Element *packedA = packedB + depthOfTransposed * (columnsOfBlock + 16);
  const int64_t columnsOf = evenBlock(g.n, columnsOfBlock, width);
  const int64_t rowsOf = evenBlock(g.m, rowsOfTransposed, Vector::tileRows);
  const int64_t depthOf = evenBlock(g.k, depthOfTransposed, 2);
  for (int64_t column = 0; column < g.n; column += columnsOf)
    for (int64_t row = 0; row < g.m; row += rowsOf)
      for (int64_t p = 0; p < g.k; p += depthOf) {
        const int64_t depth = smaller(depthOf, g.k - p);
        const TransposedBlock block = {row,
                                       smaller(rowsOf, g.m - row),
                                       column,
                                       smaller(columnsOf, g.n - column),
                                       p,
                                       depth,
                                       smaller(depthOf, g.k - p - depth)};
        packPanels<Element, int(width), Vector::lanes>(
            g.b + p * g.bStride + column, g.bStride, depth, block.columns,
            packedB);
        packPanels<Element, Vector::tileRows, 1>(
            g.a + p * g.aStride + row, g.aStride, depth, block.rows, packedA);
        multiplyTransposedBlock<Vector>(g, block, lines, packedA, packedB);
      }
}

/// Computes any product like `multiply`.
template <typename Vector>
void multiplyAhead(const StrictArguments<typename Vector::Element> &g,
                   void *scratch) {
  using Element = typename Vector::Element;
  // Products with few rows read B in place, and shallow ones have too few steps
  // in a tile.
  const bool isLarge = g.m > 5 * Vector::tileRows && g.k >= 16;
  if (!isLarge || g.packed || (g.transposeA && g.transposeB))
    return multiply<Vector>(g, scratch);
  if (g.transposeA)
    return multiplyTransposed<Vector>(g, static_cast<Element *>(scratch));
  multiplyInPlace<Vector>(g, static_cast<Element *>(scratch));
}

} // namespace
} // namespace pdlrt

#endif // LIB_RUNTIME_GEMM_STRICTPREFETCHIMPL_H
