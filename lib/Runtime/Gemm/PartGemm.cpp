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
#include "pdlrt/Core/AlignedVector.h"
#include "pdlrt/Core/Trace.h"
#include "pdlrt/Gemm/PackedFactors.h"
#include "pdlrt/Gemm/TileGemm.h"
#include "pdlrt/Sched/Scheduler.h"

#include <algorithm>
#include <array>
#include <bit>
#include <new>

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

/// Copies a factor without gaps between its rows, rounded to bf16.
static void roundFactor(const void *factor, int64_t rows, int64_t columns,
                        int64_t stride, AlignedVector<float> &rounded) {
  rounded.resize(size_t(rows * columns));
  float *to = rounded.data();
  const auto *from = static_cast<const float *>(factor);
  for (int64_t row = 0; row < rows; ++row, from += stride, to += columns)
    for (int64_t column = 0; column < columns; ++column) {
      const auto bits = std::bit_cast<uint32_t>(from[column]);
      const uint32_t magnitude = bits & 0x7fffffff;
      const uint32_t nearest = bits + 0x7fff + (bits >> 16 & 1);
      const uint32_t kept = magnitude > 0x7f800000   ? bits | 0x00400000
                            : magnitude < 0x00800000 ? bits & 0x80000000
                                                     : nearest;
      to[column] = std::bit_cast<float>(kept & 0xffff0000);
    }
}

void pdlrt::roundedF32Gemm(GemmWorkspace &workspace, const GemmCall &call) {
  // The workspace belongs to the kernels. These grow to the largest product of
  // the thread.
  thread_local AlignedVector<float> a, b;
  try {
    roundFactor(call.a, call.transposeA ? call.k : call.m,
                call.transposeA ? call.m : call.k, call.strideOfA(), a);
    roundFactor(call.b, call.transposeB ? call.n : call.k,
                call.transposeB ? call.k : call.n, call.strideOfB(), b);
  } catch (const std::bad_alloc &) {
    return multiply(PDL_PRODUCT_BF16, workspace, call);
  }
  GemmCall rounded = call;
  rounded.a = a.data();
  rounded.b = b.data();
  rounded.aStride = rounded.bStride = 0;
  multiply(PDL_PRODUCT_FAST, workspace, rounded);
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
  // What is emulated has the fixed order.
  if (parts == 1 && bfloat16Isa() == BFloat16Isa::emulated)
    return multiply(PDL_PRODUCT_BF16, workspace, call);
  if (!isFast(product) || emulatesBFloat16())
    return multiplyTiles(parts, workspace, call);
  switch (choosePartKernels(nativePartCpu(), parts, call)) {
  case PartKernels::f32:
    return multiply(PDL_PRODUCT_FAST, workspace, call);
  case PartKernels::roundedF32:
    return roundedF32Gemm(workspace, call);
  case PartKernels::pairs:
    return multiply(PDL_PRODUCT_BF16, workspace, call);
  case PartKernels::tiles:
    return multiplyTiles(parts, workspace, call);
  }
}
