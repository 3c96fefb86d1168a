//===- Int8Gemm.h - Products with int8 weights ------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products with int8 weights, for inference. Each column of B, a weight, is
// quantized to 8 bits with a scale. Each row of A is quantized to 16 bits,
// which are two numbers of 8 bits. Sums of such products are exact, so the
// results of all CPUs are bitwise equal (docs/Numerics.md, "int8 weights").
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_GEMM_INT8GEMM_H
#define PDLRT_GEMM_INT8GEMM_H

#include "pdlrt/Gemm/Gemm.h"

#include <cstddef>
#include <cstdint>

namespace pdlrt {

/// Implementations of these products. Their results are bitwise equal.
enum class Int8Isa {
  v3,   ///< with AVX2
  vnni, ///< with AVX512-VNNI
  amx   ///< with AMX-INT8
};

/// Returns true if this process can use kernels of `isa`. The first call
/// requests the permission of the operating system to use AMX.
bool isSupported(Int8Isa isa);

/// Returns the fastest kernels that are supported.
Int8Isa nativeInt8Isa();

/// Returns the size in bytes of the scratch memory that suffices for a product
/// of any size.
size_t int8ScratchBytes();

/// Returns true if a product can be computed with int8 weights: f32, A not
/// transposed, at least 16 columns, and 16 to 16384 terms.
bool canUseInt8(const GemmCall &call);

/// Quantizes B into the layout that `int8Gemm` reads as `GemmCall::packedB`. Of
/// `call`, only B and its sizes matter. Returns the number of bytes of the
/// result. If `out` is null, only counts them.
int64_t packInt8Factor(const GemmCall &call, void *out);

/// Computes a product for which `canUseInt8` is true with the kernels of `isa`,
/// which must be supported. `call.packedB` is B in the layout of
/// `packInt8Factor`. An element of the result does not depend on the other rows
/// and columns that are computed.
void int8Gemm(Int8Isa isa, GemmWorkspace &workspace, const GemmCall &call);

/// Computes a product with int8 weights if `GemmWorkspace::constants` requests
/// it for this product. Otherwise returns false.
bool multiplyWithInt8Weights(GemmWorkspace &workspace, const GemmCall &call);

} // namespace pdlrt

#endif // PDLRT_GEMM_INT8GEMM_H
