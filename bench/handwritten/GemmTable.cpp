//===- GemmTable.cpp - Matrix products of click models --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Measure.h"

#include "pdlrt/Abi/Worker.h"
#include "pdlrt/Gemm/Gemm.h"
#include "pdlrt/Gemm/KernelChoice.h"

#include <cstdio>
#include <random>
#include <string>
#include <vector>

using namespace pdlbench;
using namespace pdlrt;

namespace {

struct Row {
  const char *name;
  bool transposeA, transposeB;
  int64_t m, n, k;
};

std::vector<float> randomValues(int64_t count) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(static_cast<size_t>(count));
  for (float &value : values)
    value = uniform(random);
  return values;
}

void printRow(const Row &row, double peak, double bfloat16Peak) {
  const std::vector<float> a = randomValues(row.m * row.k);
  const std::vector<float> b = randomValues(row.k * row.n);
  const std::vector<float> bias = randomValues(row.n);
  std::vector<float> c(static_cast<size_t>(row.m * row.n));
  const pdl_post posts[] = {{PDL_POST_BIAS, bias.data()},
                            {PDL_POST_RELU, nullptr}};
  const bool forward = !row.transposeA && !row.transposeB;
  const GemmCall call = {PDL_F32,  row.transposeA, row.transposeB,  row.m,
                         row.n,    row.k,          a.data(),        b.data(),
                         c.data(), row.n,          forward ? 2 : 0, posts};
  const double operations = 2.0 * static_cast<double>(row.m * row.n * row.k);
  Worker worker;
  const auto percent = [&](double seconds) {
    return 100 * operations / seconds / peak;
  };
  std::printf("%-8s %5lld x %4lld x %4lld", row.name,
              static_cast<long long>(row.m), static_cast<long long>(row.n),
              static_cast<long long>(row.k));
  const auto printStrict = [&](GemmIsa isa) {
    if (!isSupported(isa)) {
      std::printf("%11s", "-");
      return;
    }
    const double seconds = bestSeconds(
        0.1, [&] { strictGemm(isa, worker.gemmWorkspace(), call); });
    std::printf("%9.1f %%", percent(seconds));
  };
  printStrict(GemmIsa::v3);
  const bool usesPrefetchingHere = usesPrefetching();
  for (const bool isOn : {false, true}) {
    setPrefetching(isOn);
    printStrict(GemmIsa::v4);
  }
  setPrefetching(usesPrefetchingHere);
#ifdef PDL_HAVE_ONEDNN
  const double fast = bestSeconds(0.1, [&] {
    pdlrt_gemm(&worker, call.type, PDL_NUMERICS_FAST, call.transposeA,
               call.transposeB, call.m, call.n, call.k, call.a, call.b, call.c,
               call.cStride, call.postCount, call.posts);
  });
  std::printf("%9.1f %%", percent(fast));
#endif
  if (bfloat16Peak > 0) {
    const double rounded = bestSeconds(0.1, [&] {
      bfloat16Gemm(BFloat16Isa::native, worker.gemmWorkspace(), call);
    });
    std::printf("%9.1f %%", 100 * operations / rounded / bfloat16Peak);
  }
  std::printf("\n");
}

} // namespace

void pdlbench::printGemmTable(double peak, double bfloat16Peak) {
  std::printf("\nProducts, %% of the FMA loop      strict v3  strict v4  "
              "prefetching%s%s\n",
#ifdef PDL_HAVE_ONEDNN
              "     fast",
#else
              "",
#endif
              bfloat16Peak > 0 ? "       bf16, % of its own loop" : "");
  auto print = [&](const Row &row) { printRow(row, peak, bfloat16Peak); };
  for (int64_t batch : {512, 1000, 4096})
    for (const Row &row : {Row{"forward", false, false, batch, 400, 273},
                           Row{"forward", false, false, batch, 400, 400},
                           Row{"forward", false, false, batch, 1, 400},
                           Row{"dX", false, true, batch, 273, 400},
                           Row{"dX", false, true, batch, 400, 400},
                           Row{"dW", true, false, 273, 400, batch},
                           Row{"dW", true, false, 400, 400, batch},
                           Row{"dW", true, false, 400, 1, batch}})
      print(row);
  // The widest layers of DLRM and of DIN, whose rows are items of a history.
  for (const Row &row : {Row{"forward", false, false, 2048, 64, 367},
                         Row{"dX", false, true, 2048, 367, 64},
                         Row{"dW", true, false, 367, 64, 2048},
                         Row{"forward", false, false, 8192, 36, 128},
                         Row{"dX", false, true, 8192, 128, 36},
                         Row{"dW", true, false, 128, 36, 8192},
                         Row{"forward", false, false, 1, 400, 400},
                         Row{"forward", false, false, 32, 400, 400},
                         Row{"forward", false, false, 512, 1024, 2600},
                         Row{"forward", false, false, 512, 400, 4096}})
    print(row);
}
