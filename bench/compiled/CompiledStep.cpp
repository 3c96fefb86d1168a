//===- CompiledStep.cpp - Compares compiled and handwritten steps ---------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the engine of a trainer with batches in memory; nothing is read or
// parsed. The compiled programs and the handwritten step alternate on the same
// batches, so that other load of the machine affects all of them equally.
//
//===----------------------------------------------------------------------===//

#include "CtrDnn.h"
#include "Measure.h"

#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Engine/Engine.h"

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

using namespace pdlbench;
using namespace pdlrt;

extern "C" {
const pdl_descriptor *ctr_dnn_strict_query(uint32_t version);
const pdl_descriptor *ctr_dnn_strict_plain_query(uint32_t version);
const pdl_descriptor *ctr_dnn_fast_query(uint32_t version);
const pdl_descriptor *ctr_dnn_fast_plain_query(uint32_t version);
}

namespace {

using Query = const pdl_descriptor *(*)(uint32_t version);

/// Ends the program with the error message if a call failed.
template <typename Result> auto orFail(Expected<Result> result) {
  if (!result) {
    std::fprintf(stderr, "error: %s\n", result.status().message().c_str());
    std::exit(1);
  }
  return std::move(*result);
}

/// One replica of a compiled program.
class CompiledTrainer {
public:
  explicit CompiledTrainer(Query query)
      : descriptor(*orFail(loadDescriptor(query))), scheduler(1),
        model(descriptor, /*seed=*/1),
        engine(Engine::createLocal(model, *findProgram(descriptor, "train"),
                                   ReplicaLayout::local(1, 1), scheduler)) {}

  /// Runs one step and returns the mean loss.
  double step(const pdlbench::Batch &batch) {
    const auto size = static_cast<int64_t>(batch.labels.size());
    for (auto i = static_cast<int64_t>(splits.size()); i <= size * slots; ++i)
      splits.push_back(static_cast<int32_t>(i));
    const auto field = [](const auto &values, const int32_t *fieldSplits) {
      using Element = typename std::decay_t<decltype(values)>::value_type;
      return pdl_field_data{const_cast<Element *>(values.data()), fieldSplits,
                            static_cast<int64_t>(values.size())};
    };
    const pdl_field_data fields[] = {field(batch.labels, nullptr),
                                     field(batch.dense, nullptr),
                                     field(batch.ids, splits.data())};
    StepInput input;
    input.fields = fields;
    input.samples = size;
    input.file = "memory";
    const StepResult result = orFail(engine->step({&input, 1}));
    return result.lossSum / result.weightSum;
  }

private:
  const pdl_descriptor &descriptor;
  Scheduler scheduler;
  Model model;
  std::unique_ptr<Engine> engine;
  std::vector<int32_t> splits;
};

/// An implementation of the step, and its best time.
struct Contender {
  std::string name;
  std::function<double(const pdlbench::Batch &)> step;
  double bestSeconds = 1e30;
  double firstLoss = 0, lastLoss = 0;

