//===- Gemm.h - Matrix products and their backends --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Behind `pdlrt_gemm`. The strict backend forms each element as one FMA chain
// in ascending k, so that neither batch size, nor tile, nor instruction set
// changes a bit. The fast backend is whatever has registered itself; without
// one, fast products take the strict kernels. Products of bf16 factors have
// kernels of their own, whose order is settled, too.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_GEMM_GEMM_H
#define PDLRT_GEMM_GEMM_H

#include "pdlabi/abi.h"
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
  /// From row to row of A and of B, as they lie in memory; 0: without gaps.
  int64_t aStride = 0, bStride = 0;
  /// B as the strict kernels of this CPU read it (PackedFactors.h); null: B is
  /// read where it is.
  const void *packedB = nullptr;
  /// All of `packedB` is finite: products may leave zeros of A out.
  bool isFiniteB = false;

  int64_t strideOfA() const { return aStride ? aStride : (transposeA ? m : k); }
  int64_t strideOfB() const { return bStride ? bStride : (transposeB ? k : n); }
};

/// The instruction sets that the strict kernels are built for.
enum class GemmIsa { v3, v4 };

/// Whether this CPU can run kernels of `isa`.
bool isSupported(GemmIsa isa);

/// The best instruction set of this CPU.
GemmIsa nativeGemmIsa();

/// The strict product by the kernels of one instruction set, which must be
/// supported. All of them give the same bits.
void strictGemm(GemmIsa isa, GemmWorkspace &workspace, const GemmCall &call);

/// `count` small strict products of the shape of `call`, which has neither
/// posts nor strides of its own: A, B and C of each stand behind those of the
/// last one. Shared by the threads of the caller's task; all instruction sets
/// give the same bits, and `strictGemm` does for each.
void strictBatchGemm(GemmIsa isa, GemmWorkspace &workspace,
                     const GemmCall &call, int64_t count);

/// How products of bf16 factors are computed. Both give the same bits.
enum class BFloat16Isa {
  emulated, ///< by AVX2 and FMA: slower than f32
  native    ///< by AVX512-BF16
};

/// Whether this CPU can run kernels of `isa`.
bool isSupported(BFloat16Isa isa);

/// Which kernels `gemm` takes for bf16: the native ones where the CPU has them,
/// unless `emulateBFloat16` was called.
BFloat16Isa bfloat16Isa();

/// Makes this process emulate. To be called before the first product.
void emulateBFloat16();

/// The product PDL_PRODUCT_BF16 of a call of f32 by the kernels of one
/// instruction set, which must be supported. Any range of rows or columns of
/// the result has the bits that it has in the whole.
void bfloat16Gemm(BFloat16Isa isa, GemmWorkspace &workspace,
                  const GemmCall &call);

/// A backend for numerics `fast` in f32. Returns false to decline a call, which
/// the strict kernels then take.
using FastGemm = bool (*)(GemmWorkspace &workspace, const GemmCall &call);

/// Installs the fast backend of this process, in the place of oneDNN. To be
/// called before the first product.
void registerFastGemm(FastGemm backend);

/// Elements of B as `strictGemm` by the same kernels reads it with
/// `GemmCall::packedB`, whatever m, A, C and posts of that product are. Null
/// `out`: counts them only.
int64_t packStrictFactor(GemmIsa isa, const GemmCall &call, void *out);

/// The product of a compiled program: by the strict kernels of this CPU where B
/// is one of `GemmWorkspace::constants`; by the fast backend where `product`
/// (PDL_PRODUCT_...) allows it; by the kernels of bf16 where it says so, else
/// by the strict kernels. A large one is shared by the threads of the caller's
/// task.
void gemm(int32_t product, GemmWorkspace &workspace, const GemmCall &call);

} // namespace pdlrt

#endif // PDLRT_GEMM_GEMM_H
