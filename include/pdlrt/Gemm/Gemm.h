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
// sizes, tiles and instruction sets. The fast backend is the one that was
// registered; if there is none, fast products use the strict kernels. Products
// with bf16 factors have their own kernels, which also use a fixed order.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_GEMM_GEMM_H
#define PDLRT_GEMM_GEMM_H

#include "pdlabi/abi/calls.h"
#include "pdlabi/abi/codes.h"
#include "pdlrt/Gemm/GemmWorkspace.h"

#include <cstdint>

namespace pdlrt {

/// The arguments of one `pdlrt_gemm`, see abi.h.
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
  /// B in the layout of this CPU's strict kernels (PackedFactors.h); null: B is
  /// read from `b`.
  const void *packedB = nullptr;
  /// True if all of `packedB` is finite; products may then skip zeros of A.
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

/// Computes the strict product with the kernels of one instruction set, which
/// must be supported. All of them give bitwise equal results.
void strictGemm(GemmIsa isa, GemmWorkspace &workspace, const GemmCall &call);

/// Computes `count` small strict products of the shape of `call`, which has
/// neither posts nor strides. The matrices A, B and C of consecutive products
/// are consecutive in memory. The threads of the caller's task share the work.
/// All instruction sets give results bitwise equal to `strictGemm`.
void strictBatchGemm(GemmIsa isa, GemmWorkspace &workspace,
                     const GemmCall &call, int64_t count);

/// Implementations of products of bf16 factors. Both give bitwise equal
/// results.
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

/// Makes products PDL_PRODUCT_BF16 of this process use the order of its fastest
/// kernels, as those of PDL_PRODUCT_BF16_FAST. For programs of numerics fast.
/// Call before the first product.
void allowFastBFloat16();

/// Computes the product PDL_PRODUCT_BF16 of an f32 call with the kernels of one
/// instruction set, which must be supported. Any range of rows or columns of
/// the result, computed alone, is bitwise equal to that range of the whole.
void bfloat16Gemm(BFloat16Isa isa, GemmWorkspace &workspace,
                  const GemmCall &call);

/// A backend for numerics `fast` in f32. Returns false to decline a call, which
/// then uses the strict kernels.
using FastGemm = bool (*)(GemmWorkspace &workspace, const GemmCall &call);

/// Sets the fast backend of this process, in place of oneDNN. Call before the
/// first product.
void registerFastGemm(FastGemm backend);

/// Loads the fast backend that is linked, which the first fast product does
/// otherwise. A library calls this while the files next to it exist.
void openFastGemm();

/// Packs B into the layout that `strictGemm` with the same instruction set
/// reads as `GemmCall::packedB`, for any m, A, C and posts. Returns the number
/// of elements. If `out` is null, only counts them.
int64_t packStrictFactor(GemmIsa isa, const GemmCall &call, void *out);

/// Computes the product of a compiled program, of a kind PDL_PRODUCT_... of
/// abi.h or products.h. In f32, uses the strict kernels of this CPU if B is in
/// `GemmWorkspace::constants`, otherwise the fast backend if `product` requests
/// it. The threads of the caller's task share a large product.
void gemm(int32_t product, GemmWorkspace &workspace, const GemmCall &call);

} // namespace pdlrt

#endif // PDLRT_GEMM_GEMM_H
