//===- Gemm.cpp - Matrix products and their backends ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Gemm/Gemm.h"

#include "BFloat16Kernels.h"
#include "CallArguments.h"
#include "PartGemm.h"
#include "Slices.h"
#include "StrictKernels.h"
#include "pdlabi/products.h"
#include "pdlrt/Core/CpuCheck.h"
#include "pdlrt/Core/Trace.h"
#include "pdlrt/Gemm/Int8Gemm.h"
#include "pdlrt/Gemm/KernelChoice.h"
#include "pdlrt/Gemm/PackedFactors.h"
#include "pdlrt/Gemm/TileGemm.h"
#include "pdlrt/Sched/Scheduler.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <new>
#include <utility>

using namespace pdlrt;

/// Registers the oneDNN backend. Null in programs that are linked without the
/// archive PDLRuntimeOneDNN; the linker option
/// `--undefined=pdlrt_register_onednn` includes it.
extern "C" [[gnu::weak]] void pdlrt_register_onednn();

namespace {

std::atomic<FastGemm> fastBackend = nullptr;
std::atomic<bool> isBFloat16Emulated = false;

FastGemm fastGemm() {
  static const bool registered = [] {
    if (pdlrt_register_onednn && !fastBackend.load())
      pdlrt_register_onednn();
    return true;
  }();
  static_cast<void>(registered);
  return fastBackend.load(std::memory_order_relaxed);
}

template <typename T> StrictArguments<T> argumentsOf(const GemmCall &call) {
  StrictArguments<T> arguments = argumentsOfCall<T>(call);
  arguments.skipsZeros = call.isFiniteB;
  const bool isBPlain = call.strideOfB() == (call.transposeB ? call.k : 1);
  if (call.n == 1 && call.m > 1 && call.cStride == 1 && isBPlain &&
      !call.packedB) {
    // One column is computed as one row, C^T = B^T A^T, so that vectors run
    // along m.
    arguments.a = static_cast<const T *>(call.b);
    arguments.b = static_cast<const T *>(call.a);
    arguments.transposeA = false;
    arguments.transposeB = !call.transposeA;
    arguments.aStride = call.k;
    arguments.bStride = call.strideOfA();
    arguments.m = 1;
    arguments.n = arguments.cStride = call.m;
    arguments.biasStride = 0;
  }
  return arguments;
}

} // namespace

void pdlrt::openFastGemm() { fastGemm(); }

GemmWorkspace::GemmWorkspace() {
  memory.reserve(static_cast<size_t>(std::max(
      {strictKernelsV3.scratchBytes, strictKernelsV4.scratchBytes,
       strictKernelsV4Prefetching.scratchBytes,
       bfloat16KernelsNative.scratchBytes, bfloat16KernelsEmulated.scratchBytes,
       static_cast<int64_t>(tileScratchBytes()),
       static_cast<int64_t>(int8ScratchBytes())})));
}

bool GemmWorkspace::reserveParts(size_t count) {
  const MutexLock lock(mutex);
  try {
    while (parts.size() < count)
      parts.push_back(std::make_unique<GemmWorkspace>());
    return true;
  } catch (const std::bad_alloc &) {
    return false;
  }
}

std::unique_ptr<GemmWorkspace> GemmWorkspace::takePart() {
  const MutexLock lock(mutex);
  std::unique_ptr<GemmWorkspace> part = std::move(parts.back());
  parts.pop_back();
  return part;
}

void GemmWorkspace::givePart(std::unique_ptr<GemmWorkspace> part) {
  const MutexLock lock(mutex);
  parts.push_back(std::move(part));
}

bool pdlrt::isSupported(GemmIsa isa) {
  const bool v3 =
      hasCpuFeature("avx2") && hasCpuFeature("fma") && hasCpuFeature("bmi2");
  if (isa == GemmIsa::v3)
    return v3;
  return v3 && hasCpuFeature("avx512f") && hasCpuFeature("avx512bw") &&
         hasCpuFeature("avx512cd") && hasCpuFeature("avx512dq") &&
         hasCpuFeature("avx512vl");
}

GemmIsa pdlrt::nativeGemmIsa() {
  static const GemmIsa isa =
      isSupported(GemmIsa::v4) ? GemmIsa::v4 : GemmIsa::v3;
  return isa;
}

static const StrictKernels &kernelsOf(GemmIsa isa) {
  if (isa == GemmIsa::v3)
    return strictKernelsV3;
  return usesPrefetching() ? strictKernelsV4Prefetching : strictKernelsV4;
}

void pdlrt::strictGemm(GemmIsa isa, GemmWorkspace &workspace,
                       const GemmCall &call) {
  if (call.m <= 0 || call.n <= 0)
    return;
  const StrictKernels &kernels = kernelsOf(isa);
  void *scratch = workspace.scratch(static_cast<size_t>(kernels.scratchBytes));
  if (call.type == PDL_F64)
    kernels.f64(argumentsOf<double>(call), scratch);
  else
    kernels.f32(argumentsOf<float>(call), scratch);
}

int64_t pdlrt::packStrictFactor(GemmIsa isa, const GemmCall &call, void *out) {
  const StrictKernels &kernels = kernelsOf(isa);
  GemmCall factor = call;
  // A column would be computed as a row.
  factor.m = 1;
  return call.type == PDL_F64 ? kernels.packF64(argumentsOf<double>(factor),
                                                static_cast<double *>(out))
                              : kernels.packF32(argumentsOf<float>(factor),
                                                static_cast<float *>(out));
}

