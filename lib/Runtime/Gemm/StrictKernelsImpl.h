//===- StrictKernelsImpl.h - The strict product -----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Included once by the source of each instruction set. Everything here has
// internal linkage, and the standard library is not used: the linker could
// choose a copy of a shared inline function that was compiled for another CPU.
//
// `Vector` is the interface to one instruction set and element type:
//   Element, Register, Mask, lanes
//   tileRows, tileVectors   the register tile: as many accumulators as fit
//   rowVectors              the same for products of one row
//   zero, load, store, loadMasked, storeMasked, broadcast, add, fma
//   zeroWhereNotPositive(test, x)   test <= 0 ? +0 : x
//   hasMinusZero(x)         true if a lane is -0
//   maskOf(count)           the first `count` lanes
//
// The product is split into blocks of k, n and m, so that packed parts of B and
// A stay in the caches. Blocks of k are processed in ascending order, and each
// continues with the sums that the previous one stored in C. Storing and
// loading does not round, so the chain of each element is the same as without
// blocks.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_GEMM_STRICTKERNELSIMPL_H
#define LIB_RUNTIME_GEMM_STRICTKERNELSIMPL_H

#include "StrictKernels.h"

#include <immintrin.h>

namespace pdlrt {
namespace {

constexpr int64_t depthOfBlock = 512;
constexpr int64_t rowsOfBlock = 96;
constexpr int64_t columnsOfBlock = 480;
/// B's part is padded to whole vectors.
constexpr int64_t packedElements =
    depthOfBlock * (rowsOfBlock + columnsOfBlock + 16);

inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

inline void transposeBlock(const float *source, int64_t stride, float *out,
                           int64_t outStride) {
  __m128 r0 = _mm_loadu_ps(source);
  __m128 r1 = _mm_loadu_ps(source + stride);
  __m128 r2 = _mm_loadu_ps(source + 2 * stride);
  __m128 r3 = _mm_loadu_ps(source + 3 * stride);
  _MM_TRANSPOSE4_PS(r0, r1, r2, r3);
  _mm_storeu_ps(out, r0);
  _mm_storeu_ps(out + outStride, r1);
  _mm_storeu_ps(out + 2 * outStride, r2);
  _mm_storeu_ps(out + 3 * outStride, r3);
}

inline void transposeBlock(const double *source, int64_t stride, double *out,
                           int64_t outStride) {
  const __m256d r0 = _mm256_loadu_pd(source);
  const __m256d r1 = _mm256_loadu_pd(source + stride);
  const __m256d r2 = _mm256_loadu_pd(source + 2 * stride);
  const __m256d r3 = _mm256_loadu_pd(source + 3 * stride);
  const __m256d low01 = _mm256_unpacklo_pd(r0, r1);
  const __m256d high01 = _mm256_unpackhi_pd(r0, r1);
  const __m256d low23 = _mm256_unpacklo_pd(r2, r3);
  const __m256d high23 = _mm256_unpackhi_pd(r2, r3);
  _mm256_storeu_pd(out, _mm256_permute2f128_pd(low01, low23, 0x20));
  _mm256_storeu_pd(out + outStride,
                   _mm256_permute2f128_pd(high01, high23, 0x20));
  _mm256_storeu_pd(out + 2 * outStride,
                   _mm256_permute2f128_pd(low01, low23, 0x31));
  _mm256_storeu_pd(out + 3 * outStride,
                   _mm256_permute2f128_pd(high01, high23, 0x31));
}

template <typename T, int panel> inline void copyPanel(const T *from, T *to) {
  for (int i = 0; i < panel; ++i)
    to[i] = from[i];
}

/// Packs four rows interleaved.
template <typename T>
inline void packRows(const T *rows, int64_t stride, int64_t depth, T *to,
                     int64_t toStride) {
  int64_t p = 0;
  for (; p + 4 <= depth; p += 4)
    transposeBlock(rows + p, stride, to + p * toStride, toStride);
  for (; p < depth; ++p)
    for (int64_t row = 0; row < 4; ++row)
      to[p * toStride + row] = rows[row * stride + p];
}

/// Packs one row, or +0 if it is null. The compiler would use a scatter, which
/// is several times slower than separate stores.
template <typename T>
inline void packRow(const T *row, int64_t depth, T *to, int64_t toStride) {
#pragma clang loop vectorize(disable) interleave(disable)
  for (int64_t p = 0; p < depth; ++p)
    to[p * toStride] = row ? row[p] : T(0);
}

/// Packs `count` x `depth` elements into consecutive panels of `panel`. Panel
/// number i / panel starts at out + i * depth and has its elements (i, p) by
/// ascending p. The last panel may be narrower: it is padded with +0 to a
/// multiple of `granule`. Element (i, p) is source[p * stride + i], or source[i
/// * stride + p] if `transposed`.
template <typename T, int panel, int granule>
void pack(bool transposed, const T *source, int64_t stride, int64_t depth,
          int64_t count, T *out) {
  const int64_t whole = count - count % panel;
  const int64_t rest = count - whole;
  const int64_t padded = (rest + granule - 1) / granule * granule;
  T *last = out + whole * depth;
  if (!transposed) {
    // Copy along the rows of the source, so that each row is read once.
    for (int64_t p = 0; p < depth; ++p) {
      for (int64_t i = 0; i < whole; i += panel)
        copyPanel<T, panel>(source + i, out + i * depth + p * panel);
      for (int64_t i = 0; i < padded; ++i)
        last[p * padded + i] = i < rest ? source[whole + i] : T(0);
      source += stride;
    }
    return;
  }
  static_assert(panel % 4 == 0);
  for (int64_t i = 0; i < whole; i += panel)
    for (int64_t group = i; group < i + panel; group += 4)
      packRows(source + group * stride, stride, depth,
               out + i * depth + (group - i), panel);
  const T *rows = source + whole * stride;
  if (padded == 1) {
    for (int64_t p = 0; p < depth; ++p)
      last[p] = rows[p];
    return;
  }
  int64_t i = 0;
  for (; i + 4 <= rest; i += 4)
    packRows(rows + i * stride, stride, depth, last + i, padded);
  for (; i < rest; ++i)
    packRow(rows + i * stride, depth, last + i, padded);
  for (; i < padded; ++i)
    packRow<T>(nullptr, depth, last + i, padded);
}

/// Description of a tile of C, except for its factors.
template <typename Vector> struct Tile {
  typename Vector::Element *c;
  int64_t stride;
  /// Lanes of the last vector of each row that belong to C.
  typename Vector::Mask tail;
  /// True for the first block of k: accumulators start at +0, otherwise at C.
  bool starts;
  /// True for the last block of k, which applies the post-ops.
  bool ends;
  const StrictArguments<typename Vector::Element> *arguments;
  int64_t row, column;
};

template <typename Vector, int vectors>
inline typename Vector::Register loadOfC(const typename Vector::Element *from,
                                         int v, typename Vector::Mask tail) {
  return v + 1 < vectors ? Vector::load(from) : Vector::loadMasked(from, tail);
}

// The functions on sums are inlined, because a call would keep the sums in
// memory from the first block of k on.

/// Starts the sums of a tile: at +0, or at C.
template <typename Vector, int rows, int vectors>
[[gnu::always_inline]] inline void
startSums(typename Vector::Register (&sum)[rows][vectors],
          const Tile<Vector> &tile) {
#pragma unroll
  for (int r = 0; r < rows; ++r)
#pragma unroll
    for (int v = 0; v < vectors; ++v)
      sum[r][v] =
          tile.starts
              ? Vector::zero()
              : loadOfC<Vector, vectors>(
                    tile.c + r * tile.stride + v * Vector::lanes, v, tile.tail);
}

/// Adds the products of `right`, a part of a row of B, with a column of A,
/// whose elements are `rowStride` apart.
template <typename Vector, int rows, int vectors>
[[gnu::always_inline]] inline void
addProducts(typename Vector::Register (&sum)[rows][vectors],
            const typename Vector::Element *a, int64_t rowStride,
            const typename Vector::Register (&right)[vectors]) {
#pragma unroll
  for (int r = 0; r < rows; ++r) {
    const typename Vector::Register left = Vector::broadcast(a + r * rowStride);
#pragma unroll
    for (int v = 0; v < vectors; ++v)
      sum[r][v] = Vector::fma(left, right[v], sum[r][v]);
  }
}

template <typename Vector, int rows, int vectors>
[[gnu::always_inline]] inline void
applyPosts(typename Vector::Register (&sum)[rows][vectors],
           const Tile<Vector> &tile) {
  using Element = typename Vector::Element;
  const StrictArguments<Element> &arguments = *tile.arguments;
  for (int64_t post = 0; post < arguments.postCount; ++post) {
    const auto *operand =
        static_cast<const Element *>(arguments.posts[post].operand);
    switch (arguments.posts[post].kind) {
    case PDL_POST_BIAS:
#pragma unroll
      for (int v = 0; v < vectors; ++v) {
        const typename Vector::Register bias =
            arguments.biasStride
                ? loadOfC<Vector, vectors>(
                      operand + tile.column + v * Vector::lanes, v, tile.tail)
                : Vector::broadcast(operand);
#pragma unroll
        for (int r = 0; r < rows; ++r)
          sum[r][v] = Vector::add(sum[r][v], bias);
      }
      break;
    case PDL_POST_RELU:
#pragma unroll
      for (int r = 0; r < rows; ++r)
#pragma unroll
        for (int v = 0; v < vectors; ++v)
          sum[r][v] = Vector::zeroWhereNotPositive(sum[r][v], sum[r][v]);
      break;
    case PDL_POST_RELU_GRADIENT:
#pragma unroll
      for (int r = 0; r < rows; ++r)
#pragma unroll
        for (int v = 0; v < vectors; ++v)
          sum[r][v] = Vector::zeroWhereNotPositive(
              loadOfC<Vector, vectors>(operand + (tile.row + r) * arguments.n +
                                           tile.column + v * Vector::lanes,
                                       v, tile.tail),
              sum[r][v]);
      break;
    }
  }
}

/// Stores the sums of a tile in C, after the post-ops in the last block of k.
template <typename Vector, int rows, int vectors>
[[gnu::always_inline]] inline void
storeSums(typename Vector::Register (&sum)[rows][vectors],
          const Tile<Vector> &tile) {
  if (tile.ends)
    applyPosts<Vector, rows, vectors>(sum, tile);
#pragma unroll
  for (int r = 0; r < rows; ++r)
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
      typename Vector::Element *to =
          tile.c + r * tile.stride + v * Vector::lanes;
      if (v + 1 < vectors)
        Vector::store(to, sum[r][v]);
      else
        Vector::storeMasked(to, sum[r][v], tile.tail);
    }
}

/// Computes one tile of `rows` x `vectors` registers. A: element (r, p) at a[r
/// * rowStride + p * depthStride]. B: row p at b + p * bStride; if `direct`,
/// its last vector must not be read beyond the tail.
template <typename Vector, int rows, int vectors, bool direct>
void computeTile(int64_t depth, const typename Vector::Element *a,
                 int64_t rowStride, int64_t depthStride,
                 const typename Vector::Element *b, int64_t bStride,
                 const Tile<Vector> &tile) {
  typename Vector::Register sum[rows][vectors];
  startSums<Vector, rows, vectors>(sum, tile);
  if constexpr (!direct) {
    rowStride = 1;
    depthStride = rows;
    bStride = vectors * Vector::lanes;
  }
  for (int64_t p = 0; p < depth; ++p) {
    typename Vector::Register right[vectors];
#pragma unroll
    for (int v = 0; v < vectors; ++v)
      right[v] =
          direct ? loadOfC<Vector, vectors>(b + v * Vector::lanes, v, tile.tail)
                 : Vector::load(b + v * Vector::lanes);
    addProducts<Vector, rows, vectors>(sum, a, rowStride, right);
    a += depthStride;
    b += bStride;
  }
  storeSums<Vector, rows, vectors>(sum, tile);
}

template <typename Vector>
using TileFunction = void (*)(int64_t, const typename Vector::Element *,
                              int64_t, int64_t,
                              const typename Vector::Element *, int64_t,
                              const Tile<Vector> &);

/// Returns the kernel for `rowCount` x `vectorCount`, both at least 1 and at
/// most `rows` and `vectors`.
template <typename Vector, int rows, int vectors, bool direct>
TileFunction<Vector> tileFunction(int64_t rowCount, int64_t vectorCount) {
  if constexpr (rows > 1)
    if (rowCount < rows)
      return tileFunction<Vector, rows - 1, vectors, direct>(rowCount,
                                                             vectorCount);
  if constexpr (vectors > 1)
    if (vectorCount < vectors)
      return tileFunction<Vector, rows, vectors - 1, direct>(rowCount,
                                                             vectorCount);
  return computeTile<Vector, rows, vectors, direct>;
}

template <typename Vector> int64_t vectorsFor(int64_t columns) {
  return (columns + Vector::lanes - 1) / Vector::lanes;
}

template <typename Vector> typename Vector::Mask tailOf(int64_t columns) {
  return Vector::maskOf(static_cast<int>(
      columns - (vectorsFor<Vector>(columns) - 1) * Vector::lanes));
}

/// Products with few rows read A and B in place, because packing would cost
/// more than it gains.
template <typename Vector, int rows, int vectors>
void multiplyDirectly(const StrictArguments<typename Vector::Element> &g) {
  constexpr int64_t width = vectors * Vector::lanes;
  const int64_t rowStride = g.transposeA ? 1 : g.aStride;
  const int64_t depthStride = g.transposeA ? g.aStride : 1;
  for (int64_t column = 0; column < g.n; column += width) {
    const int64_t columns = smaller(width, g.n - column);
    Tile<Vector> tile = {
        nullptr, g.cStride, tailOf<Vector>(columns), true, true, &g, 0, column};
    for (int64_t row = 0; row < g.m; row += rows) {
      tile.row = row;
      tile.c = g.c + row * g.cStride + column;
      tileFunction<Vector, rows, vectors, true>(smaller(rows, g.m - row),
                                                vectorsFor<Vector>(columns))(
          g.k, g.a + row * rowStride, rowStride, depthStride, g.b + column,
          g.bStride, tile);
    }
  }
}

/// Multiplies one block of k, n and m, with packed B.
template <typename Vector>
void multiplyBlock(const StrictArguments<typename Vector::Element> &g,
                   int64_t row, int64_t rows, int64_t column, int64_t columns,
                   int64_t depth, const typename Vector::Element *packedA,
                   const typename Vector::Element *packedB, bool starts,
                   bool ends) {
  constexpr int64_t tileColumns = Vector::tileVectors * Vector::lanes;
  for (int64_t j = 0; j < columns; j += tileColumns) {
    const int64_t width = smaller(tileColumns, columns - j);
    const int64_t vectors = vectorsFor<Vector>(width);
    Tile<Vector> tile = {nullptr, g.cStride, tailOf<Vector>(width),
                         starts,  ends,      &g,
                         0,       column + j};
    for (int64_t i = 0; i < rows; i += Vector::tileRows) {
      const int64_t height = smaller(Vector::tileRows, rows - i);
      tile.row = row + i;
      tile.c = g.c + tile.row * g.cStride + tile.column;
      const TileFunction<Vector> function =
          height == Vector::tileRows && vectors == Vector::tileVectors
              ? computeTile<Vector, Vector::tileRows, Vector::tileVectors,
                            false>
              : tileFunction<Vector, Vector::tileRows, Vector::tileVectors,
                             false>(height, vectors);
      function(depth, packedA + i * depth, 1, height, packedB + j * depth,
               vectors * Vector::lanes, tile);
    }
  }
}

/// Blocks of k with about equal depth. If k is 0, there is one block, which
/// applies the post-ops.
struct DepthBlocks {
  explicit DepthBlocks(int64_t k)
      : k(k),
        count(k > depthOfBlock ? (k + depthOfBlock - 1) / depthOfBlock : 1),
        even((k + count - 1) / count) {}
  int64_t begin(int64_t block) const { return smaller(block * even, k); }
  int64_t depth(int64_t block) const { return smaller(even, k - begin(block)); }

