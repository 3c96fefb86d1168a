//===- AmxPacking.h - Packs factors into tiles ------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile has 16 rows of 16 pairs of bf16, which are adjacent along k. A tile of
// A has a row for each row of A; a tile of B has a row for each pair of k. One
// is the transpose of the other, with pairs as elements. Tiles of the parts of
// a factor are adjacent in memory, then those of ascending k, then those of the
// next 16 rows or columns. Elements that do not exist are +0.
//
// All functions have internal linkage, for the reason given in
// StrictKernelsImpl.h.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_GEMM_AMXPACKING_H
#define LIB_RUNTIME_GEMM_AMXPACKING_H

#include "TileKernelsImpl.h"

#include <immintrin.h>

namespace pdlrt {
namespace {

constexpr int64_t tileBytes = 1024;

__m512 widen(__m256i numbers) {
  return _mm512_castsi512_ps(
      _mm512_slli_epi32(_mm512_cvtepu16_epi32(numbers), 16));
}

__m512i pairsOf(__m512 low, __m512 high) {
  return reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low));
}

/// Subtracts rounded numbers, which is exact.
void subtractRounded(__m512i rounded, __m512 &low, __m512 &high) {
  low = _mm512_sub_ps(low, widen(_mm512_castsi512_si256(rounded)));
  high = _mm512_sub_ps(high, widen(_mm512_extracti64x4_epi64(rounded, 1)));
}

/// Writes the parts of 32 elements that are adjacent along k.
template <int parts> void splitAlong(__m512 low, __m512 high, char *to) {
  for (int part = 0; part < parts; ++part) {
    const __m512i rounded = pairsOf(low, high);
    _mm512_store_si512(to + part * tileBytes, rounded);
    if (part + 1 < parts)
      subtractRounded(rounded, low, high);
  }
}

