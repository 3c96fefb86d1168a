//===- Multiply.h - Matrix products by tiles --------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loops of all products. Template parameter `Factors` defines their
// arithmetic, with these members:
//   swapsPairs       if true, k runs 1, 0, 3, 2, ..., else 0, 1, 2, ...
//   left, right      convert an element of A or of B, and may record properties
//                    of all converted elements
//   areSafe          returns true if, by the recorded properties, chains of
//                    plain multiply-adds are correct
//   chain            used if not: computes an element of C, before post-ops
//   operand          converts an operand of a post-op
//   result           converts the sum of an element and a bias
// Contraction must be off in code that includes this file.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DEVICELIBRARY_MULTIPLY_H
#define LIB_DEVICELIBRARY_MULTIPLY_H

#include "Tiles.h"

#include "pdlabi/abi/calls.h"
#include "pdlabi/device.h"

namespace pdldevice {

template <typename T> struct Product {
  bool transposeA, transposeB;
  int64_t m, n, k;
  const T *__restrict a;
  const T *__restrict b;
  uint64_t posts;
  const T *bias;
  const T *mask;
  T *c;
  int64_t cStride;
  /// True if groups of columns may be written as vectors.
  bool storesWide = false;
};

/// The elements of one load.
template <typename T>
using Vector [[gnu::vector_size(PDL_DEVICE_LOAD_BYTES), gnu::may_alias]] = T;

template <typename T>
inline constexpr int vectorElements = PDL_DEVICE_LOAD_BYTES / int(sizeof(T));

template <typename T> inline bool isAligned(const T *pointer) {
  return reinterpret_cast<uint64_t>(pointer) % PDL_DEVICE_LOAD_BYTES == 0;
}

/// Reads `count` adjacent elements. If `wide`, their address must be aligned
/// for vectors.
template <bool wide, int count, typename T>
inline void load(const T *__restrict from, T (&to)[count]) {
  constexpr int lanes = vectorElements<T>;
  if constexpr (wide && count % lanes == 0) {
#pragma clang loop unroll(full)
    for (int v = 0; v < count; v += lanes) {
      const auto vector = *reinterpret_cast<const Vector<T> *>(from + v);
#pragma clang loop unroll(full)
      for (int i = 0; i < lanes; ++i)
        to[v + i] = vector[i];
    }
  } else {
#pragma clang loop unroll(full)
    for (int i = 0; i < count; ++i)
      to[i] = from[i];
  }
}

/// Writes elements in the format that `load` reads.
template <int count, typename T> inline void storeWide(const T *from, T *to) {
  constexpr int lanes = vectorElements<T>;
  static_assert(count % lanes == 0);
#pragma clang loop unroll(full)
  for (int v = 0; v < count; v += lanes) {
    Vector<T> vector;
#pragma clang loop unroll(full)
    for (int i = 0; i < lanes; ++i)
      vector[i] = from[v + i];
    *reinterpret_cast<Vector<T> *>(to + v) = vector;
  }
}

/// Reads `depth` adjacent elements from each of `lines` lines of a factor.
/// `stride` is the distance between lines.
template <bool wide, int lines, int depth, typename T, int all>
inline void loadAlong(const T *__restrict from, int64_t stride,
                      T (&to)[depth][all], int begin) {
#pragma clang loop unroll(full)
  for (int i = 0; i < lines; ++i) {
    T line[depth];
    load<wide>(from + i * stride, line);
#pragma clang loop unroll(full)
    for (int p = 0; p < depth; ++p)
      to[p][begin + i] = line[p];
  }
}

/// Reads `lines` adjacent elements of each of `depth` lines of a factor.
template <bool wide, int lines, int depth, typename T, int all>
inline void loadAcross(const T *__restrict from, int64_t stride,
                       T (&to)[depth][all], int begin) {
#pragma clang loop unroll(full)
  for (int p = 0; p < depth; ++p) {
    T line[lines];
    load<wide>(from + p * stride, line);
#pragma clang loop unroll(full)
    for (int i = 0; i < lines; ++i)
      to[p][begin + i] = line[i];
  }
}

/// Adds the next `depth` terms along k to the sums of a tile. `a` is the
/// address of the tile's rows in the left factor. `b` has the addresses of its
/// groups of columns in the right factor.
template <bool transposeA, bool transposeB, bool wide, typename Shape,
          int depth, typename Factors, typename T, int columns>
inline void addDepth(Factors &factors, const Product<T> &product, const T *a,
                     const T *const (&b)[Shape::groups],
                     T (&sum)[Shape::rows][columns]) {
  T left[depth][Shape::rows], right[depth][columns];
  if constexpr (transposeA)
    loadAcross<wide, Shape::rows>(a, product.m, left, 0);
  else
    loadAlong<wide, Shape::rows>(a, product.k, left, 0);
#pragma clang loop unroll(full)
  for (int g = 0; g < Shape::groups; ++g)
    if constexpr (transposeB)
      loadAlong<wide, Shape::width>(b[g], product.k, right, g * Shape::width);
    else
      loadAcross<wide, Shape::width>(b[g], product.n, right, g * Shape::width);
#pragma clang loop unroll(full)
  for (int i = 0; i < depth; ++i) {
    const int p = Factors::swapsPairs && depth > 1 ? i ^ 1 : i;
#pragma clang loop unroll(full)
    for (int r = 0; r < Shape::rows; ++r)
      left[p][r] = factors.left(left[p][r]);
#pragma clang loop unroll(full)
    for (int c = 0; c < columns; ++c)
      right[p][c] = factors.right(right[p][c]);
#pragma clang loop unroll(full)
    for (int r = 0; r < Shape::rows; ++r)
#pragma clang loop unroll(full)
      for (int c = 0; c < columns; ++c)
        sum[r][c] = multiplyAdd(left[p][r], right[p][c], sum[r][c]);
  }
}

/// Calls body(r, c) for each element that belongs to the tile.
template <typename Shape, typename Body>
inline void forElements(const Tile<Shape> &tile, Body body) {
#pragma clang loop unroll(full)
  for (int c = 0; c < Shape::groups * Shape::width; ++c)
    if (tile.ownsColumn(c))
#pragma clang loop unroll(full)
      for (int r = 0; r < Shape::rows; ++r)
        if (tile.ownsRow(r))
          body(r, c);
}

template <typename Factors, typename T, typename Shape, int columns>
inline void applyPosts(const Product<T> &product, const Tile<Shape> &tile,
                       T (&sum)[Shape::rows][columns]) {
#pragma clang loop unroll(disable)
  for (uint64_t posts = product.posts; posts; posts >>= 4)
    if ((posts & 15) == PDL_POST_BIAS)
      forElements(tile, [&](int r, int c) {
        const T bias = Factors::operand(product.bias[tile.columnOf(c)]);
        sum[r][c] = Factors::result(sum[r][c] + bias);
      });
    else if ((posts & 15) == PDL_POST_RELU)
      forElements(tile, [&](int r, int c) {
        sum[r][c] = zeroWhereNotPositive(sum[r][c], sum[r][c]);
      });
    else
      forElements(tile, [&](int r, int c) {
        const int64_t row = (tile.row + r) * product.n;
        sum[r][c] = zeroWhereNotPositive(
            Factors::operand(product.mask[row + tile.columnOf(c)]), sum[r][c]);
      });
}

template <typename T, typename Shape, int columns>
inline void storeTile(const Product<T> &product, const Tile<Shape> &tile,
                      const T (&sum)[Shape::rows][columns]) {
  if constexpr (Shape::width % vectorElements<T> == 0)
    if (product.storesWide) {
    // n is a multiple of the width of a group, so a tile owns either all
    // columns of a group or none.
#pragma clang loop unroll(full)
      for (int c = 0; c < columns; c += Shape::width)
        if (tile.ownsColumn(c))
#pragma clang loop unroll(full)
          for (int r = 0; r < Shape::rows; ++r)
            if (tile.ownsRow(r))
              storeWide<Shape::width>(
                  &sum[r][c], product.c + (tile.row + r) * product.cStride +
                                  tile.columnOf(c));
      return;
    }
  forElements(tile, [&](int r, int c) {
    product.c[(tile.row + r) * product.cStride + tile.columnOf(c)] = sum[r][c];
  });
}

/// Computes each element of a tile separately with `Factors::chain`. Used if
/// plain multiply-adds are not correct for the tile, which is rare.
template <typename Factors, typename T, typename Shape>
inline void computeByChains(const Product<T> &product,
                            const Tile<Shape> &tile) {
#pragma clang loop unroll(disable)
  for (int i = 0; i < Shape::rows * Shape::groups * Shape::width; ++i) {
    const int r = i % Shape::rows, c = i / Shape::rows;
    if (!tile.ownsRow(r) || !tile.ownsColumn(c))
      continue;
    Tile<ElementTile> element;
    element.row = element.ownRow = tile.row + r;
    element.column[0] = element.ownColumn[0] = tile.columnOf(c);
    T sum[1][1] = {{Factors::chain(product, element.row, element.column[0])}};
    applyPosts<Factors>(product, element, sum);
    storeTile(product, element, sum);
  }
}

template <typename Factors, bool transposeA, bool transposeB, bool wide,
          typename T, typename Shape>
inline void computeTile(const Product<T> &product, const Tile<Shape> &tile) {
  constexpr int columns = Shape::groups * Shape::width;
  T sum[Shape::rows][columns] = {};
  Factors factors;
  const int64_t m = product.m, n = product.n, k = product.k;
  const T *a = product.a + (transposeA ? tile.row : tile.row * k);
  const T *b[Shape::groups];
#pragma clang loop unroll(full)
  for (int g = 0; g < Shape::groups; ++g)
    b[g] = product.b + (transposeB ? tile.column[g] * k : tile.column[g]);
  auto add = [&]<int depth>() {
    addDepth<transposeA, transposeB, wide, Shape, depth>(factors, product, a, b,
                                                         sum);
    a += depth * (transposeA ? m : 1);
#pragma clang loop unroll(full)
    for (int g = 0; g < Shape::groups; ++g)
      b[g] += depth * (transposeB ? 1 : n);
  };
  // Number of elements of a line in one load.
  constexpr int depth = vectorElements<T>;
  int64_t p = 0;
#pragma clang loop unroll(disable)
  for (; p + depth <= k; p += depth)
    add.template operator()<depth>();
  if constexpr (Factors::swapsPairs) {
    static_assert(depth == 4);
    if (k & 2)
      add.template operator()<2>();
    // A missing partner would turn -0 into +0, but no safe chain has -0.
    if (k & 1)
      add.template operator()<1>();
  } else {
#pragma clang loop unroll(disable)
    for (; p < k; ++p)
      add.template operator()<1>();
  }
  if (!factors.areSafe())
    return computeByChains<Factors>(product, tile);
  applyPosts<Factors>(product, tile, sum);
  storeTile(product, tile, sum);
}

/// Computes a large tile of 64-bit elements in four parts, because the sums of
/// the whole tile may not fit into registers.
template <typename Factors, bool transposeA, bool transposeB, bool wide,
          typename T>
inline void computeTile(const Product<T> &product, const Tile<LargeTile> &tile)
  requires(sizeof(T) == 8)
{
  using Part = TileShape<LargeTile::rows / 2, 1, LargeTile::width>;
#pragma clang loop unroll(disable)
  for (int i = 0; i < 2 * LargeTile::groups; ++i) {
    const int g = i / 2;
    Tile<Part> part;
    part.row = tile.row + i % 2 * Part::rows;
    part.ownRow = tile.ownRow;
    part.column[0] = g ? tile.column[1] : tile.column[0];
    part.ownColumn[0] = g ? tile.ownColumn[1] : tile.ownColumn[0];
    computeTile<Factors, transposeA, transposeB, wide>(product, part);
  }
}

/// Calls body.operator()<values...>() with the values of `choices`.
template <bool... values, typename Body, typename... Choices>
inline void withConstants(Body body, bool choice, Choices... choices) {
  if constexpr (sizeof...(choices) == 0) {
    if (choice)
      body.template operator()<values..., true>();
    else
      body.template operator()<values..., false>();
  } else {
    if (choice)
      withConstants<values..., true>(body, choices...);
    else
      withConstants<values..., false>(body, choices...);
  }
}

template <typename T> inline bool isWide(const Product<T> &product) {
  constexpr int64_t lanes = vectorElements<T>;
  const int64_t m = product.m, n = product.n, k = product.k;
  // Products of a batch begin at multiples of the sizes of their factors.
  return isAligned(product.a) && isAligned(product.b) &&
         (product.transposeA ? m : k) % lanes == 0 &&
         (product.transposeB ? k : n) % lanes == 0;
}

/// Runs some iterations of `count` products; `all` is the first product.
template <typename Factors, typename T>
[[gnu::always_inline]] inline void multiply(int64_t count, Product<T> all,
                                            int64_t first, int64_t stride) {
  const int64_t m = all.m, n = all.n, k = all.k;
  if (count <= 0 || m <= 0 || n <= 0)
    return;
  // Groups of columns are complete and aligned for vectors.
  all.storesWide = isAligned(all.c) && n % LargeTile::width == 0 &&
                   all.cStride % LargeTile::width == 0;
  const TileKind kind = first == 0 && stride == 1 ? tileKindOfThread(m, n)
                                                  : tileKind(count, m, n);
  const bool readsWide = isWide(all);
  withTileShape(kind, [&]<typename Shape>(Shape) {
    const int64_t turns = Shape::turns(m, n);
    withConstants(
        [&]<bool tA, bool tB, bool wide>() {
          forTurns(count * turns, first, stride, [&](int64_t turn) {
            const Division at = divide(turn, turns);
            Product<T> product = all;
            product.a += at.quotient * m * k;
            product.b += at.quotient * k * n;
            product.c += at.quotient * m * n;
            computeTile<Factors, tA, tB, wide && Shape::rows != 1>(
                product, tileOfTurn<Shape>(tB, m, n, at.remainder));
          });
        },
        all.transposeA, all.transposeB, Shape::rows != 1 && readsWide);
  });
}

} // namespace pdldevice

#endif // LIB_DEVICELIBRARY_MULTIPLY_H
