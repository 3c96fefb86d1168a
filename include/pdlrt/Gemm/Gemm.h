//===- Gemm.h - Matrix products and their backends --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The implementation of `pdlrt_gemm`. The strict backend computes each element
// as one FMA chain in ascending k, so the result is bitwise equal for all batch
// sizes, tiles and instruction sets. Fast products use the fast backend,
// normally oneDNN. If there is none, they use the strict kernels. Products with
// bf16 factors have their own kernels, which also use a fixed order.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_GEMM_GEMM_H
#define PDLRT_GEMM_GEMM_H

#include "pdlabi/abi/calls.h"
#include "pdlabi/abi/codes.h"
#include "pdlrt/Gemm/GemmWorkspace.h"

#include <cstdint>

namespace pdlrt {

/// The arguments of one call of `pdlrt_gemm` (pdlabi/abi/calls.h).
struct GemmCall {
  int32_t type = PDL_F32; // or PDL_F64
  bool transposeA = false, transposeB = false;
  int64_t m = 0, n = 0, k = 0;
  const void *a = nullptr;
  const void *b = nullptr;
  void *c = nullptr;
  int64_t cStride = 0;
  int32_t postCount = 0;
  const pdl_post *posts = nullptr;
  /// Distance between rows of A and of B in memory; 0: without gaps.
  int64_t aStride = 0, bStride = 0;
  /// B in the layout of this CPU's strict kernels (PackedFactors.h). If null, B
  /// is read from `b`.
  const void *packedB = nullptr;
  /// True if all elements of `packedB` are finite. Products may then skip
  /// elements of A that are 0, because 0 times a finite number adds nothing.
  bool isFiniteB = false;

  int64_t strideOfA() const { return aStride ? aStride : (transposeA ? m : k); }
  int64_t strideOfB() const { return bStride ? bStride : (transposeB ? k : n); }
};

/// Instruction sets of the strict kernels.
enum class GemmIsa { v3, v4 };

/// Returns true if this CPU can run kernels of `isa`.
bool isSupported(GemmIsa isa);

/// Returns the best instruction set of this CPU.
GemmIsa nativeGemmIsa();

/// Computes the strict product with the kernels of `isa`, which must be
/// supported. The results of all instruction sets are bitwise equal.
void strictGemm(GemmIsa isa, GemmWorkspace &workspace, const GemmCall &call);

/// Computes `count` small strict products of the same shape. `call` describes
/// the first one, and must have neither posts nor strides. The matrices A of
/// all products follow each other in memory, and so do B and C. The threads of
/// the caller's task share the work. Results are bitwise equal to `strictGemm`.
void strictBatchGemm(GemmIsa isa, GemmWorkspace &workspace,
                     const GemmCall &call, int64_t count);

/// Implementations of products of bf16 factors. Their results are bitwise
/// equal.
enum class BFloat16Isa {
  emulated, ///< with AVX2 and FMA: slower than f32
  native    ///< with AVX512-BF16
};

/// Returns true if this CPU can run kernels of `isa`.
bool isSupported(BFloat16Isa isa);

/// Returns the kernels that `gemm` uses for bf16: the native ones if the CPU
/// supports them and `emulateBFloat16` was not called.
BFloat16Isa bfloat16Isa();

/// Makes this process emulate bf16 products. Call before the first product.
void emulateBFloat16();

/// Returns true after `emulateBFloat16`.
bool emulatesBFloat16();

/// Computes the product PDL_PRODUCT_BF16 of an f32 call with the kernels of
/// `isa`, which must be supported. An element of the result does not depend on
/// the numbers of rows and columns that are computed together.
void bfloat16Gemm(BFloat16Isa isa, GemmWorkspace &workspace,
                  const GemmCall &call);

/// A backend for numerics `fast` in f32. It returns false if it does not
/// support a call; then the strict kernels compute the product.
using FastGemm = bool (*)(GemmWorkspace &workspace, const GemmCall &call);

/// Sets the fast backend of this process, which replaces oneDNN. Call before
/// the first product.
void registerFastGemm(FastGemm backend);

/// Loads the fast backend now. Otherwise the first fast product loads it. A
/// library calls this when it is opened, because the files next to it may be
/// removed later.
void openFastGemm();

/// Packs B into the layout that `strictGemm` with the same instruction set
/// reads as `GemmCall::packedB`. Of `call`, only B, its sizes and the type
/// matter. Returns the number of elements of the result. If `out` is null, only
/// counts them.
int64_t packStrictFactor(GemmIsa isa, const GemmCall &call, void *out);

/// Computes a product of a compiled program with the kernels that `product`
/// requests: PDL_PRODUCT_... of abi.h or products.h. PDL_PRODUCT_STRICT and
/// PDL_PRODUCT_FAST use the strict kernels if B is in
/// `GemmWorkspace::constants`. The threads of the caller's task share a large
/// product.
void gemm(int32_t product, GemmWorkspace &workspace, const GemmCall &call);

} // namespace pdlrt

#endif // PDLRT_GEMM_GEMM_H
