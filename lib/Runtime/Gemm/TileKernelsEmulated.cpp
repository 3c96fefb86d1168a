//===- TileKernelsEmulated.cpp - Products in tiles with AVX2 --------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes the bits of AMX on any CPU that PDL supports, slower than f32. Parts
// are stored as f32. The product of two parts is exact in f32, so each step of
// a chain is one fused multiply-add.
//
//===----------------------------------------------------------------------===//

#include "TileKernelsImpl.h"

#include <bit>
#include <cmath>
#include <immintrin.h>

namespace pdlrt {
namespace {

constexpr int64_t maxDepth = 512, maxRows = 32;

/// The parts of a block of each factor.
struct alignas(64) EmulatedScratch {
  float a[maxTileParts][maxRows][maxDepth];
  float b[maxTileParts][maxDepth][tileSize];
};

/// Returns the nearest bf16, ties to even; zero for denormal numbers.
float roundToPart(float x) {
  auto bits = std::bit_cast<uint32_t>(x);
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000)
    bits |= 0x00400000;
  else if (magnitude < 0x00800000)
    bits &= 0x80000000;
  else
    bits += 0x7fff + (bits >> 16 & 1);
  return std::bit_cast<float>(bits & 0xffff0000);
}

/// A range of the result and of k.
struct EmulatedBlock {
  int64_t row, rows, column, columns, p, depth;
  bool isFirst;

  /// k, padded to whole tiles.
  int64_t paddedDepth() const { return tilesOf(depth, tileDepth) * tileDepth; }
};

void splitRows(const StrictArguments<float> &g, const EmulatedBlock &block,
               int parts, EmulatedScratch &scratch) {
  for (int64_t i = 0; i < block.rows; ++i)
    for (int64_t p = 0; p < block.paddedDepth(); ++p) {
      const int64_t row = block.row + i, q = block.p + p;
      float x = p >= block.depth ? 0
                : g.transposeA   ? g.a[q * g.aStride + row]
                                 : g.a[row * g.aStride + q];
      for (int part = 0; part < parts; ++part) {
        scratch.a[part][i][p] = roundToPart(x);
        x -= scratch.a[part][i][p];
      }
    }
}

void splitColumns(const StrictArguments<float> &g, const EmulatedBlock &block,
                  int parts, EmulatedScratch &scratch) {
  for (int64_t p = 0; p < block.paddedDepth(); ++p)
    for (int64_t j = 0; j < tileSize; ++j) {
      const int64_t column = block.column + j, q = block.p + p;
      float x = p >= block.depth || j >= block.columns ? 0
                : g.transposeB ? g.b[column * g.bStride + q]
                               : g.b[q * g.bStride + column];
      for (int part = 0; part < parts; ++part) {
        scratch.b[part][p][j] = roundToPart(x);
        x -= scratch.b[part][p][j];
      }
    }
}

/// Adds one term of a tile to the 16 sums of a row.
void addTerm(const float *a, const float (*b)[tileSize], __m256 &low,
             __m256 &high) {
  __m256 sums[2][2] = {};
  for (int64_t p = 0; p < tileDepth; ++p)
    for (int half = 0; half < 2; ++half)
      sums[p % 2][half] =
          _mm256_fmadd_ps(_mm256_broadcast_ss(a + p),
                          _mm256_load_ps(b[p] + 8 * half), sums[p % 2][half]);
  low = _mm256_add_ps(low, _mm256_add_ps(sums[0][0], sums[1][0]));
  high = _mm256_add_ps(high, _mm256_add_ps(sums[0][1], sums[1][1]));
}

// Not inlined, so that no arithmetic moves to code that preserves denormal
// numbers.
[[gnu::noinline]] void addBlock(const StrictArguments<float> &g,
                                const EmulatedBlock &block, int parts,
                                const EmulatedScratch &scratch) {
  for (int64_t i = 0; i < block.rows; ++i) {
    float *c = g.c + (block.row + i) * g.cStride + block.column;
    alignas(64) float sums[tileSize] = {};
    for (int64_t j = 0; !block.isFirst && j < block.columns; ++j)
      sums[j] = c[j];
    __m256 low = _mm256_load_ps(sums), high = _mm256_load_ps(sums + 8);
    for (int64_t p = 0; p < block.depth; p += tileDepth)
      for (int term = 0; term < tileTermCount(parts); ++term) {
        const TileTerm now = tileTerms[parts - 1][term];
        addTerm(scratch.a[now.a][i] + p, scratch.b[now.b] + p, low, high);
      }
    _mm256_store_ps(sums, low);
    _mm256_store_ps(sums + 8, high);
    for (int64_t j = 0; j < block.columns; ++j)
      c[j] = sums[j];
  }
}

void addWithoutDenormals(const StrictArguments<float> &g,
                         const EmulatedBlock &block, int parts,
                         const EmulatedScratch &scratch) {
  constexpr unsigned flushToZero = 0x8000, denormalsAreZeros = 0x0040;
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | flushToZero | denormalsAreZeros);
  addBlock(g, block, parts, scratch);
  _mm_setcsr(before);
}

float finished(const StrictArguments<float> &g, int64_t row, int64_t column,
               float x) {
  for (int64_t p = 0; p < g.postCount; ++p) {
    const pdl_post &post = g.posts[p];
    const auto *operand = static_cast<const float *>(post.operand);
    if (post.kind == PDL_POST_BIAS)
      x += operand[column];
    else if (post.kind == PDL_POST_RELU)
      x = x <= 0 ? 0.0f : x;
    else
      x = operand[row * g.n + column] <= 0 ? 0.0f : x;
  }
  return x;
}

void multiplyEmulated(const StrictArguments<float> &g, int parts,
                      void *scratch) {
  auto &memory = *static_cast<EmulatedScratch *>(scratch);
  const int64_t depths = g.k > 0 ? tilesOf(g.k, maxDepth) : 1;
  EmulatedBlock block = {};
  for (block.column = 0; block.column < g.n; block.column += tileSize) {
    block.columns = lesser(tileSize, g.n - block.column);
    for (int64_t d = 0; d < depths; ++d) {
      block.p = d * maxDepth;
      block.depth = lesser(maxDepth, g.k - block.p);
      block.isFirst = d == 0;
      splitColumns(g, block, parts, memory);
      for (block.row = 0; block.row < g.m; block.row += maxRows) {
        block.rows = lesser(maxRows, g.m - block.row);
        splitRows(g, block, parts, memory);
        addWithoutDenormals(g, block, parts, memory);
      }
    }
  }
  for (int64_t row = 0; row < g.m; ++row)
    for (int64_t column = 0; column < g.n; ++column) {
      float &x = g.c[row * g.cStride + column];
      if (parts > 1 && !std::isfinite(x))
        x = exactElement(g, row, column);
      x = finished(g, row, column, x);
    }
}

/// The emulation reads only factors that are not packed.
int64_t packNothing(const StrictArguments<float> &, int, void *) { return 0; }

} // namespace

const TileKernels tileKernelsEmulated = {sizeof(EmulatedScratch),
                                         multiplyEmulated, packNothing};

} // namespace pdlrt