  int64_t k, count, even;
};

/// Packs the columns [column, column + columns) of one block of k.
template <typename Vector>
void packFactor(const StrictArguments<typename Vector::Element> &g,
                int64_t column, int64_t columns, int64_t p, int64_t depth,
                typename Vector::Element *out) {
  pack<typename Vector::Element, Vector::tileVectors * Vector::lanes,
       Vector::lanes>(g.transposeB,
                      g.transposeB ? g.b + column * g.bStride + p
                                   : g.b + p * g.bStride + column,
                      g.bStride, depth, columns, out);
}

/// Computes a product with packed B: StrictPackedImpl.h.
template <typename Vector>
void multiplyPacked(const StrictArguments<typename Vector::Element> &g,
                    typename Vector::Element *scratch);

template <typename Vector>
void multiply(const StrictArguments<typename Vector::Element> &g,
              void *scratch) {
  using Element = typename Vector::Element;
  if (g.packed)
    return multiplyPacked<Vector>(g, static_cast<Element *>(scratch));
  if (!g.transposeB && g.m == 1)
    return multiplyDirectly<Vector, 1, Vector::rowVectors>(g);
  if (!g.transposeB && g.m <= 5 * Vector::tileRows)
    return multiplyDirectly<Vector, Vector::tileRows, Vector::tileVectors>(g);
  auto *packedB = static_cast<Element *>(scratch);
  Element *packedA = packedB + depthOfBlock * (columnsOfBlock + 16);
  const DepthBlocks blocks(g.k);
  for (int64_t column = 0; column < g.n; column += columnsOfBlock) {
    const int64_t columns = smaller(columnsOfBlock, g.n - column);
    for (int64_t block = 0; block < blocks.count; ++block) {
      const int64_t p = blocks.begin(block), depth = blocks.depth(block);
      packFactor<Vector>(g, column, columns, p, depth, packedB);
      for (int64_t row = 0; row < g.m; row += rowsOfBlock) {
        const int64_t rows = smaller(rowsOfBlock, g.m - row);
        pack<Element, Vector::tileRows, 1>(!g.transposeA,
                                           g.transposeA
                                               ? g.a + p * g.aStride + row
                                               : g.a + row * g.aStride + p,
                                           g.aStride, depth, rows, packedA);
        multiplyBlock<Vector>(g, row, rows, column, columns, depth, packedA,
                              packedB, block == 0, block + 1 == blocks.count);
      }
    }
  }
}

/// Computes small products: B is transposed if necessary, and nothing is
/// packed.
template <typename Vector>
void multiplyBatch(const StrictBatch<typename Vector::Element> &batch,
                   void *scratch) {
  using Element = typename Vector::Element;
  StrictArguments<Element> g = batch.first;
  const int64_t sizeOfA = g.m * g.k, sizeOfB = g.k * g.n, sizeOfC = g.m * g.n;
  // A single row or column of B is its own transpose.
  if (g.transposeB && (g.n == 1 || g.k == 1)) {
    g.transposeB = false;
    g.bStride = g.n;
  }
  const bool isTransposed = g.transposeB && g.m <= 5 * Vector::tileRows &&
                            sizeOfB <= packedElements / 2;
  for (int64_t i = 0; i < batch.count; ++i) {
    g.a = batch.first.a + i * sizeOfA;
    g.b = batch.first.b + i * sizeOfB;
    g.c = batch.first.c + i * sizeOfC;
    if (isTransposed) {
      auto *transposed = static_cast<Element *>(scratch);
      int64_t column = 0;
      for (; column + 4 <= g.n; column += 4)
        packRows(g.b + column * g.k, g.k, g.k, transposed + column, g.n);
      for (; column < g.n; ++column)
        packRow(g.b + column * g.k, g.k, transposed + column, g.n);
      g.b = transposed;
      g.bStride = g.n;
      g.transposeB = false;
    }
    multiply<Vector>(g, scratch);
  }
}

} // namespace
} // namespace pdlrt

#endif // LIB_RUNTIME_GEMM_STRICTKERNELSIMPL_H
