//===- Compute.h - Use of bf16 in products of a program ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_GEMM_COMPUTE_H
#define PDLRT_GEMM_COMPUTE_H

#include <cstdint>
#include <string_view>

namespace pdlrt {

/// Returns the name of a value of `pdl_descriptor::compute`, as in the flag
/// --compute.
std::string_view computeName(int32_t compute);

/// Returns a description, for logs, of the kernels that this process uses for
/// the large products of a program. The arguments are those of the descriptor.
std::string_view computeKernels(int32_t compute, int32_t numerics);

} // namespace pdlrt

#endif // PDLRT_GEMM_COMPUTE_H
