//===- Main.cpp - Measures the handwritten step ---------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each step uses one of a few batches that were used before, so that the table
// does not grow during the measurement.
//
//===----------------------------------------------------------------------===//

#include "CtrDnn.h"
#include "Measure.h"

#include <cstdio>
#include <string_view>

using namespace pdlbench;

namespace {

/// Returns false if training does not reduce the loss.
bool run(int32_t numerics, int64_t batchSize, double peak) {
  std::mt19937_64 random(7);
  std::vector<Batch> batches;
  for (int i = 0; i < 16; ++i)
    batches.push_back(makeBatch(batchSize, random));
  HandwrittenTrainer trainer(numerics, batchSize);
  Times warmUp;
  double firstLoss = 0, lastLoss = 0;
  for (const Batch &batch : batches)
    firstLoss += trainer.step(batch, warmUp);
  // The fastest of a few passes over all batches.
  Times best;
  double bestTotal = 1e30, unique = 0;
  for (int pass = 0; pass < 6; ++pass) {
    Times times;
    lastLoss = unique = 0;
    for (const Batch &batch : batches) {
      lastLoss += trainer.step(batch, times);
      unique += trainer.uniqueKeys();
    }
    if (times.total() < bestTotal) {
      bestTotal = times.total();
      best = times;
    }
  }
  const double count = static_cast<double>(batches.size());
  const double samples = count * static_cast<double>(batchSize);
  const double limit = peak / operationsInSample();
  const double rate = samples / bestTotal;
  const auto milliseconds = [&](double seconds) {
    return 1e3 * seconds / count;
  };
  std::printf("%-6s %5lld %9.0f %7.1f %% %7.3f %7.3f %8.3f %7.3f %7.3f   "
              "%.0f keys a batch, loss %.3f to %.3f\n",
              numerics == PDL_NUMERICS_STRICT ? "strict" : "fast",
              static_cast<long long>(batchSize), rate, 100 * rate / limit,
              milliseconds(best.lookup), milliseconds(best.forward),
              milliseconds(best.backward), milliseconds(best.sparse),
              milliseconds(best.dense), unique / count, firstLoss / count,
              lastLoss / count);
  std::fflush(stdout);
  return lastLoss < firstLoss;
}

} // namespace

int main(int argc, char **argv) {
  const double peak = fmaPeak();
  const double peakOfPairs = bfloat16Peak();
  std::printf("FMA loop: %.1f Gflop/s on one core\n", peak * 1e-9);
  if (peakOfPairs > 0)
    std::printf("the same of bf16 pairs: %.1f Gflop/s\n", peakOfPairs * 1e-9);
  if (const double tiles = tilePeak(); tiles > 0)
    std::printf("the same of bf16 tiles: %.1f Gflop/s\n", tiles * 1e-9);
  if (argc > 1)
    return std::string_view(argv[1]) == "--peak" ? 0 : 2;
  std::printf("\nStep, one thread. Limit: the FMA loop doing the products "
              "alone.\n%-6s %5s %9s %9s %7s %7s %8s %7s %7s   (ms a batch)\n",
              "gemm", "batch", "samples/s", "of limit", "lookup", "forward",
              "backward", "sparse", "dense");
  bool learns = true;
  for (int64_t batchSize : {512, 1000}) {
    learns &= run(PDL_NUMERICS_STRICT, batchSize, peak);
#ifdef PDL_HAVE_ONEDNN
    learns &= run(PDL_NUMERICS_FAST, batchSize, peak);
#endif
  }
  printGemmTable(peak, peakOfPairs);
  if (!learns) {
    std::fprintf(stderr, "error: the loss did not fall\n");
    return 1;
  }
  return 0;
}
