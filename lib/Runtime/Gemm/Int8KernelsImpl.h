//===- Int8KernelsImpl.h - Parts of products with int8 weights --*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Code that the kernels of all instruction sets share. Internal linkage, for
// the reason given in StrictKernelsImpl.h.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_GEMM_INT8KERNELSIMPL_H
#define LIB_RUNTIME_GEMM_INT8KERNELSIMPL_H

#include "Int8Kernels.h"

#include <cstdint>
#include <cstring>

namespace pdlrt {
namespace {

constexpr int64_t int8TileSize = 16, int8TileDepth = 64;
/// Rows and columns of a block.
constexpr int64_t int8BlockSize = 2 * int8TileSize;

constexpr int64_t int8RoundUp(int64_t count, int64_t multiple) {
  return (count + multiple - 1) / multiple * multiple;
}

constexpr int64_t int8Lesser(int64_t a, int64_t b) { return a < b ? a : b; }

/// The parts of a packed factor.
struct Int8Factor {
  const int8_t *tiles;
  const float *scales;
  const int32_t *shifts;

  Int8Factor(const void *packed, int64_t n, int64_t k)
      : tiles(static_cast<const int8_t *>(packed)) {
    const int64_t columns = int8RoundUp(n, int8TileSize);
    scales = reinterpret_cast<const float *>(
        tiles + columns * int8RoundUp(k, int8TileDepth));
    shifts = reinterpret_cast<const int32_t *>(scales + columns);
  }
};

/// Returns the bits of the largest magnitude of `count` numbers. NaN is larger
/// than all numbers.
[[maybe_unused]] uint32_t largestMagnitude(const float *from, int64_t stride,
                                           int64_t count) {
  uint32_t largest = 0;
  for (int64_t i = 0; i < count; ++i) {
    uint32_t bits;
    std::memcpy(&bits, from + i * stride, sizeof(bits));
    bits &= 0x7fffffff;
    largest = bits > largest ? bits : largest;
  }
  return largest;
}

/// Returns the scale with which a line of the magnitude `bits` has integers of
/// at most `most`. A line that is not finite has the scale NaN, and a tiny one
/// 0. Sets `factor` to the inverse scale, or to 0.
[[maybe_unused]] float scaleOf(uint32_t bits, float most, float &factor) {
  float largest;
  std::memcpy(&largest, &bits, sizeof(largest));
  constexpr uint32_t infinity = 0x7f800000;
  const bool isFinite = bits < infinity;
  factor = isFinite && largest >= 0x1p-100f ? most / largest : 0.0f;
  return !isFinite ? __builtin_nanf("") : factor == 0 ? 0.0f : largest / most;
}

/// Returns the nearest integer, ties to even. |x| must be below 2^22.
[[gnu::always_inline]] inline int32_t nearestInteger(float x) {
  constexpr float rounder = 0x1.8p23f;
  return static_cast<int32_t>((x + rounder) - rounder);
}

/// Quantizes a column of B to 8 bits, and returns its scale. Pads it with 0 to
/// `padded` numbers.
[[maybe_unused]] float quantizeColumn(const float *from, int64_t stride,
                                      int64_t count, int64_t padded,
                                      int8_t *to) {
  float factor;
  const float scale =
      scaleOf(largestMagnitude(from, stride, count), 127, factor);
  std::memset(to, 0, static_cast<size_t>(padded));
  if (factor != 0)
    for (int64_t i = 0; i < count; ++i)
      to[i] = static_cast<int8_t>(nearestInteger(from[i * stride] * factor));
  return scale;
}

/// Quantizes a row of A to integers of 16 bits, 256 times `high` plus `low`,
/// and returns its scale. Pads them with 0 to `padded` numbers.
[[maybe_unused]] float quantizeRow(const float *from, int64_t count,
                                   int64_t padded, int8_t *high, int8_t *low) {
  float factor;
  const float scale =
      scaleOf(largestMagnitude(from, 1, count), 127 * 256, factor);
  const int64_t used = factor != 0 ? count : 0;
  for (int64_t i = 0; i < used; ++i) {
    const int32_t number = nearestInteger(from[i] * factor);
    const int32_t upper = (number + 128) >> 8;
    high[i] = static_cast<int8_t>(upper);
    low[i] = static_cast<int8_t>(number - 256 * upper);
  }
  std::memset(high + used, 0, static_cast<size_t>(padded - used));
  std::memset(low + used, 0, static_cast<size_t>(padded - used));
  return scale;
}

/// The memory of a product. Each row of A has two rows here, the high and the
/// low halves of its integers.
struct alignas(64) Int8Scratch {
  int8_t rows[int8BlockSize * maxInt8Depth];
  int32_t sums[int8BlockSize * int8BlockSize];
  float scales[int8BlockSize / 2];
};

/// A block of the result.
struct Int8Block {
  int64_t row, rows, column, columns;
};

/// Scales the sums of a block, applies the posts, and writes the result.
[[maybe_unused]] void finishBlock(const StrictArguments<float> &g,
                                  const Int8Block &block,
                                  const float *columnScales,
                                  const Int8Scratch &scratch) {
  for (int64_t i = 0; i < block.rows; ++i) {
    float values[int8BlockSize];
    const int32_t *high = scratch.sums + 2 * i * int8BlockSize;
    const int32_t *low = high + int8BlockSize;
    const float scale = scratch.scales[i];
    for (int64_t j = 0; j < block.columns; ++j)
      values[j] =
          (256.0f * static_cast<float>(high[j]) + static_cast<float>(low[j])) *
          scale * columnScales[j];
    const int64_t row = block.row + i;
    for (int64_t p = 0; p < g.postCount; ++p) {
      const auto *operand = static_cast<const float *>(g.posts[p].operand);
      if (g.posts[p].kind == PDL_POST_BIAS) {
        for (int64_t j = 0; j < block.columns; ++j)
          values[j] += operand[block.column + j];
      } else if (g.posts[p].kind == PDL_POST_RELU) {
        for (int64_t j = 0; j < block.columns; ++j)
          values[j] = values[j] <= 0 ? 0.0f : values[j];
      } else {
        const float *mask = operand + row * g.n + block.column;
        for (int64_t j = 0; j < block.columns; ++j)
          values[j] = mask[j] <= 0 ? 0.0f : values[j];
      }
    }
    std::memcpy(g.c + row * g.cStride + block.column, values,
                static_cast<size_t>(block.columns) * sizeof(float));
  }
}

/// Computes a product. `Kernel::multiply(a, rows, depth, b, tiles, shifts,
/// sums)` sets the sums of `rows` rows and 16 or 32 columns. The rows of A are
/// padded to a multiple of 16.
template <typename Kernel>
void multiplyInInt8(const StrictArguments<float> &g, void *memory) {
  auto &scratch = *static_cast<Int8Scratch *>(memory);
  const Int8Factor factor(g.packed, g.n, g.k);
  const int64_t depth = int8RoundUp(g.k, int8TileDepth);
  const Kernel kernel;
  Int8Block block = {};
  for (; block.row < g.m; block.row += int8BlockSize / 2) {
    block.rows = int8Lesser(int8BlockSize / 2, g.m - block.row);
    for (int64_t i = 0; i < block.rows; ++i) {
      int8_t *high = scratch.rows + 2 * i * depth;
      scratch.scales[i] = quantizeRow(g.a + (block.row + i) * g.aStride, g.k,
                                      depth, high, high + depth);
    }
    const int64_t rows = 2 * block.rows;
    std::memset(
        scratch.rows + rows * depth, 0,
        static_cast<size_t>((int8RoundUp(rows, int8TileSize) - rows) * depth));
    for (block.column = 0; block.column < g.n; block.column += int8BlockSize) {
      block.columns = int8Lesser(int8BlockSize, g.n - block.column);
      kernel.multiply(scratch.rows, rows, depth,
                      factor.tiles + block.column * depth,
                      block.columns > int8TileSize ? 2 : 1,
                      factor.shifts + block.column, scratch.sums);
      finishBlock(g, block, factor.scales + block.column, scratch);
    }
  }
}

} // namespace
} // namespace pdlrt

#endif // LIB_RUNTIME_GEMM_INT8KERNELSIMPL_H