  /// Runs one step on each batch and returns the mean loss.
  double pass(const std::vector<pdlbench::Batch> &batches) {
    double loss = 0;
    const double start = threadSeconds();
    for (const pdlbench::Batch &batch : batches)
      loss += step(batch);
    bestSeconds = std::min(bestSeconds, threadSeconds() - start);
    return loss / static_cast<double>(batches.size());
  }
};

Contender compiled(const char *name, Query query) {
  auto trainer = std::make_shared<CompiledTrainer>(query);
  return {name, [trainer](const pdlbench::Batch &batch) {
            return trainer->step(batch);
          }};
}

Contender handwritten(int32_t numerics, int64_t batchSize) {
  auto trainer = std::make_shared<HandwrittenTrainer>(numerics, batchSize);
  auto times = std::make_shared<Times>();
  return {"by hand", [trainer, times](const pdlbench::Batch &batch) {
            return trainer->step(batch, *times);
          }};
}

/// Contenders with the same numerics, on batches of one size. The others are
/// compared with the first one.
struct Comparison {
  std::string numerics;
  int64_t batchSize;
  std::function<std::vector<Contender>()> makeContenders;
};

std::vector<Comparison> comparisons() {
  std::vector<Comparison> all;
  for (int64_t batchSize : {512, 1000}) {
    all.push_back(
        {"strict", batchSize, [batchSize]() -> std::vector<Contender> {
           return {
               handwritten(PDL_NUMERICS_STRICT, batchSize),
               compiled("compiled, no decay, clip", ctr_dnn_strict_plain_query),
               compiled("compiled", ctr_dnn_strict_query)};
         }});
#ifdef PDL_HAVE_ONEDNN
    all.push_back({"fast", batchSize, [batchSize]() -> std::vector<Contender> {
                     return {handwritten(PDL_NUMERICS_FAST, batchSize),
                             compiled("compiled, no decay, clip",
                                      ctr_dnn_fast_plain_query),
                             compiled("compiled", ctr_dnn_fast_query)};
                   }});
#endif
  }
  return all;
}

std::vector<pdlbench::Batch> makeBatches(int64_t batchSize) {
  std::mt19937_64 random(7);
  std::vector<pdlbench::Batch> batches;
  for (int i = 0; i < 16; ++i)
    batches.push_back(makeBatch(batchSize, random));
  return batches;
}

/// Returns false if a contender does not learn.
bool compare(const Comparison &comparison, int passes, double limit) {
  const auto batches = makeBatches(comparison.batchSize);
  std::vector<Contender> contenders = comparison.makeContenders();
  for (Contender &contender : contenders) {
    contender.firstLoss = contender.pass(batches);
    contender.bestSeconds = 1e30; // The first pass filled the table.
  }
  for (int pass = 0; pass < passes; ++pass)
    for (Contender &contender : contenders)
      contender.lastLoss = contender.pass(batches);
  bool learn = true;
  for (const Contender &contender : contenders) {
    const double samples = static_cast<double>(batches.size()) *
                           static_cast<double>(comparison.batchSize);
    const double rate = samples / contender.bestSeconds;
    std::printf("%-6s %5lld  %-25s %9.0f %8.1f %% %9.3f   %.3f to %.3f\n",
                comparison.numerics.c_str(),
                static_cast<long long>(comparison.batchSize),
                contender.name.c_str(), rate, 100 * rate / limit,
                contenders.front().bestSeconds / contender.bestSeconds,
                contender.firstLoss, contender.lastLoss);
    learn &= contender.lastLoss < contender.firstLoss;
  }
  std::fflush(stdout);
  return learn;
}

/// Runs single steps for bench/compare_builds.py. First prints a marker of this
/// mode, the names of all contenders, one per line, and an empty line. Then
/// repeatedly reads the number of a contender, runs one step of it, and prints
/// the step's CPU time in seconds.
int takeTurns() {
  struct Turn {
    Contender contender;
    const std::vector<pdlbench::Batch> *batches;
    size_t next;
  };
  std::map<int64_t, std::vector<pdlbench::Batch>> batches;
  std::vector<Turn> turns;
  std::printf("contenders\n");
  for (const Comparison &comparison : comparisons()) {
    auto &own = batches[comparison.batchSize];
    if (own.empty())
      own = makeBatches(comparison.batchSize);
    for (Contender &contender : comparison.makeContenders()) {
      std::printf("%s %lld, %s\n", comparison.numerics.c_str(),
                  static_cast<long long>(comparison.batchSize),
                  contender.name.c_str());
      contender.pass(own); // Fills the table.
      turns.push_back({std::move(contender), &own, 0});
    }
  }
  std::printf("\n");
  std::fflush(stdout);
  size_t number = 0;
  while (std::scanf("%zu", &number) == 1 && number < turns.size()) {
    Turn &turn = turns[number];
    const auto &batch = (*turn.batches)[turn.next++ % turn.batches->size()];
    const double start = threadSeconds();
    turn.contender.step(batch);
    std::printf("%.9f\n", threadSeconds() - start);
    std::fflush(stdout);
  }
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  if (argc == 2 && std::string(argv[1]) == "--turns")
    return takeTurns();
  if (argc > 1) {
    std::fprintf(stderr,
                 "usage: %s            measures all steps\n"
                 "       %s --turns    steps as bench/compare_builds.py asks\n",
                 argv[0], argv[0]);
    return 2;
  }
  constexpr int passes = 8;
  const double peak = fmaPeak();
  const double limit = peak / operationsInSample();
  std::printf("FMA loop: %.1f Gflop/s on one core\n\n", peak * 1e-9);
  std::printf(
      "Step, one thread. Limit: the FMA loop doing the products alone.\n"
      "%-6s %5s  %-25s %9s %10s %9s   %s\n",
      "gemm", "batch", "", "samples/s", "of limit", "by hand", "loss");
  bool learn = true;
  for (const Comparison &comparison : comparisons())
    learn &= compare(comparison, passes, limit);
  if (!learn) {
    std::fprintf(stderr, "error: the loss did not fall\n");
    return 1;
  }
  return 0;
}
