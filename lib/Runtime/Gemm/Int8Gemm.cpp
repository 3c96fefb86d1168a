//===- Int8Gemm.cpp - Products with int8 weights --------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Gemm/Int8Gemm.h"

#include "AmxPermission.h"
#include "CallArguments.h"
#include "Int8KernelsImpl.h"
#include "pdlrt/Core/CpuCheck.h"
#include "pdlrt/Core/Trace.h"
#include "pdlrt/Gemm/PackedFactors.h"

using namespace pdlrt;

bool pdlrt::isSupported(Int8Isa isa) {
  switch (isa) {
  case Int8Isa::v3:
    return isSupported(GemmIsa::v3);
  case Int8Isa::vnni:
    return isSupported(GemmIsa::v4) && hasCpuFeature("avx512vnni");
  case Int8Isa::amx:
    return isSupported(GemmIsa::v4) && hasAmxInt8() && requestAmx();
  }
  return false;
}

Int8Isa pdlrt::nativeInt8Isa() {
  static const Int8Isa isa = isSupported(Int8Isa::amx)    ? Int8Isa::amx
                             : isSupported(Int8Isa::vnni) ? Int8Isa::vnni
                                                          : Int8Isa::v3;
  return isa;
}

static const Int8Kernels &int8KernelsOf(Int8Isa isa) {
  return isa == Int8Isa::amx    ? int8KernelsAmx
         : isa == Int8Isa::vnni ? int8KernelsVnni
                                : int8KernelsV3;
}

size_t pdlrt::int8ScratchBytes() { return sizeof(Int8Scratch); }

bool pdlrt::canUseInt8(const GemmCall &call) {
  constexpr int64_t minSize = 16;
  return call.type == PDL_F32 && !call.transposeA && call.n >= minSize &&
         call.k >= minSize && call.k <= maxInt8Depth;
}

int64_t pdlrt::packInt8Factor(const GemmCall &call, void *out) {
  const int64_t depth = int8RoundUp(call.k, int8TileDepth);
  const int64_t columns = int8RoundUp(call.n, int8TileSize);
  const int64_t bytes =
      columns * depth + columns * int64_t(sizeof(float) + sizeof(int32_t));
  if (!out)
    return bytes;
  std::memset(out, 0, size_t(bytes));
  auto *tiles = static_cast<int8_t *>(out);
  auto *scales = reinterpret_cast<float *>(tiles + columns * depth);
  auto *shifts = reinterpret_cast<int32_t *>(scales + columns);
  const auto *b = static_cast<const float *>(call.b);
  const int64_t step = call.transposeB ? 1 : call.strideOfB();
  const int64_t columnStep = call.transposeB ? call.strideOfB() : 1;
  for (int64_t column = 0; column < call.n; ++column) {
    int8_t line[maxInt8Depth];
    scales[column] =
        quantizeColumn(b + column * columnStep, step, call.k, depth, line);
    int8_t *to = tiles + column / int8TileSize * int8TileSize * depth +
                 column % int8TileSize * 4;
    for (int64_t p = 0; p < depth; ++p) {
      to[p / 4 * 64 + p % 4] = line[p];
      shifts[column] += 128 * line[p];
    }
  }
  return bytes;
}

void pdlrt::int8Gemm(Int8Isa isa, GemmWorkspace &workspace,
                     const GemmCall &call) {
  if (call.m <= 0)
    return;
  const Int8Kernels &kernels = int8KernelsOf(isa);
  kernels.multiply(
      argumentsOfCall<float>(call),
      workspace.scratch(static_cast<size_t>(kernels.scratchBytes)));
}

bool pdlrt::multiplyWithInt8Weights(GemmWorkspace &workspace,
                                    const GemmCall &call) {
  if (!workspace.constants->usesInt8() || !canUseInt8(call))
    return false;
  const PackedFactor *factor =
      workspace.constants->find(call, PackedFactors::int8Layout);
  if (!factor)
    return false;
  const TraceSpan span("product", {call.m, call.n, call.k});
  GemmCall quantized = call;
  quantized.packedB = factor->packed.data();
  int8Gemm(nativeInt8Isa(), workspace, quantized);
  return true;
}
