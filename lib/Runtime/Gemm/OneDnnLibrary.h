//===- OneDnnLibrary.h - oneDNN in a library of its own ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// oneDNN needs a newer system than compiled programs do. A program therefore
// opens `libpdl-onednn.so.1` in its folder when it starts its first fast
// product. Where that fails, products use the strict kernels.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_GEMM_ONEDNNLIBRARY_H
#define LIB_RUNTIME_GEMM_ONEDNNLIBRARY_H

#include "pdlrt/Gemm/Gemm.h"

#include <cstddef>
#include <cstdint>

/// Returns the products of oneDNN. Returns null if caller and library differ in
/// PDL_ABI_VERSION or in the sizes of `GemmWorkspace` and `GemmCall`, so that a
/// library of another version is not used.
extern "C" pdlrt::FastGemm
pdlrt_onednn_gemm(uint32_t abiVersion, size_t workspaceBytes, size_t callBytes);

#endif // LIB_RUNTIME_GEMM_ONEDNNLIBRARY_H
