//===- KernelChoice.h - The kernels of each type of CPU ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernels that were measured to be the fastest on a type of CPU
// (bench/records/training.md). The choice depends only on the CPU and on the
// shape, never on a measurement of this process, so equal runs on one type of
// CPU use the same kernels.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_GEMM_KERNELCHOICE_H
#define PDLRT_GEMM_KERNELCHOICE_H

#include "pdlrt/Gemm/Gemm.h"

namespace pdlrt {

/// Returns true if the strict kernels for AVX-512 prefetch the factors of large
/// products. This does not change results.
bool usesPrefetching();

/// Turns prefetching on or off for this process, for tests and benchmarks. Call
/// while no product runs.
void setPrefetching(bool isOn);

/// Returns true if an f32 product with numerics fast should use the strict
/// kernels instead of the fast backend.
bool prefersOwnKernels(const GemmCall &call);

/// Turns the use of bf16x6 for f32 products with numerics fast on or off for
/// this process. It is on by default. Call while no product runs.
void setSplitsF32(bool isOn);

/// Returns true if f32 products with numerics fast may use bf16x6: it is on,
/// and the process can use AMX.
bool splitsF32();

/// Returns true if an f32 product with numerics fast should be computed as
/// bf16x6. False for products of libraries, whose constant factors are packed
/// for the strict kernels.
bool prefersParts(const GemmWorkspace &workspace, const GemmCall &call);

} // namespace pdlrt

#endif // PDLRT_GEMM_KERNELCHOICE_H
