//===- PartGemm.h - Products of programs with bf16 parts --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_GEMM_PARTGEMM_H
#define LIB_RUNTIME_GEMM_PARTGEMM_H

#include "pdlrt/Gemm/Gemm.h"

namespace pdlrt {

/// Computes the products of pdlabi/products.h, for `gemm`.
void partGemm(int32_t product, GemmWorkspace &workspace, const GemmCall &call);

/// Computes the products of abi.h, for `gemm` and `partGemm`.
void multiply(int32_t product, GemmWorkspace &workspace, const GemmCall &call);

} // namespace pdlrt

#endif // LIB_RUNTIME_GEMM_PARTGEMM_H
