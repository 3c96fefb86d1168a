//===- Int8KernelsAmx.cpp - int8 weights with AMX -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AmxTiles.h"
#include "Int8KernelsImpl.h"

namespace pdlrt {
namespace {

// Registers 0 to 3 are the sums of a block, 4 and 5 tiles of A, 6 and 7 of B.
struct Int8KernelAmx {
  void multiply(const int8_t *a, int64_t rows, int64_t depth, const int8_t *b,
                int64_t tiles, const int32_t *, int32_t *sums) const {
    const bool isHigh = rows > int8TileSize;
    if (tiles == 2)
      isHigh ? addBlock<2, 2>(a, depth, b, sums)
             : addBlock<1, 2>(a, depth, b, sums);
    else
      isHigh ? addBlock<2, 1>(a, depth, b, sums)
             : addBlock<1, 1>(a, depth, b, sums);
  }

  template <int rowTiles, int columnTiles>
  static void addBlock(const int8_t *a, int64_t depth, const int8_t *b,
                       int32_t *sums) {
    const auto stride = static_cast<size_t>(depth);
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (int64_t p = 0; p < depth; p += int8TileDepth) {
      const int8_t *right = b + int8TileSize * p;
      _tile_loadd(4, a + p, stride);
      _tile_loadd(6, right, 64);
      _tile_dpbssd(0, 4, 6);
      if constexpr (rowTiles == 2) {
        _tile_loadd(5, a + int8TileSize * depth + p, stride);
        _tile_dpbssd(2, 5, 6);
      }
      if constexpr (columnTiles == 2) {
        _tile_loadd(7, right + int8TileSize * depth, 64);
        _tile_dpbssd(1, 4, 7);
        if constexpr (rowTiles == 2)
          _tile_dpbssd(3, 5, 7);
      }
    }
    constexpr size_t bytes = int8BlockSize * sizeof(int32_t);
    _tile_stored(0, sums, bytes);
    if constexpr (columnTiles == 2)
      _tile_stored(1, sums + int8TileSize, bytes);
    if constexpr (rowTiles == 2)
      _tile_stored(2, sums + int8TileSize * int8BlockSize, bytes);
    if constexpr (rowTiles == 2 && columnTiles == 2)
      _tile_stored(3, sums + int8TileSize * int8BlockSize + int8TileSize,
                   bytes);
  }

private:
  ConfiguredTiles tiles;
};

} // namespace

const Int8Kernels int8KernelsAmx = {sizeof(Int8Scratch),
                                    multiplyInInt8<Int8KernelAmx>};

} // namespace pdlrt
