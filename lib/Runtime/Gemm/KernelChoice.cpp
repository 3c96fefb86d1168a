//===- KernelChoice.cpp - The kernels of each type of CPU -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Gemm/KernelChoice.h"

#include "TileChoice.h"
#include "pdlrt/Core/CpuCheck.h"

#include <atomic>

using namespace pdlrt;

/// Returns true for Xeons from the Sapphire Rapids generation on. Hypervisors
/// change the model number, so a feature identifies them.
static bool isRecentXeon() {
  static const bool isRecent =
      __builtin_cpu_is("intel") != 0 && hasCpuFeature("avx512fp16");
  return isRecent;
}

static std::atomic<bool> &prefetching() {
  static std::atomic<bool> isOn = isRecentXeon();
  return isOn;
}

bool pdlrt::usesPrefetching() {
  return prefetching().load(std::memory_order_relaxed);
}

void pdlrt::setPrefetching(bool isOn) { prefetching() = isOn; }

bool pdlrt::prefersOwnKernels(const GemmCall &call) {
  // Without prefetching, the fast backend is faster.
  if (!usesPrefetching() || call.type != PDL_F32)
    return false;
  // Packing B pays off for enough rows, and tiles are whole for enough columns.
  constexpr int64_t minSize = 256, minDepth = 64;
  if (call.m < minSize || call.n < minSize || call.k < minDepth)
    return false;
  if (!call.transposeA)
    return true;
  // A transposed A is packed again for each 480 columns of C, so only small
  // products use the own kernels.
  constexpr int64_t maxSize = 480;
  return !call.transposeB && call.m <= maxSize && call.n <= maxSize;
}

static std::atomic<bool> isSplittingOn = true;

void pdlrt::setSplitsF32(bool isOn) { isSplittingOn = isOn; }

bool pdlrt::splitsF32() {
  return isSplittingOn.load(std::memory_order_relaxed) &&
         nativePartCpu() == PartCpu::amx;
}

bool pdlrt::prefersParts(const GemmWorkspace &workspace, const GemmCall &call) {
  constexpr int parts = 3;
  return !workspace.constants && call.type == PDL_F32 && !emulatesBFloat16() &&
         splitsF32() &&
         choosePartKernels(PartCpu::amx, parts, call) == PartKernels::tiles;
}
