//===- TilePeak.cpp - Peak throughput of AMX ------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Measure.h"

#include "pdlrt/Gemm/TileGemm.h"

#include <immintrin.h>

#include <cstring>

using namespace pdlbench;

namespace {

constexpr int64_t tileRounds = 200000;

struct alignas(64) Tiles {
  unsigned char configuration[64];
  char factors[4][1024];
};

/// Four products for four loads of tiles, as in a block of 2 x 2 tiles. The
/// tiles stay in the L1 cache.
void multiplyTiles(const Tiles &tiles) {
  _tile_loadconfig(tiles.configuration);
  for (int64_t i = 0; i < tileRounds; ++i) {
    _tile_loadd(4, tiles.factors[0], 64);
    _tile_loadd(6, tiles.factors[1], 64);
    _tile_dpbf16ps(0, 4, 6);
    _tile_loadd(5, tiles.factors[2], 64);
    _tile_dpbf16ps(2, 5, 6);
    _tile_loadd(7, tiles.factors[3], 64);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_release();
}

} // namespace

double pdlbench::tilePeak() {
  if (!pdlrt::isSupported(pdlrt::TileIsa::amx))
    return 0;
  Tiles tiles;
  std::memset(&tiles, 0, sizeof(tiles));
  tiles.configuration[0] = 1;
  for (int tile = 0; tile < 8; ++tile) {
    tiles.configuration[16 + 2 * tile] = 64;
    tiles.configuration[48 + tile] = 16;
  }
  return 2.0 * 4 * 16 * 16 * 32 * tileRounds /
         bestSeconds(0.3, [&] { multiplyTiles(tiles); });
}
