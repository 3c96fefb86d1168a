//===- MatrixProduct.cpp - Chains of fused multiply-adds ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatrixProduct.h"

#include <bit>
#include <cmath>
#include <vector>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace pdlc::interpreter;

// On a CPU without FMA instructions, the compiler calls fma of the C library,
// which is slower but gives the same bits.
#if defined(__x86_64__)
#define PDLC_WITH_FMA                                                          \
  __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define PDLC_WITH_FMA
#endif

namespace {

/// Computes a product with the loop over columns innermost. The sums of
/// different columns are independent, so the compiler can vectorize this loop.
template <typename T>
[[gnu::always_inline]] inline void
multiplyChains(const ProductShape &shape, const T *lhs, const T *rhs, T *out) {
  const int64_t m = shape.m, n = shape.n, k = shape.k;
  for (int64_t row = 0; row < m; ++row) {
    T *sums = out + row * n;
    for (int64_t column = 0; column < n; ++column)
      sums[column] = T(0);
    for (int64_t i = 0; i < k; ++i) {
      const T a = shape.transposeLhs ? lhs[i * m + row] : lhs[row * k + i];
      if (shape.transposeRhs)
        for (int64_t column = 0; column < n; ++column)
          sums[column] = std::fma(a, rhs[column * k + i], sums[column]);
      else
        for (int64_t column = 0; column < n; ++column)
          sums[column] = std::fma(a, rhs[i * n + column], sums[column]);
    }
  }
}

} // namespace

PDLC_WITH_FMA void multiplyF32InClones(const ProductShape &shape,
                                       const float *lhs, const float *rhs,
                                       float *out) {
  multiplyChains(shape, lhs, rhs, out);
}

PDLC_WITH_FMA void multiplyF64InClones(const ProductShape &shape,
                                       const double *lhs, const double *rhs,
                                       double *out) {
  multiplyChains(shape, lhs, rhs, out);
}

void pdlc::interpreter::multiply(const ProductShape &shape, const float *lhs,
                                 const float *rhs, float *out) {
  multiplyF32InClones(shape, lhs, rhs, out);
}

void pdlc::interpreter::multiply(const ProductShape &shape, const double *lhs,
                                 const double *rhs, double *out) {
  multiplyF64InClones(shape, lhs, rhs, out);
}

//===----------------------------------------------------------------------===//
// Products with bf16 factors
//===----------------------------------------------------------------------===//

DenormalsAreZeros::DenormalsAreZeros() {
#if defined(__x86_64__)
  constexpr unsigned flushToZero = 0x8000, inputsToo = 0x0040;
  before = _mm_getcsr();
  _mm_setcsr(before | flushToZero | inputsToo);
#endif
}

DenormalsAreZeros::~DenormalsAreZeros() {
#if defined(__x86_64__)
  _mm_setcsr(before);
#endif
}

/// Rounds to the nearest bf16, ties to even. Denormal numbers become zero.
static float roundToBFloat16(float number) {
  uint32_t bits = std::bit_cast<uint32_t>(number);
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000)
    bits |= 0x00400000;
  else if (magnitude < 0x00800000)
    bits &= 0x80000000;
  else
    bits += 0x7fff + (bits >> 16 & 1);
  return std::bit_cast<float>(bits & 0xffff0000);
}

/// Returns a factor rounded to bf16, in its own storage order. `isDepthRows`: k
/// is the number of its rows, otherwise of its columns. If k is odd, adds a row
/// (or column) of +0. Then swaps adjacent rows (or columns) in pairs along k.
static std::vector<float> roundFactor(const float *from, int64_t rows,
                                      int64_t columns, bool isDepthRows) {
  const int64_t depth = isDepthRows ? rows : columns;
  const int64_t even = depth + depth % 2;
  const int64_t width = isDepthRows ? columns : even;
  std::vector<float> rounded((isDepthRows ? even : rows) * width);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      rounded[(isDepthRows ? row ^ 1 : row) * width +
              (isDepthRows ? column : column ^ 1)] =
          roundToBFloat16(from[row * columns + column]);
  return rounded;
}

