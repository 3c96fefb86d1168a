//===- AmxTiles.h - Configuration of AMX tiles ------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Internal linkage, for the reason given in StrictKernelsImpl.h.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_GEMM_AMXTILES_H
#define LIB_RUNTIME_GEMM_AMXTILES_H

#include <cstdint>
#include <immintrin.h>

namespace pdlrt {
namespace {

/// The operand of `ldtilecfg`: eight registers of 16 rows of 64 bytes.
struct alignas(64) TileConfiguration {
  uint8_t palette = 1, startRow = 0;
  uint8_t reserved[14] = {};
  uint16_t rowBytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

/// Tiles of the calling thread, configured during its lifetime.
class ConfiguredTiles {
public:
  ConfiguredTiles() {
    const TileConfiguration configuration;
    _tile_loadconfig(&configuration);
  }
  ~ConfiguredTiles() { _tile_release(); }
  ConfiguredTiles(const ConfiguredTiles &) = delete;
  ConfiguredTiles &operator=(const ConfiguredTiles &) = delete;
};

} // namespace
} // namespace pdlrt

#endif // LIB_RUNTIME_GEMM_AMXTILES_H
