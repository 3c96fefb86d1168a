//===- TileGemm.h - Products of bf16 parts ----------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products of f32 factors as sums of products of bf16 parts, in the order of
// AMX (docs/Numerics.md). With one part, factors are rounded to bf16. With two
// and three, 3 and 6 products of parts approach the f32 product.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_GEMM_TILEGEMM_H
#define PDLRT_GEMM_TILEGEMM_H

#include "pdlrt/Gemm/Gemm.h"

#include <cstddef>
#include <cstdint>

namespace pdlrt {

/// Implementations of products in tiles. Both give bitwise equal results.
enum class TileIsa {
  emulated, ///< with AVX2 and FMA: slower than f32
  amx       ///< with AMX-BF16
};

/// Returns true if this process can use kernels of `isa`. The first call
/// requests the permission to use AMX.
bool isSupported(TileIsa isa);

/// Returns `amx` if it is supported.
TileIsa nativeTileIsa();

/// Returns the scratch memory that a product of any size needs.
size_t tileScratchBytes();

/// Computes an f32 product of factors of `parts` parts (1 to 3) with kernels
/// that must be supported. Any range of rows or columns of the result, computed
/// alone, is bitwise equal to that range of the whole. `call.packedB` is in the
/// layout of `packTileFactor`, which only `amx` reads.
void tileGemm(TileIsa isa, int parts, GemmWorkspace &workspace,
              const GemmCall &call);

/// Packs B for `amx`, which must be supported, for any m, A, C and posts.
/// Returns the number of bytes. If `out` is null, only counts them.
int64_t packTileFactor(int parts, const GemmCall &call, void *out);

} // namespace pdlrt

#endif // PDLRT_GEMM_TILEGEMM_H
