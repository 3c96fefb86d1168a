//===- CallArguments.h - Arguments of a product's kernels -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sources for different instruction sets must not include this header
// (StrictKernels.h).
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_GEMM_CALLARGUMENTS_H
#define LIB_RUNTIME_GEMM_CALLARGUMENTS_H

#include "StrictKernels.h"
#include "pdlrt/Gemm/Gemm.h"

namespace pdlrt {

/// Returns the arguments of a product, with one bias for each column and no
/// zeros to skip.
template <typename T> StrictArguments<T> argumentsOfCall(const GemmCall &call) {
  StrictArguments<T> arguments = {};
  arguments.transposeA = call.transposeA;
  arguments.transposeB = call.transposeB;
  arguments.m = call.m;
  arguments.n = call.n;
  arguments.k = call.k;
  arguments.a = static_cast<const T *>(call.a);
  arguments.b = static_cast<const T *>(call.b);
  arguments.c = static_cast<T *>(call.c);
  arguments.aStride = call.strideOfA();
  arguments.bStride = call.strideOfB();
  arguments.cStride = call.cStride;
  arguments.postCount = call.postCount;
  arguments.posts = call.posts;
  arguments.biasStride = 1;
  arguments.packed = static_cast<const T *>(call.packedB);
  return arguments;
}

} // namespace pdlrt

#endif // LIB_RUNTIME_GEMM_CALLARGUMENTS_H