/// Writes the parts of 16 pairs of an element of `even` and one of `odd`.
template <int parts> void splitAcross(__m512 even, __m512 odd, char *to) {
  const __m512i places = _mm512_set_epi16(
      31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22,
      6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  for (int part = 0; part < parts; ++part) {
    const __m512i rounded = pairsOf(even, odd);
    _mm512_store_si512(to + part * tileBytes,
                       _mm512_permutexvar_epi16(places, rounded));
    if (part + 1 < parts)
      subtractRounded(rounded, even, odd);
  }
}

__mmask16 lanesBelow(int64_t count) {
  return count >= 16
             ? __mmask16(0xffff)
             : static_cast<__mmask16>((1u << (count > 0 ? count : 0)) - 1);
}

/// Writes a tile with a row for each line of the source, whose elements are
/// adjacent along k. There are `lines` and `depth` elements, at most 16 and 32.
template <int parts>
void packAlong(const float *from, int64_t stride, int64_t lines, int64_t depth,
               char *to) {
  const __mmask16 low = lanesBelow(depth), high = lanesBelow(depth - 16);
  for (int64_t line = 0; line < tileSize; ++line, to += 64) {
    if (line < lines) {
      const float *row = from + line * stride;
      splitAlong<parts>(_mm512_maskz_loadu_ps(low, row),
                        _mm512_maskz_loadu_ps(high, row + 16), to);
    } else {
      splitAlong<parts>(_mm512_setzero_ps(), _mm512_setzero_ps(), to);
    }
  }
}

/// Writes a tile with a row for each pair of lines of the source, which are
/// adjacent along k. There are `depth` lines and `count` elements, at most 32
/// and 16.
template <int parts>
void packAcross(const float *from, int64_t stride, int64_t count, int64_t depth,
                char *to) {
  const __mmask16 lanes = lanesBelow(count);
  for (int64_t p = 0; p < tileDepth; p += 2, to += 64) {
    const float *row = from + p * stride;
    const __m512 even =
        p < depth ? _mm512_maskz_loadu_ps(lanes, row) : _mm512_setzero_ps();
    const __m512 odd = p + 1 < depth
                           ? _mm512_maskz_loadu_ps(lanes, row + stride)
                           : _mm512_setzero_ps();
    splitAcross<parts>(even, odd, to);
  }
}

/// Transposes a tile of 16 x 16 pairs in place.
void transposeTile(char *tile) {
  __m512i row[16], pair[16];
  for (int i = 0; i < 16; ++i)
    row[i] = _mm512_load_si512(tile + 64 * i);
  // Within 128 bits first, then the 128-bit parts.
  for (int i = 0; i < 16; i += 2) {
    pair[i] = _mm512_unpacklo_epi32(row[i], row[i + 1]);
    pair[i + 1] = _mm512_unpackhi_epi32(row[i], row[i + 1]);
  }
  for (int i = 0; i < 16; i += 4) {
    row[i] = _mm512_unpacklo_epi64(pair[i], pair[i + 2]);
    row[i + 1] = _mm512_unpackhi_epi64(pair[i], pair[i + 2]);
    row[i + 2] = _mm512_unpacklo_epi64(pair[i + 1], pair[i + 3]);
    row[i + 3] = _mm512_unpackhi_epi64(pair[i + 1], pair[i + 3]);
  }
  for (int i = 0; i < 4; ++i) {
    pair[i] = _mm512_shuffle_i32x4(row[i], row[i + 4], 0x88);
    pair[i + 4] = _mm512_shuffle_i32x4(row[i], row[i + 4], 0xdd);
    pair[i + 8] = _mm512_shuffle_i32x4(row[i + 8], row[i + 12], 0x88);
    pair[i + 12] = _mm512_shuffle_i32x4(row[i + 8], row[i + 12], 0xdd);
  }
  for (int i = 0; i < 8; ++i) {
    row[i] = _mm512_shuffle_i32x4(pair[i], pair[i + 8], 0x88);
    row[i + 8] = _mm512_shuffle_i32x4(pair[i], pair[i + 8], 0xdd);
  }
  for (int i = 0; i < 16; ++i)
    _mm512_store_si512(tile + 64 * i, row[i]);
}

template <int parts> void transposeTiles(char *tiles) {
  for (int part = 0; part < parts; ++part)
    transposeTile(tiles + part * tileBytes);
}

/// Lines of a factor, rows of A or columns of B, and a range of k.
struct FactorRange {
  const float *from;
  int64_t stride;
  /// True if the elements of a line are adjacent in memory.
  bool isAlong;
  int64_t lines, depth;
};

FactorRange rangeOfA(const StrictArguments<float> &g, int64_t row, int64_t rows,
                     int64_t p) {
  return {g.a + (g.transposeA ? p * g.aStride + row : row * g.aStride + p),
          g.aStride, !g.transposeA, rows, g.k - p};
}

FactorRange rangeOfB(const StrictArguments<float> &g, int64_t column,
                     int64_t columns, int64_t p) {
  return {g.b +
              (g.transposeB ? column * g.bStride + p : p * g.bStride + column),
          g.bStride, g.transposeB, columns, g.k - p};
}

/// Packs `depthTiles` tiles of all lines of a range. `isA`: for the left side.
template <int parts, bool isA>
void packRange(const FactorRange &range, int64_t depthTiles, char *to) {
  const auto packTile = [&](int64_t line, int64_t tile) {
    const int64_t lines = lesser(tileSize, range.lines - line);
    const int64_t p = tile * tileDepth;
    const int64_t depth = lesser(tileDepth, range.depth - p);
    char *out = to + (line / tileSize * depthTiles + tile) * parts * tileBytes;
    if (range.isAlong)
      packAlong<parts>(range.from + line * range.stride + p, range.stride,
                       lines, depth, out);
    else
      packAcross<parts>(range.from + p * range.stride + line, range.stride,
                        lines, depth, out);
    if (range.isAlong != isA)
      transposeTiles<parts>(out);
  };
  // In the order of memory.
  if (range.isAlong)
    for (int64_t line = 0; line < range.lines; line += tileSize)
      for (int64_t tile = 0; tile < depthTiles; ++tile)
        packTile(line, tile);
  else
    for (int64_t tile = 0; tile < depthTiles; ++tile)
      for (int64_t line = 0; line < range.lines; line += tileSize)
        packTile(line, tile);
}

} // namespace
} // namespace pdlrt

#endif // LIB_RUNTIME_GEMM_AMXPACKING_H
