//===- GroupBatches.h - Batches in memory for groups of a job ---*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_UNITTESTS_RUNTIME_SUPPORT_GROUPBATCHES_H
#define PDL_UNITTESTS_RUNTIME_SUPPORT_GROUPBATCHES_H

#include "NaiveTrainer.h"

#include "pdlrt/Engine/StepEngine.h"

#include <deque>
#include <vector>

/// Batches of one epoch for groups of a job: replica r of all gets `rounds - r`
/// of them.
template <typename T> class GroupBatches {
public:
  GroupBatches(const pdlrt::ReplicaLayout &layout, int rounds)
      : layout(layout), rounds(rounds) {}

  pdlrt::Expected<std::span<const pdlrt::StepInput>> read() {
    std::vector<Samples<T>> &samples = all.emplace_back();
    inputs.assign(layout.localReplicas(), {});
    bool any = false;
    for (int i = 0; i < layout.localReplicas(); ++i) {
      const int replica = layout.firstGroup * layout.workers + i;
      samples.push_back(
          makeSamples<T>(uint64_t(round) * 100 + replica, 16 + replica));
      if (round >= rounds - replica)
        continue;
      any = true;
    }
    for (int i = 0; i < layout.localReplicas(); ++i)
      if (round < rounds - layout.firstGroup * layout.workers - i)
        inputs[i] = samples[i].input();
    ++round;
    return any ? std::span<const pdlrt::StepInput>(inputs)
               : std::span<const pdlrt::StepInput>();
  }
  pdlrt::RoundSource source() {
    return [this] { return read(); };
  }

private:
  pdlrt::ReplicaLayout layout;
  int rounds, round = 0;
  /// Kept for each round, because engines use several at once.
  std::deque<std::vector<Samples<T>>> all;
  std::vector<pdlrt::StepInput> inputs;
};

#endif // PDL_UNITTESTS_RUNTIME_SUPPORT_GROUPBATCHES_H
