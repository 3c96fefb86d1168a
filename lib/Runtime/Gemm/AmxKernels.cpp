//===- AmxKernels.cpp - Products in tiles with AMX ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block of 32 x 32 elements is computed in four tile registers. 32 rows of A
// are packed at a time, for the L1 cache. B is packed in blocks for the L2
// cache, which the rows share.
//
//===----------------------------------------------------------------------===//

#include "AmxPacking.h"
#include "AmxTiles.h"

namespace pdlrt {
namespace {

/// Bytes of packed B, which stay in the L2 cache.
constexpr int64_t maxPanelBytes = 1024 << 10;
/// Depth of a block in tiles. Sums are written and read again after each block.
constexpr int64_t minDepthTiles = 6, maxDepthTiles = 16;
/// Bytes of 32 packed rows of A.
constexpr int64_t maxRowsBytes = 2 * maxDepthTiles * maxTileParts * tileBytes;
constexpr int64_t sumsStride = 2 * tileSize;

/// The memory of a product.
struct alignas(64) Scratch {
  /// Sums of two blocks of 32 x 32 elements.
  float sums[2][2 * tileSize * sumsStride];
  char rows[maxRowsBytes];
  char panel[maxPanelBytes];
};

/// A block of at most 2 x 2 tiles of C, and its factors.
struct Block {
  const char *a, *b;
  /// Distances between adjacent tiles of rows and of columns, in bytes.
  int64_t aStride, bStride;
  int64_t depthTiles;
  /// First element of C.
  int64_t row, column;
  /// Number of rows and columns that exist.
  int64_t rows, columns;
  bool isFirst, isLast;
};

// Registers 0 to 3 are the sums of a block, 4 and 5 tiles of A, 6 and 7 of B.

template <int parts, int rowTiles, int columnTiles, int term>
[[gnu::always_inline]] inline void addTerms(const char *a0, const char *a1,
                                            const char *b0, const char *b1) {
  constexpr const TileTerm *terms = tileTerms[parts - 1];
  constexpr TileTerm now = terms[term];
  constexpr bool loadsA = term == 0 || terms[term - (term > 0)].a != now.a;
  constexpr bool loadsB = term == 0 || terms[term - (term > 0)].b != now.b;
  if constexpr (loadsA)
    _tile_loadd(4, a0 + now.a * tileBytes, 64);
  if constexpr (loadsB)
    _tile_loadd(6, b0 + now.b * tileBytes, 64);
  _tile_dpbf16ps(0, 4, 6);
  if constexpr (rowTiles == 2) {
    if constexpr (loadsA)
      _tile_loadd(5, a1 + now.a * tileBytes, 64);
    _tile_dpbf16ps(2, 5, 6);
  }
  if constexpr (columnTiles == 2) {
    if constexpr (loadsB)
      _tile_loadd(7, b1 + now.b * tileBytes, 64);
    _tile_dpbf16ps(1, 4, 7);
    if constexpr (rowTiles == 2)
      _tile_dpbf16ps(3, 5, 7);
  }
  if constexpr (term + 1 < tileTermCount(parts))
    addTerms<parts, rowTiles, columnTiles, term + 1>(a0, a1, b0, b1);
}

template <int rowTiles, int columnTiles>
[[gnu::always_inline]] inline void loadSums(const float *c, int64_t stride) {
  const auto bytes = static_cast<size_t>(stride) * sizeof(float);
  _tile_loadd(0, c, bytes);
  if constexpr (columnTiles == 2)
    _tile_loadd(1, c + tileSize, bytes);
  if constexpr (rowTiles == 2)
    _tile_loadd(2, c + tileSize * stride, bytes);
  if constexpr (rowTiles == 2 && columnTiles == 2)
    _tile_loadd(3, c + tileSize * stride + tileSize, bytes);
}

template <int rowTiles, int columnTiles>
[[gnu::always_inline]] inline void storeSums(float *c, int64_t stride) {
  const auto bytes = static_cast<size_t>(stride) * sizeof(float);
  _tile_stored(0, c, bytes);
  if constexpr (columnTiles == 2)
    _tile_stored(1, c + tileSize, bytes);
  if constexpr (rowTiles == 2)
    _tile_stored(2, c + tileSize * stride, bytes);
  if constexpr (rowTiles == 2 && columnTiles == 2)
    _tile_stored(3, c + tileSize * stride + tileSize, bytes);
}

__mmask16 firstLanes(int64_t count) {
  return count >= 16
             ? __mmask16(0xffff)
             : static_cast<__mmask16>((1u << (count > 0 ? count : 0)) - 1);
}

/// Copies partial sums of a block that is not whole between C and `sums`.
void copySums(const Block &block, const float *from, int64_t fromStride,
              float *to, int64_t toStride) {
  for (int64_t i = 0; i < block.rows; ++i)
    for (int64_t j = 0; j < block.columns; j += 16) {
      const __mmask16 lanes = firstLanes(block.columns - j);
      _mm512_mask_storeu_ps(
          to + i * toStride + j, lanes,
          _mm512_maskz_loadu_ps(lanes, from + i * fromStride + j));
    }
}

/// A block whose sums are complete. Its posts are applied while the sums of the
/// next block are computed, a few rows at a time, because tiles and vectors
/// have separate units of the CPU.
struct FinishedBlock {
  TilePosts posts;
  const StrictArguments<float> *product = nullptr;
  bool replacesSums = false;
  Block block = {};
  float *sums = nullptr;
  /// Number of rows that have been written.
  int64_t written = 0;

