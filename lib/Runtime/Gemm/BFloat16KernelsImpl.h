//===- BFloat16KernelsImpl.h - Products of bf16 factors ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The strict product with pairs of bf16 in place of an f32: two adjacent
// elements along k have 32 bits, which the packing and the tiles of
// StrictKernelsImpl.h move like a float. Factors are rounded while they are
// packed, so that no copy of them is kept in memory.
//
// `Vector` is a vector of f32 (StrictKernelsImpl.h), except for
//   fma(a, b, c)            c + a1 * b1, then + a0 * b0, for each lane's pairs
//   roundRow(from, count, to)
//                           pairs of adjacent elements; +0 if count is odd
//   roundRows(even, odd, count, to)
//                           pairs from two rows; null odd: +0
// where the last vector is padded with pairs of +0. Optional functions make
// packing faster:
//   roundEightRows(from, stride, count, to, toStride)
//                           pairs of adjacent elements of eight rows; those of
//                           one column are adjacent
//   roundTwoPanels(even, odd, first, second)
//                           pairs from 16 columns of two rows, eight to each
//
// Denormal numbers are zeros: the instructions do not support them, and the
// control register is set accordingly for the computations around them.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_GEMM_BFLOAT16KERNELSIMPL_H
#define LIB_RUNTIME_GEMM_BFLOAT16KERNELSIMPL_H

#include "BFloat16Kernels.h"
#include "StrictKernelsImpl.h"

namespace pdlrt {
namespace {

/// The depth of a block of the strict product.
constexpr int64_t pairsOfBlock = 256;

/// Number of pairs that a call may write after the requested ones.
constexpr int64_t sparePairs = 16;

/// Number of pairs of a panel of B, the widest one, before packing.
template <typename Vector>
constexpr int64_t roundedElements =
    (pairsOfBlock + sparePairs) * Vector::tileVectors * Vector::lanes;

template <typename Vector>
constexpr bool hasFastPacking = requires { Vector::roundEightRows; };

/// Packs like `pack`, with elements rounded to bf16 and (i, p) a pair: elements
/// 2p and 2p + 1 of the source, which has `depth` elements. `rounded` is
/// scratch memory.
template <typename Vector, int panel, int granule>
void packRounded(bool transposed, const float *source, int64_t stride,
                 int64_t depth, int64_t count, float *rounded, float *out) {
  const int64_t pairs = (depth + 1) / 2;
  if (transposed) {
    const int64_t pairStride = pairs + sparePairs;
    for (int64_t i = 0; i < count; i += panel) {
      const int64_t width = smaller(panel, count - i);
      if constexpr (hasFastPacking<Vector>)
        if (width == panel) {
          for (int64_t row = 0; row < panel; row += 8)
            Vector::roundEightRows(source + (i + row) * stride, stride, depth,
                                   out + i * pairs + row, panel);
          continue;
        }
      for (int64_t row = 0; row < width; ++row)
        Vector::roundRow(source + (i + row) * stride, depth,
                         rounded + row * pairStride);
      pack<float, panel, granule>(true, rounded, pairStride, pairs, width,
                                  out + i * pairs);
    }
    return;
  }
  const int64_t whole = count - count % panel;
  const int64_t rest = count - whole;
  const int64_t padded = (rest + granule - 1) / granule * granule;
  for (int64_t p = 0; p < pairs; ++p) {
    const float *even = source + 2 * p * stride;
    const float *odd = 2 * p + 1 < depth ? even + stride : nullptr;
    if constexpr (panel % Vector::lanes == 0 && granule == Vector::lanes) {
      for (int64_t i = 0; i < count; i += panel)
        Vector::roundRows(even + i, odd ? odd + i : nullptr,
                          smaller(panel, count - i),
                          out + i * pairs + p * (i < whole ? panel : padded));
      continue;
    }
    int64_t first = 0;
    if constexpr (hasFastPacking<Vector> && panel == 8)
      for (; odd && first + 2 * panel <= whole; first += 2 * panel)
        Vector::roundTwoPanels(even + first, odd + first,
                               out + first * pairs + p * panel,
                               out + (first + panel) * pairs + p * panel);
    Vector::roundRows(even + first, odd ? odd + first : nullptr, count - first,
                      rounded);
    for (int64_t i = first; i < whole; i += panel)
      copyPanel<float, panel>(rounded + (i - first),
                              out + i * pairs + p * panel);
    float *last = out + whole * pairs + p * padded;
    for (int64_t i = 0; i < padded; ++i)
      last[i] = i < rest ? rounded[whole - first + i] : 0.0f;
  }
}

// Not inlined, so that no arithmetic moves to code that preserves denormal
// numbers.
template <typename Vector>
[[gnu::noinline]] void multiplyBlocks(const StrictArguments<float> &g,
                                      float *packedB) {
  constexpr int64_t tileColumns = Vector::tileVectors * Vector::lanes;
  float *packedA = packedB + pairsOfBlock * (columnsOfBlock + 16);
  float *rounded = packedA + pairsOfBlock * rowsOfBlock;
  // Number of elements in a block: even, so that pairs stay together.
  const int64_t pairs = (g.k + 1) / 2;
  const int64_t depthBlocks =
      pairs > pairsOfBlock ? (pairs + pairsOfBlock - 1) / pairsOfBlock : 1;
  const int64_t evenDepth = 2 * ((pairs + depthBlocks - 1) / depthBlocks);
  for (int64_t column = 0; column < g.n; column += columnsOfBlock) {
    const int64_t columns = smaller(columnsOfBlock, g.n - column);
    for (int64_t block = 0; block < depthBlocks; ++block) {
      const int64_t p = smaller(block * evenDepth, g.k);
      const int64_t depth = smaller(evenDepth, g.k - p);
      packRounded<Vector, tileColumns, Vector::lanes>(
          g.transposeB,
          g.transposeB ? g.b + column * g.bStride + p
                       : g.b + p * g.bStride + column,
          g.bStride, depth, columns, rounded, packedB);
      for (int64_t row = 0; row < g.m; row += rowsOfBlock) {
        const int64_t rows = smaller(rowsOfBlock, g.m - row);
        packRounded<Vector, Vector::tileRows, 1>(
            !g.transposeA,
            g.transposeA ? g.a + p * g.aStride + row
                         : g.a + row * g.aStride + p,
            g.aStride, depth, rows, rounded, packedA);
        multiplyBlock<Vector>(g, row, rows, column, columns, (depth + 1) / 2,
                              packedA, packedB, block == 0,
                              block + 1 == depthBlocks);
      }
    }
  }
}

template <typename Vector>
void multiplyRounded(const StrictArguments<float> &g, void *scratch) {
  constexpr unsigned flushToZero = 0x8000, denormalsAreZeros = 0x0040;
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | flushToZero | denormalsAreZeros);
  multiplyBlocks<Vector>(g, static_cast<float *>(scratch));
  _mm_setcsr(before);
}

template <typename Vector>
constexpr BFloat16Kernels kernelsOfPairs = {
    (pairsOfBlock * (rowsOfBlock + columnsOfBlock + 16) +
     roundedElements<Vector>)*int64_t(sizeof(float)),
    multiplyRounded<Vector>};

} // namespace
} // namespace pdlrt

#endif // LIB_RUNTIME_GEMM_BFLOAT16KERNELSIMPL_H
