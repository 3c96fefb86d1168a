//===- PartGemm.cpp - Products of compiled programs with bf16 parts -------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PartGemm.h"

#include "Slices.h"
#include "TileChoice.h"
#include "pdlabi/products.h"
#include "pdlrt/Core/Trace.h"
#include "pdlrt/Gemm/PackedFactors.h"
#include "pdlrt/Gemm/TileGemm.h"
#include "pdlrt/Sched/Scheduler.h"

#include <algorithm>
#include <array>

using namespace pdlrt;

/// Minimum work of a slice, compared to which packing the other operand again
/// is negligible.
static constexpr double flopsOfTileSlice = 150e6;

/// Kernels for tiles in this process.
static TileIsa tileIsa() {
  return emulatesBFloat16() ? TileIsa::emulated : nativeTileIsa();
}

/// Computes with tiles. The threads of the caller's task share the work, which
/// changes no bit.
static void multiplyTiles(int parts, GemmWorkspace &workspace,
                          const GemmCall &call) {
  const TileIsa isa = tileIsa();
  GemmCall whole = call;
  if (workspace.constants && isa == TileIsa::amx)
    if (const PackedFactor *found = workspace.constants->find(call, parts))
      whole.packedB = found->packed.data();
  const auto multiplyPart = [&](GemmWorkspace &own, const GemmCall &part) {
    const TraceSpan span("product", {part.m, part.n, part.k});
    tileGemm(isa, parts, own, part);
  };
  const double flops = 2.0 * double(call.m) * double(call.n) * double(call.k);
  const int width = parallelWidth();
  const GemmSlices slices = slicesOf(
      call, std::min<int64_t>(width, int64_t(flops / flopsOfTileSlice)));
  // A slice of columns would need a slice of the packed factor.
  if (slices.count == 1 || (whole.packedB && slices.byColumns) ||
      !workspace.reserveParts(size_t(width)))
    return multiplyPart(workspace, whole);
  parallelFor(slices.count, [&](int64_t index) {
    GemmWorkspace::Part part(workspace);
    std::array<pdl_post, maxSlicedPosts> posts;
    multiplyPart(*part, sliceOf(whole, slices, index, posts));
  });
}

static int partsOf(int32_t product) {
  switch (product) {
  case PDL_PRODUCT_BF16X3:
  case PDL_PRODUCT_BF16X3_FAST:
    return 2;
  case PDL_PRODUCT_BF16X6:
  case PDL_PRODUCT_BF16X6_FAST:
    return 3;
  default:
    return 1;
  }
}

static bool isFast(int32_t product) {
  return product == PDL_PRODUCT_BF16_FAST ||
         product == PDL_PRODUCT_BF16X3_FAST ||
         product == PDL_PRODUCT_BF16X6_FAST;
}

void pdlrt::partGemm(int32_t product, GemmWorkspace &workspace,
                     const GemmCall &call) {
  const int parts = partsOf(product);
  // The emulation has the fixed order.
  if (emulatesBFloat16() && parts == 1)
    return multiply(PDL_PRODUCT_BF16, workspace, call);
  if (emulatesBFloat16() || !isFast(product))
    return multiplyTiles(parts, workspace, call);
  switch (choosePartKernels(nativePartCpu(), parts, call)) {
  case PartKernels::f32:
    return multiply(PDL_PRODUCT_FAST, workspace, call);
  case PartKernels::pairs:
    return multiply(PDL_PRODUCT_BF16, workspace, call);
  case PartKernels::tiles:
    return multiplyTiles(parts, workspace, call);
  }
}