  void writeRows(int64_t count);
};

/// Replaces sums of a row that are not finite.
void replaceSums(const StrictArguments<float> &g, const Block &block, int64_t i,
                 float *sums) {
  for (int64_t j = 0; j < block.columns; j += 16) {
    const __m512i magnitude = _mm512_and_si512(_mm512_load_si512(sums + j),
                                               _mm512_set1_epi32(0x7fffffff));
    unsigned found =
        _mm512_mask_cmpge_epi32_mask(firstLanes(block.columns - j), magnitude,
                                     _mm512_set1_epi32(0x7f800000));
    for (; found; found &= found - 1) {
      const int lane = __builtin_ctz(found);
      sums[j + lane] = exactElement(g, block.row + i, block.column + j + lane);
    }
  }
}

/// Applies posts to a vector of sums of row `row`.
__m512 applyPosts(const TilePosts &posts, const StrictArguments<float> &g,
                  int64_t row, int64_t column, __mmask16 lanes, __m512 x) {
  const __m512 zero = _mm512_setzero_ps();
  if (posts.bias)
    x = _mm512_add_ps(x, _mm512_maskz_loadu_ps(lanes, posts.bias + column));
  if (posts.relu)
    x = _mm512_mask_mov_ps(x, _mm512_cmp_ps_mask(x, zero, _CMP_LE_OQ), zero);
  if (posts.mask) {
    const __m512 mask =
        _mm512_maskz_loadu_ps(lanes, posts.mask + row * g.n + column);
    x = _mm512_mask_mov_ps(x, _mm512_cmp_ps_mask(mask, zero, _CMP_LE_OQ), zero);
  }
  return x;
}

void FinishedBlock::writeRows(int64_t count) {
  const StrictArguments<float> &g = *product;
  const int64_t end = lesser(written + count, block.rows);
  for (; written < end; ++written) {
    const int64_t row = block.row + written;
    float *from = sums + written * sumsStride;
    if (replacesSums)
      replaceSums(g, block, written, from);
    for (int64_t j = 0; j < block.columns; j += 16) {
      const int64_t column = block.column + j;
      const __mmask16 lanes = firstLanes(block.columns - j);
      __m512 x =
          applyPosts(posts, g, row, column, lanes, _mm512_load_ps(from + j));
      _mm512_mask_storeu_ps(g.c + row * g.cStride + column, lanes, x);
    }
  }
}

/// The state of a product.
struct Product {
  const StrictArguments<float> &arguments;
  Scratch &scratch;
  FinishedBlock finished;
  /// The buffer that `finished` does not use.
  int sums = 0;
};

template <int parts, int rowTiles, int columnTiles>
void multiplyBlock(Product &product, const Block &block) {
  const StrictArguments<float> &g = product.arguments;
  float *c = g.c + block.row * g.cStride + block.column;
  float *sums = product.scratch.sums[product.sums];
  const bool isWhole = block.rows == rowTiles * tileSize &&
                       block.columns == columnTiles * tileSize;
  if (block.isFirst) {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  } else if (isWhole) {
    loadSums<rowTiles, columnTiles>(c, g.cStride);
  } else {
    copySums(block, c, g.cStride, sums, sumsStride);
    loadSums<rowTiles, columnTiles>(sums, sumsStride);
  }
  const char *a = block.a, *b = block.b;
  const int64_t rows = tilesOf(product.finished.block.rows, block.depthTiles);
  for (int64_t tile = 0; tile < block.depthTiles; ++tile) {
    addTerms<parts, rowTiles, columnTiles, 0>(a, a + block.aStride, b,
                                              b + block.bStride);
    product.finished.writeRows(rows);
    a += parts * tileBytes;
    b += parts * tileBytes;
  }
  const bool hasPosts = parts > 1 || g.postCount > 0;
  if (isWhole && !(block.isLast && hasPosts))
    return storeSums<rowTiles, columnTiles>(c, g.cStride);
  storeSums<rowTiles, columnTiles>(sums, sumsStride);
  if (!block.isLast)
    return copySums(block, sums, sumsStride, c, g.cStride);
  product.finished.block = block;
  product.finished.sums = sums;
  product.finished.written = 0;
  product.sums ^= 1;
}

template <int parts>
void multiplyAnyBlock(Product &product, const Block &block) {
  const bool twoRows = block.rows > tileSize;
  const bool twoColumns = block.columns > tileSize;
  if (twoRows && twoColumns)
    multiplyBlock<parts, 2, 2>(product, block);
  else if (twoRows)
    multiplyBlock<parts, 2, 1>(product, block);
  else if (twoColumns)
    multiplyBlock<parts, 1, 2>(product, block);
  else
    multiplyBlock<parts, 1, 1>(product, block);
}

/// Multiplies all rows of A by one block of B: `columns` columns from `column`
/// on, and k from tile `depthTile` on. `block` has the tiles of B.
template <int parts>
void multiplyRows(Product &product, Block block, int64_t column,
                  int64_t columns, int64_t depthTile) {
  const StrictArguments<float> &g = product.arguments;
  const int64_t p = depthTile * tileDepth;
  const char *const b = block.b;
  block.a = product.scratch.rows;
  block.aStride = block.depthTiles * parts * tileBytes;
  for (int64_t row = 0; row < g.m; row += 2 * tileSize) {
    block.row = row;
    block.rows = lesser(2 * tileSize, g.m - row);
    packRange<parts, true>(rangeOfA(g, row, block.rows, p), block.depthTiles,
                           product.scratch.rows);
    for (int64_t j = 0; j < columns; j += 2 * tileSize) {
      block.column = column + j;
      block.columns = lesser(2 * tileSize, columns - j);
      block.b = b + j / tileSize * block.bStride;
      multiplyAnyBlock<parts>(product, block);
    }
  }
}

/// Size of the blocks of B.
struct Partition {
  int64_t depthTiles, columns;
};

/// Chooses blocks of equal size, as deep as the cache allows for all columns:
/// A is packed again for each block of columns.
template <int parts>
Partition partitionOf(const StrictArguments<float> &g, bool isPacked) {
  constexpr int64_t panelTiles = maxPanelBytes / (parts * tileBytes);
  const int64_t pairs = tilesOf(g.n, 2 * tileSize);
  int64_t depth = isPacked ? maxDepthTiles : panelTiles / (2 * pairs);
  depth = depth < minDepthTiles   ? minDepthTiles
          : depth > maxDepthTiles ? maxDepthTiles
                                  : depth;
  const int64_t tiles = depthTilesOf(g.k);
  depth = tilesOf(tiles, tilesOf(tiles, depth));
  if (isPacked)
    return {depth, g.n};
  const int64_t blocks = tilesOf(pairs, panelTiles / (2 * depth));
  return {depth, tilesOf(pairs, blocks) * 2 * tileSize};
}

template <int parts>
void multiplyParts(const StrictArguments<float> &g, Scratch &scratch) {
  const ConfiguredTiles tiles;
  const auto *packed = reinterpret_cast<const char *>(g.packed);
  const Partition partition = partitionOf<parts>(g, packed != nullptr);
  const int64_t allDepthTiles = depthTilesOf(g.k);
  Product product = {g, scratch, {}, 0};
  product.finished.product = &g;
  product.finished.replacesSums = parts > 1;
  product.finished.posts.take(g, 0);
  for (int64_t column = 0; column < g.n; column += partition.columns) {
    const int64_t columns = lesser(partition.columns, g.n - column);
    for (int64_t depthTile = 0; depthTile < allDepthTiles;
         depthTile += partition.depthTiles) {
      Block block = {};
      block.depthTiles =
          lesser(partition.depthTiles, allDepthTiles - depthTile);
      block.isFirst = depthTile == 0;
      block.isLast = depthTile + block.depthTiles == allDepthTiles;
      if (packed) {
        block.b = packed + depthTile * parts * tileBytes;
        block.bStride = allDepthTiles * parts * tileBytes;
      } else {
        packRange<parts, false>(
            rangeOfB(g, column, columns, depthTile * tileDepth),
            block.depthTiles, scratch.panel);
        block.b = scratch.panel;
        block.bStride = block.depthTiles * parts * tileBytes;
      }
      multiplyRows<parts>(product, block, column, columns, depthTile);
    }
  }
  product.finished.writeRows(2 * tileSize);
}

/// Applies posts that are in an unusual order, after the others.
void applyOtherPosts(const StrictArguments<float> &g, int64_t first) {
  while (first < g.postCount) {
    TilePosts posts;
    first = posts.take(g, first);
    for (int64_t row = 0; row < g.m; ++row)
      for (int64_t column = 0; column < g.n; column += 16) {
        const __mmask16 lanes = firstLanes(g.n - column);
        float *c = g.c + row * g.cStride + column;
        _mm512_mask_storeu_ps(c, lanes,
                              applyPosts(posts, g, row, column, lanes,
                                         _mm512_maskz_loadu_ps(lanes, c)));
      }
  }
}

void multiply(const StrictArguments<float> &g, int parts, void *scratch) {
  auto &memory = *static_cast<Scratch *>(scratch);
  if (parts == 1)
    multiplyParts<1>(g, memory);
  else if (parts == 2)
    multiplyParts<2>(g, memory);
  else
    multiplyParts<3>(g, memory);
  TilePosts posts;
  applyOtherPosts(g, posts.take(g, 0));
}

int64_t packFactor(const StrictArguments<float> &g, int parts, void *out) {
  const int64_t depthTiles = depthTilesOf(g.k);
  const FactorRange all = rangeOfB(g, 0, g.n, 0);
  auto *to = static_cast<char *>(out);
  if (to && parts == 1)
    packRange<1, false>(all, depthTiles, to);
  else if (to && parts == 2)
    packRange<2, false>(all, depthTiles, to);
  else if (to)
    packRange<3, false>(all, depthTiles, to);
  return tilesOf(g.n, tileSize) * depthTiles * parts * tileBytes;
}

} // namespace

const TileKernels tileKernelsNative = {sizeof(Scratch), multiply, packFactor};

} // namespace pdlrt
