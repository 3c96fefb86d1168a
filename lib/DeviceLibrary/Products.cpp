//===- Products.cpp - Matrix products on a device -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each element is one chain of fused multiply-adds in ascending k, as in the
// strict kernels of the CPU. Contraction must be off where this is compiled.
//
//===----------------------------------------------------------------------===//

#include "Tiles.h"

#include "pdlabi/abi.h"
#include "pdlabi/device.h"

using namespace pdldevice;

namespace {

template <typename T> struct Product {
  int64_t m, n, k;
  const T *__restrict a;
  const T *__restrict b;
  uint64_t posts;
  const T *bias;
  const T *mask;
  T *c;
  int64_t cStride;
};

/// What one load can bring.
template <typename T>
using Vector [[gnu::vector_size(PDL_DEVICE_LOAD_BYTES), gnu::may_alias]] = T;

template <typename T>
inline constexpr int vectorElements = PDL_DEVICE_LOAD_BYTES / int(sizeof(T));

template <typename T> inline bool isAligned(const T *pointer) {
  return reinterpret_cast<uint64_t>(pointer) % PDL_DEVICE_LOAD_BYTES == 0;
}

/// Reads `count` neighbours; `wide`: they begin where a vector may.
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

/// The parts of A and of B that a tile needs for `depth` neighbours along k.
template <typename T, int depth, int rows, int columns> struct Factors {
  T left[depth][rows], right[depth][columns];
};

/// Reads `lines` lines of a factor, `stride` apart, `depth` elements of each.
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

/// Reads `lines` neighbours of each of `depth` lines of a factor.
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

template <bool transposeA, bool transposeB, bool wide, typename Shape,
          int depth, typename T, int columns>
inline void addDepth(const Product<T> &product, const T *a,
                     const T *const (&b)[Shape::groups],
                     T (&sum)[Shape::rows][columns]) {
  Factors<T, depth, Shape::rows, columns> factors;
  if constexpr (transposeA)
    loadAcross<wide, Shape::rows>(a, product.m, factors.left, 0);
  else
    loadAlong<wide, Shape::rows>(a, product.k, factors.left, 0);
#pragma clang loop unroll(full)
  for (int g = 0; g < Shape::groups; ++g)
    if constexpr (transposeB)
      loadAlong<wide, Shape::width>(b[g], product.k, factors.right,
                                    g * Shape::width);
    else
      loadAcross<wide, Shape::width>(b[g], product.n, factors.right,
                                     g * Shape::width);
#pragma clang loop unroll(full)
  for (int p = 0; p < depth; ++p)
#pragma clang loop unroll(full)
    for (int r = 0; r < Shape::rows; ++r)
#pragma clang loop unroll(full)
      for (int c = 0; c < columns; ++c)
        sum[r][c] =
            multiplyAdd(factors.left[p][r], factors.right[p][c], sum[r][c]);
}

template <typename T> inline T zeroWhereNotPositive(T test, T x) {
  return test <= 0 ? T(0) : x;
}

/// Calls body(r, c) for each element that is the tile's own.
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

template <typename T, typename Shape, int columns>
inline void applyPosts(const Product<T> &product, const Tile<Shape> &tile,
                       T (&sum)[Shape::rows][columns]) {
#pragma clang loop unroll(disable)
  for (uint64_t posts = product.posts; posts; posts >>= 4)
    if ((posts & 15) == PDL_POST_BIAS)
      forElements(tile, [&](int r, int c) {
        sum[r][c] += product.bias[tile.columnOf(c)];
      });
    else if ((posts & 15) == PDL_POST_RELU)
      forElements(tile, [&](int r, int c) {
        sum[r][c] = zeroWhereNotPositive(sum[r][c], sum[r][c]);
      });
    else
      forElements(tile, [&](int r, int c) {
        const int64_t row = (tile.row + r) * product.n;
        sum[r][c] = zeroWhereNotPositive(product.mask[row + tile.columnOf(c)],
                                         sum[r][c]);
      });
}

template <bool transposeA, bool transposeB, bool wide, typename T,
          typename Shape>
inline void computeTile(const Product<T> &product, const Tile<Shape> &tile) {
  constexpr int columns = Shape::groups * Shape::width;
  T sum[Shape::rows][columns] = {};
  const int64_t m = product.m, n = product.n, k = product.k;
  const T *a = product.a + (transposeA ? tile.row : tile.row * k);
  const T *b[Shape::groups];
#pragma clang loop unroll(full)
  for (int g = 0; g < Shape::groups; ++g)
    b[g] = product.b + (transposeB ? tile.column[g] * k : tile.column[g]);
  auto add = [&]<int depth>() {
    addDepth<transposeA, transposeB, wide, Shape, depth>(product, a, b, sum);
    a += depth * (transposeA ? m : 1);
#pragma clang loop unroll(full)
    for (int g = 0; g < Shape::groups; ++g)
      b[g] += depth * (transposeB ? 1 : n);
  };
  // As far apart as the elements of a vector: one load brings them all.
  constexpr int depth = 4;
  int64_t p = 0;
#pragma clang loop unroll(disable)
  for (; p + depth <= k; p += depth)
    add.template operator()<depth>();
#pragma clang loop unroll(disable)
  for (; p < k; ++p)
    add.template operator()<1>();
  applyPosts(product, tile, sum);
  forElements(tile, [&](int r, int c) {
    product.c[(tile.row + r) * product.cStride + tile.columnOf(c)] = sum[r][c];
  });
}

/// The same where all sums of a tile may not fit into registers: part by part.
template <bool transposeA, bool transposeB, bool wide, typename T>
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
    computeTile<transposeA, transposeB, wide>(product, part);
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

template <typename T>
bool isWide(bool transposeA, bool transposeB, const Product<T> &product) {
  constexpr int64_t lanes = vectorElements<T>;
  const int64_t m = product.m, n = product.n, k = product.k;
  // Products of a batch begin at multiples of the sizes of their factors.
  return isAligned(product.a) && isAligned(product.b) &&
         (transposeA ? m : k) % lanes == 0 && (transposeB ? k : n) % lanes == 0;
}

template <typename T>
[[gnu::always_inline]] inline void
multiply(bool transposeA, bool transposeB, int64_t count, const Product<T> &all,
         int64_t first, int64_t stride) {
  const int64_t m = all.m, n = all.n, k = all.k;
  if (count <= 0 || m <= 0 || n <= 0)
    return;
  const TileKind kind = first == 0 && stride == 1 ? tileKindOfThread(m, n)
                                                  : tileKind(count, m, n);
  const bool alignedFactors = isWide(transposeA, transposeB, all);
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
            computeTile<tA, tB, wide && Shape::rows != 1>(
                product, tileOfTurn<Shape>(tB, m, n, at.remainder));
          });
        },
        transposeA, transposeB, Shape::rows != 1 && alignedFactors);
  });
}

