//===- Compute.cpp - Use of bf16 in products of a program -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Gemm/Compute.h"

#include "TileChoice.h"
#include "pdlabi/products.h"
#include "pdlrt/Gemm/KernelChoice.h"
#include "pdlrt/Gemm/TileGemm.h"

using namespace pdlrt;

std::string_view pdlrt::computeName(int32_t compute) {
  switch (compute) {
  case PDL_COMPUTE_BF16:
    return "bf16";
  case PDL_COMPUTE_BF16X3:
    return "bf16x3";
  case PDL_COMPUTE_BF16X6:
    return "bf16x6";
  default:
    return "f32";
  }
}

std::string_view pdlrt::computeKernels(int32_t compute, int32_t numerics) {
  const bool isFast = numerics == PDL_NUMERICS_FAST;
  if (compute == PDL_COMPUTE_ELEMENT)
    return isFast && splitsF32() ? "bf16x6 with AMX where it is faster" : "f32";
  if (emulatesBFloat16())
    return "emulated";
  if (compute != PDL_COMPUTE_BF16) {
    if (!isFast)
      return nativeTileIsa() == TileIsa::amx ? "AMX" : "emulated";
    return nativePartCpu() == PartCpu::amx ? "AMX, and f32 for small products"
                                           : "f32, because there is no AMX";
  }
  if (!isFast)
    return "vdpbf16ps, in the order of numerics strict";
  switch (nativePartCpu()) {
  case PartCpu::amx:
    return "AMX";
  case PartCpu::pairs:
    return "vdpbf16ps";
  case PartCpu::plain:
    return "f32, because bf16 is not faster on this CPU";
  }
  return "";
}