void pdlc::interpreter::multiplyInBFloat16(const ProductShape &shape,
                                           const float *lhs, const float *rhs,
                                           float *out) {
  const bool lhsByRows = shape.transposeLhs, rhsByRows = !shape.transposeRhs;
  const std::vector<float> a =
      roundFactor(lhs, lhsByRows ? shape.k : shape.m,
                  lhsByRows ? shape.m : shape.k, lhsByRows);
  const std::vector<float> b =
      roundFactor(rhs, rhsByRows ? shape.k : shape.n,
                  rhsByRows ? shape.n : shape.k, rhsByRows);
  ProductShape padded = shape;
  padded.k += shape.k % 2;
  multiply(padded, a.data(), b.data(), out);
}

//===----------------------------------------------------------------------===//
// Products of bf16 parts
//===----------------------------------------------------------------------===//

/// Depth of a tile.
static constexpr int64_t tileDepth = 32;

namespace {

/// One part of a factor, with all elements of a row of the left factor, or of a
/// column of the right one, adjacent and padded with +0 to whole tiles.
using Part = std::vector<float>;

/// The numbers of the parts that a term multiplies.
struct Term {
  int lhs, rhs;
};

} // namespace

/// Splits a factor into `count` bf16 parts. The first part is the factor
/// rounded to bf16, and each further part is the remainder, rounded to bf16.
/// The left factor has `lines` rows of `k` elements, the right one `lines`
/// columns. `isAlong`: the elements of a line are adjacent in `from`. Each line
/// of a part is padded to `paddedK` elements.
static std::vector<Part> splitFactor(const float *from, int64_t lines,
                                     int64_t k, int64_t paddedK, bool isAlong,
                                     int count) {
  std::vector<Part> parts(count, Part(lines * paddedK));
  for (int64_t line = 0; line < lines; ++line)
    for (int64_t p = 0; p < k; ++p) {
      float rest = isAlong ? from[line * k + p] : from[p * lines + line];
      for (Part &part : parts) {
        const float rounded = roundToBFloat16(rest);
        part[line * paddedK + p] = rounded;
        rest -= rounded;
      }
    }
  return parts;
}

/// The chains of one term in one tile, added to `sum`.
[[gnu::always_inline]] static inline float
addTile(const float *lhs, const float *rhs, float sum) {
  float even = 0, odd = 0;
  for (int64_t p = 0; p < tileDepth; p += 2) {
    even = std::fma(lhs[p], rhs[p], even);
    odd = std::fma(lhs[p + 1], rhs[p + 1], odd);
  }
  return sum + (even + odd);
}

PDLC_WITH_FMA void addTilesInClones(const ProductShape &shape, int64_t paddedK,
                                    const std::vector<Part> &lhs,
                                    const std::vector<Part> &rhs, float *out) {
  static const std::vector<Term> terms[] = {
      {{1, 0}, {0, 1}, {0, 0}},
      {{2, 0}, {1, 1}, {0, 2}, {0, 1}, {1, 0}, {0, 0}}};
  for (int64_t row = 0; row < shape.m; ++row)
    for (int64_t column = 0; column < shape.n; ++column) {
      float sum = 0;
      for (int64_t p = 0; p < paddedK; p += tileDepth)
        for (const Term &term : terms[lhs.size() - 2])
          sum = addTile(&lhs[term.lhs][row * paddedK + p],
                        &rhs[term.rhs][column * paddedK + p], sum);
      out[row * shape.n + column] = sum;
    }
}

void pdlc::interpreter::multiplyInParts(const ProductShape &shape, int parts,
                                        const float *lhs, const float *rhs,
                                        float *out) {
  const int64_t paddedK = (shape.k + tileDepth - 1) / tileDepth * tileDepth;
  const std::vector<Part> a =
      splitFactor(lhs, shape.m, shape.k, paddedK, !shape.transposeLhs, parts);
  const std::vector<Part> b =
      splitFactor(rhs, shape.n, shape.k, paddedK, shape.transposeRhs, parts);
  {
    const DenormalsAreZeros zeros;
    addTilesInClones(shape, paddedK, a, b, out);
  }
  const int64_t count = shape.m * shape.n;
  bool isFinite = true;
  for (int64_t i = 0; i < count; ++i)
    isFinite &= std::isfinite(out[i]);
  if (isFinite)
    return;
  std::vector<float> exact(count);
  multiply(shape, lhs, rhs, exact.data());
  for (int64_t i = 0; i < count; ++i)
    if (!std::isfinite(out[i]))
      out[i] = exact[i];
}
