//===- TileChoice.cpp - Choice of the kernels of bf16 products ------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileChoice.h"

#include "pdlrt/Gemm/TileGemm.h"

using namespace pdlrt;

namespace {

/// A row of the table: `kernels` for products of at least these sizes.
struct Row {
  PartCpu cpu;
  int parts;
  int64_t m, n, k;
  PartKernels kernels;
};

/// The first row that fits decides. From `pdl-bench-products`
/// (bench/records/training.md): AMX on a Xeon of the Sapphire Rapids
/// generation; pairs on EPYC of the Zen 4 generation. On that Xeon without AMX,
/// `vdpbf16ps` and the rounding of factors for f32 kernels are both slower than
/// f32, so no row chooses them.
///
/// bf16 uses AMX for all sizes, so that results do not depend on the size of
/// the batch. Below eight rows, packing B makes it slower than f32.
constexpr Row rows[] = {
    {PartCpu::amx, 1, 0, 0, 0, PartKernels::tiles},
    {PartCpu::amx, 2, 32, 32, 64, PartKernels::tiles},
    {PartCpu::amx, 3, 128, 128, 192, PartKernels::tiles},
    {PartCpu::pairs, 1, 0, 0, 0, PartKernels::pairs},
};

} // namespace

PartCpu pdlrt::nativePartCpu() {
  static const PartCpu cpu =
      isSupported(TileIsa::amx) ? PartCpu::amx
      : isSupported(BFloat16Isa::native) && __builtin_cpu_is("intel") == 0
          ? PartCpu::pairs
          : PartCpu::plain;
  return cpu;
}

PartKernels pdlrt::choosePartKernels(PartCpu cpu, int parts,
                                     const GemmCall &call) {
  for (const Row &row : rows)
    if (row.cpu == cpu && row.parts == parts && call.m >= row.m &&
        call.n >= row.n && call.k >= row.k)
      return row.kernels;
  return PartKernels::f32;
}
