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

/// Products of at least these sizes.
struct Row {
  PartCpu cpu;
  int parts;
  int64_t m, n, k;
  PartKernels kernels;
};

/// The first row that fits decides. From `pdl-bench-products`
/// (bench/records/training.md): AMX on a Xeon of the Sapphire Rapids
/// generation; pairs on EPYC of the Zen 4 generation. Intel without AMX was
/// measured on that Xeon, with AMX left out.
///
/// bf16 uses AMX for all sizes, so that results do not depend on the size of
/// the batch. Below eight rows, packing B makes it slower than f32.
constexpr Row rows[] = {
    {PartCpu::amx, 1, 0, 0, 0, PartKernels::tiles},
    {PartCpu::amx, 2, 32, 32, 64, PartKernels::tiles},
    {PartCpu::amx, 3, 128, 96, 64, PartKernels::tiles},
    {PartCpu::intel, 1, 0, 0, 0, PartKernels::roundedF32},
    {PartCpu::other, 1, 0, 0, 0, PartKernels::pairs},
};

} // namespace

PartCpu pdlrt::nativePartCpu() {
  static const PartCpu cpu = isSupported(TileIsa::amx)        ? PartCpu::amx
                             : __builtin_cpu_is("intel") != 0 ? PartCpu::intel
                                                              : PartCpu::other;
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