/// A product, or `count` of them.
template <typename T>
void multiplyPlain(int64_t transposeA, int64_t transposeB, int64_t count,
                   int64_t m, int64_t n, int64_t k, const T *__restrict a,
                   const T *__restrict b, T *c, int64_t first, int64_t stride) {
  multiply(transposeA != 0, transposeB != 0, count,
           Product<T>{m, n, k, a, b, 0, nullptr, nullptr, c, n}, first, stride);
}

} // namespace

int64_t pdldevice_product_turns(int64_t, int64_t, int64_t m, int64_t n, int64_t,
                                const void *, const void *, uint64_t,
                                const void *, const void *, void *, int64_t) {
  return turnsOfProducts(1, m, n);
}

void pdldevice_product_f32(int64_t transposeA, int64_t transposeB, int64_t m,
                           int64_t n, int64_t k, const float *__restrict a,
                           const float *__restrict b, uint64_t posts,
                           const float *bias, const float *mask, float *c,
                           int64_t cStride, int64_t first, int64_t stride) {
  multiply(transposeA != 0, transposeB != 0, 1,
           Product<float>{m, n, k, a, b, posts, bias, mask, c, cStride}, first,
           stride);
}

void pdldevice_product_f64(int64_t transposeA, int64_t transposeB, int64_t m,
                           int64_t n, int64_t k, const double *__restrict a,
                           const double *__restrict b, uint64_t posts,
                           const double *bias, const double *mask, double *c,
                           int64_t cStride, int64_t first, int64_t stride) {
  multiply(transposeA != 0, transposeB != 0, 1,
           Product<double>{m, n, k, a, b, posts, bias, mask, c, cStride}, first,
           stride);
}

int64_t pdldevice_batch_product_turns(int64_t, int64_t, int64_t count,
                                      int64_t m, int64_t n, int64_t,
                                      const void *, const void *, void *) {
  return turnsOfProducts(count, m, n);
}

void pdldevice_batch_product_f32(int64_t transposeA, int64_t transposeB,
                                 int64_t count, int64_t m, int64_t n, int64_t k,
                                 const float *__restrict a,
                                 const float *__restrict b, float *c,
                                 int64_t first, int64_t stride) {
  multiplyPlain(transposeA, transposeB, count, m, n, k, a, b, c, first, stride);
}

void pdldevice_batch_product_f64(int64_t transposeA, int64_t transposeB,
                                 int64_t count, int64_t m, int64_t n, int64_t k,
                                 const double *__restrict a,
                                 const double *__restrict b, double *c,
                                 int64_t first, int64_t stride) {
  multiplyPlain(transposeA, transposeB, count, m, n, k, a, b, c, first, stride);
}