template <typename T>
static StrictBatch<T> batchOf(GemmCall call, int64_t begin, int64_t end) {
  call.a = static_cast<const T *>(call.a) + begin * call.m * call.k;
  call.b = static_cast<const T *>(call.b) + begin * call.k * call.n;
  call.c = static_cast<T *>(call.c) + begin * call.m * call.n;
  StrictBatch<T> batch = {argumentsOf<T>(call), end - begin};
  return batch;
}

void pdlrt::strictBatchGemm(GemmIsa isa, GemmWorkspace &workspace,
                            const GemmCall &call, int64_t count) {
  if (call.m <= 0 || call.n <= 0)
    return;
  const TraceSpan span("products", {count * call.m, call.n, call.k});
  const StrictKernels &kernels = kernelsOf(isa);
  auto multiplyRange = [&](GemmWorkspace &own, int64_t begin, int64_t end) {
    void *scratch = own.scratch(static_cast<size_t>(kernels.scratchBytes));
    if (call.type == PDL_F64)
      kernels.batchF64(batchOf<double>(call, begin, end), scratch);
    else
      kernels.batchF32(batchOf<float>(call, begin, end), scratch);
  };
  // Computing an element costs about as much as accessing k / 16 elements.
  const int64_t accesses = call.k / 16 + 3;
  const int64_t ranges =
      rangesFor(count, 4.0 * static_cast<double>(call.m * call.n * accesses) *
                           static_cast<double>(count));
  if (ranges == 1 || !workspace.reserveParts(size_t(parallelWidth())))
    return multiplyRange(workspace, 0, count);
  parallelFor(ranges, [&](int64_t range) {
    GemmWorkspace::Part part(workspace);
    multiplyRange(*part, count * range / ranges, count * (range + 1) / ranges);
  });
}

bool pdlrt::isSupported(BFloat16Isa isa) {
  return isa == BFloat16Isa::emulated
             ? isSupported(GemmIsa::v3)
             : isSupported(GemmIsa::v4) && hasCpuFeature("avx512bf16");
}

BFloat16Isa pdlrt::bfloat16Isa() {
  static const bool hasNative = isSupported(BFloat16Isa::native);
  return hasNative && !isBFloat16Emulated.load(std::memory_order_relaxed)
             ? BFloat16Isa::native
             : BFloat16Isa::emulated;
}

void pdlrt::emulateBFloat16() { isBFloat16Emulated = true; }

bool pdlrt::emulatesBFloat16() {
  return isBFloat16Emulated.load(std::memory_order_relaxed);
}

void pdlrt::bfloat16Gemm(BFloat16Isa isa, GemmWorkspace &workspace,
                         const GemmCall &call) {
  if (call.m <= 0 || call.n <= 0)
    return;
  const BFloat16Kernels &kernels = isa == BFloat16Isa::native
                                       ? bfloat16KernelsNative
                                       : bfloat16KernelsEmulated;
  kernels.multiply(
      argumentsOf<float>(call),
      workspace.scratch(static_cast<size_t>(kernels.scratchBytes)));
}

void pdlrt::registerFastGemm(FastGemm backend) { fastBackend = backend; }

/// Computes on the calling thread.
static void runProduct(int32_t product, FastGemm fast, GemmWorkspace &workspace,
                       const GemmCall &call) {
  const TraceSpan span("product", {call.m, call.n, call.k});
  if (product == PDL_PRODUCT_BF16)
    bfloat16Gemm(bfloat16Isa(), workspace, call);
  else if (!fast || !fast(workspace, call))
    strictGemm(nativeGemmIsa(), workspace, call);
}

void pdlrt::gemm(int32_t product, GemmWorkspace &workspace,
                 const GemmCall &call) {
  if (workspace.constants && multiplyWithInt8Weights(workspace, call))
    return;
  if (product > PDL_PRODUCT_BF16)
    return partGemm(product, workspace, call);
  if (product == PDL_PRODUCT_FAST && prefersParts(workspace, call))
    return partGemm(PDL_PRODUCT_BF16X6_FAST, workspace, call);
  multiply(product, workspace, call);
}

void pdlrt::multiply(int32_t product, GemmWorkspace &workspace,
                     const GemmCall &call) {
  if (workspace.constants && product != PDL_PRODUCT_BF16)
    if (const PackedFactor *found = workspace.constants->find(call)) {
      const TraceSpan span("product", {call.m, call.n, call.k});
      GemmCall direct = call;
      direct.packedB = found->packed.data();
      direct.isFiniteB = found->isFinite;
      return strictGemm(nativeGemmIsa(), workspace, direct);
    }
  const int width = parallelWidth();
  const FastGemm fast = product == PDL_PRODUCT_FAST && call.type == PDL_F32 &&
                                !prefersOwnKernels(call)
                            ? fastGemm()
                            : nullptr;
  // The result of a fast product may depend on how it is split, so the split
  // must not depend on the available threads. Other products do not depend on
  // it, but pack operands for each slice, so they use as many slices as
  // threads.
  const GemmSlices slices = slicesOf(
      call, fast ? std::numeric_limits<int32_t>::max() : int64_t(width));
  if (slices.count == 1)
    return runProduct(product, fast, workspace, call);
  auto multiplySlice = [&](GemmWorkspace &own, int64_t index) {
    std::array<pdl_post, maxSlicedPosts> posts;
    runProduct(product, fast, own, sliceOf(call, slices, index, posts));
  };
  if (width == 1 || !workspace.reserveParts(size_t(width))) {
    for (int64_t index = 0; index < slices.count; ++index)
      multiplySlice(workspace, index);
    return;
  }
  parallelFor(slices.count, [&](int64_t index) {
    GemmWorkspace::Part part(workspace);
    multiplySlice(*part, index);
  });
}
