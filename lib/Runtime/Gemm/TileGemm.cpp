//===- TileGemm.cpp - Products of bf16 parts ------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Gemm/TileGemm.h"

#include "AmxPermission.h"
#include "CallArguments.h"
#include "TileKernels.h"

#include <algorithm>

using namespace pdlrt;

static const TileKernels &tileKernelsOf(TileIsa isa) {
  return isa == TileIsa::amx ? tileKernelsNative : tileKernelsEmulated;
}

bool pdlrt::isSupported(TileIsa isa) {
  if (isa == TileIsa::emulated)
    return isSupported(GemmIsa::v3);
  return isSupported(BFloat16Isa::native) && requestAmx();
}

TileIsa pdlrt::nativeTileIsa() {
  static const TileIsa isa =
      isSupported(TileIsa::amx) ? TileIsa::amx : TileIsa::emulated;
  return isa;
}

size_t pdlrt::tileScratchBytes() {
  return static_cast<size_t>(std::max(tileKernelsNative.scratchBytes,
                                      tileKernelsEmulated.scratchBytes));
}

void pdlrt::tileGemm(TileIsa isa, int parts, GemmWorkspace &workspace,
                     const GemmCall &call) {
  if (call.m <= 0 || call.n <= 0)
    return;
  const TileKernels &kernels = tileKernelsOf(isa);
  kernels.multiply(
      argumentsOfCall<float>(call), parts,
      workspace.scratch(static_cast<size_t>(kernels.scratchBytes)));
}

int64_t pdlrt::packTileFactor(int parts, const GemmCall &call, void *out) {
  return tileKernelsNative.pack(argumentsOfCall<float>(call), parts, out);
}
