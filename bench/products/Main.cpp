//===- Main.cpp - Measures the kernels of matrix products -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints the limits of one core and, for each shape, the throughput of each
// kernel in Gflop/s of the f32 product, by CPU time, packing included. The
// kernels take turns, so that other programs on the machine slow all of them.
//
//===----------------------------------------------------------------------===//

#include "Measure.h"

#include "pdlrt/Core/AlignedBuffer.h"
#include "pdlrt/Gemm/Int8Gemm.h"
#include "pdlrt/Gemm/KernelChoice.h"
#include "pdlrt/Gemm/TileGemm.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

using namespace pdlbench;
using namespace pdlrt;

namespace {

struct ProductShape {
  const char *name;
  bool transposeA, transposeB;
  int64_t m, n, k;
};

struct Kernel {
  const char *name;
  bool isSupported;
  std::function<void(GemmWorkspace &, const GemmCall &)> run;
  /// True if A cannot be transposed.
  bool isForInference = false;
};

/// Computes with int8 weights that are packed once, like a library.
void multiplyInt8(GemmWorkspace &workspace, const GemmCall &call) {
  static AlignedBuffer packed;
  static GemmCall last;
  if (last.b != call.b || last.n != call.n || last.k != call.k) {
    packInt8Factor(call, packed.reserve(size_t(packInt8Factor(call, nullptr))));
    last = call;
  }
  GemmCall quantized = call;
  quantized.packedB = packed.data();
  int8Gemm(nativeInt8Isa(), workspace, quantized);
}

std::vector<Kernel> kernels() {
  const bool amx = isSupported(TileIsa::amx);
  const auto tiles = [](int parts) {
    return [parts](GemmWorkspace &workspace, const GemmCall &call) {
      tileGemm(TileIsa::amx, parts, workspace, call);
    };
  };
  return {{"f32", true,
           [](GemmWorkspace &workspace, const GemmCall &call) {
             setSplitsF32(false);
             gemm(PDL_PRODUCT_FAST, workspace, call);
           }},
          {"vdpbf16ps", isSupported(BFloat16Isa::native),
           [](GemmWorkspace &workspace, const GemmCall &call) {
             bfloat16Gemm(BFloat16Isa::native, workspace, call);
           }},
          {"int8", true, multiplyInt8, true},
          {"amx bf16", amx, tiles(1)},
          {"amx x3", amx, tiles(2)},
          {"amx x6", amx, tiles(3)}};
}

/// Returns shapes of click models: layers of CTR-DNN, DLRM and DIN at several
/// batch sizes, and the small batches of serving.
std::vector<ProductShape> shapes() {
  std::vector<ProductShape> all;
  for (int64_t batch : {512, 1000, 4096})
    for (int64_t inputs : {273, 400})
      for (const ProductShape &shape :
           {ProductShape{"forward", false, false, batch, 400, inputs},
            ProductShape{"dX", false, true, batch, inputs, 400},
            ProductShape{"dW", true, false, inputs, 400, batch}})
        all.push_back(shape);
  for (const ProductShape &shape :
       {ProductShape{"forward", false, false, 2048, 64, 367},
        ProductShape{"dX", false, true, 2048, 367, 64},
        ProductShape{"dW", true, false, 367, 64, 2048},
        ProductShape{"forward", false, false, 8192, 36, 128},
        ProductShape{"dX", false, true, 8192, 128, 36},
        ProductShape{"dW", true, false, 128, 36, 8192},
        ProductShape{"forward", false, false, 1024, 16, 16},
        ProductShape{"dW", true, false, 16, 16, 1024},
        ProductShape{"forward", false, false, 512, 1024, 1024},
        ProductShape{"forward", false, false, 512, 400, 4096}})
    all.push_back(shape);
  for (int64_t batch : {1, 2, 4, 8, 16, 32, 64, 128})
    all.push_back({"forward", false, false, batch, 400, 400});
  return all;
}

void printShape(const ProductShape &shape, const std::vector<Kernel> &kernels,
                double budget) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> a(size_t(shape.m * shape.k)), b(size_t(shape.k * shape.n)),
      c(size_t(shape.m * shape.n)), bias(size_t(shape.n)),
      mask(size_t(shape.m * shape.n));
  for (std::vector<float> *values : {&a, &b, &bias, &mask})
    for (float &value : *values)
      value = uniform(random);
  const pdl_post forward[] = {{PDL_POST_BIAS, bias.data()},
                              {PDL_POST_RELU, nullptr}};
  const pdl_post gradient[] = {{PDL_POST_RELU_GRADIENT, mask.data()}};
  GemmCall call = {PDL_F32,  shape.transposeA, shape.transposeB, shape.m,
                   shape.n,  shape.k,          a.data(),         b.data(),
                   c.data(), shape.n};
  if (!shape.transposeA) {
    call.postCount = shape.transposeB ? 1 : 2;
    call.posts = shape.transposeB ? gradient : forward;
  }
  GemmWorkspace workspace;
  std::vector<double> best(kernels.size(), 1e30);
  for (int round = 0; round < 3; ++round)
    for (size_t i = 0; i < kernels.size(); ++i)
      if (kernels[i].isSupported &&
          !(kernels[i].isForInference && shape.transposeA))
        best[i] = std::min(best[i], bestSeconds(budget / 3, [&] {
                             kernels[i].run(workspace, call);
                           }));
  std::printf("%-8s %5lld x %4lld x %4lld", shape.name,
              static_cast<long long>(shape.m), static_cast<long long>(shape.n),
              static_cast<long long>(shape.k));
  const double operations = 2e-9 * double(shape.m * shape.n * shape.k);
  for (size_t i = 0; i < kernels.size(); ++i)
    std::printf("%10.0f", operations / best[i]);
  std::printf("\n");
  std::fflush(stdout);
}

} // namespace

int main(int argc, char **argv) {
  const double budget = argc > 1 ? std::atof(argv[1]) : 0.1;
  const double tiles = tilePeak();
  std::printf(
      "limits of one core, Gflop/s: FMA loop %.0f, vdpbf16ps loop %.0f, "
      "tile loop %.0f (bf16x3 %.0f, bf16x6 %.0f)\n",
      fmaPeak() * 1e-9, bfloat16Peak() * 1e-9, tiles * 1e-9, tiles * 1e-9 / 3,
      tiles * 1e-9 / 6);
  const std::vector<Kernel> all = kernels();
  std::printf("%-28s", "Gflop/s");
  for (const Kernel &kernel : all)
    std::printf("%10s", kernel.name);
  std::printf("\n");
  for (const ProductShape &shape : shapes())
    if (argc <= 2 || shape.m == std::atoi(argv[2]))
      printShape(shape, all, budget);
  return 0;
}
