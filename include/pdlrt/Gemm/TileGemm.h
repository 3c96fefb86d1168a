//===- TileGemm.h - Products of bf16 parts ----------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes products of f32 factors as sums of products of bf16 parts, in the
// order of AMX (docs/Numerics.md, "Order of tiles"). With one part, factors are
// rounded to bf16. With two parts, the sum of 3 products of parts approximates
// the f32 product; with three parts, the sum of 6 products.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_GEMM_TILEGEMM_H
#define PDLRT_GEMM_TILEGEMM_H

#include "pdlrt/Gemm/Gemm.h"

#include <cstddef>
#include <cstdint>

namespace pdlrt {

/// Implementations of these products. Their results are bitwise equal.
enum class TileIsa {
  emulated, ///< with AVX2 and FMA; slower than products of f32
  amx       ///< with AMX-BF16
};

/// Returns true if this process can use kernels of `isa`. The first call
/// requests the permission of the operating system to use AMX.
bool isSupported(TileIsa isa);

/// Returns `amx` if it is supported, otherwise `emulated`.
TileIsa nativeTileIsa();

/// Returns the size in bytes of the scratch memory that suffices for a product
/// of any size.
size_t tileScratchBytes();

/// Computes an f32 product whose factors are split into `parts` parts, 1 to 3,
/// with the kernels of `isa`, which must be supported. An element of the result
/// does not depend on the numbers of rows and columns that are computed
/// together. `call.packedB` must have the layout of `packTileFactor`; only
/// `amx` reads it.
void tileGemm(TileIsa isa, int parts, GemmWorkspace &workspace,
              const GemmCall &call);

/// Packs B into the layout that `tileGemm` with `amx`, which must be supported,
/// reads as `GemmCall::packedB`. Of `call`, only B and its sizes matter.
/// Returns the number of bytes of the result. If `out` is null, only counts
/// them.
int64_t packTileFactor(int parts, const GemmCall &call, void *out);

} // namespace pdlrt

#endif // PDLRT_GEMM_TILEGEMM_H
