//===- EarlyGradients.h - Gradients before a step is computed ---*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ENGINE_EARLYGRADIENTS_H
#define PDLRT_ENGINE_EARLYGRADIENTS_H

#include "pdlrt/Abi/Worker.h"
#include "pdlrt/Engine/Replica.h"
#include "pdlrt/Sum/RunningSum.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace pdlrt {

/// Takes dense gradients while earlier layers still compute.
class EarlyGradients {
public:
  virtual ~EarlyGradients();
  /// Before a step is computed: whether `take` is of use in it. One thread.
  virtual bool beginStep() = 0;
  /// The sum over this process's workers of the gradient that update `update`
  /// of the program takes; unchanged until the step is exchanged. Called by
  /// threads that compute: takes moments. Several at once.
  virtual void take(int32_t update, const void *sum) noexcept = 0;
  /// What was taken goes: nothing reads it when this returns.
  virtual void letGo() noexcept = 0;
};

/// Sums each dense gradient of a group's workers as soon as all of them that
/// have a batch have written it, in the order of workers, by the thread of the
/// last one, and gives it on. What no worker announces is left to
/// `RunningSum::assign`.
class EarlySums final : public GradientListener {
public:
  /// All outlive it. `replicas`: of one group, in the order of workers; their
  /// gradients are announced here from now on. `sum` is assigned after each
  /// step. `blocks`: by update of the program.
  EarlySums(std::span<const std::unique_ptr<Replica>> replicas,
            std::span<const GradientBlock> blocks, RunningSum &sum,
            EarlyGradients &taker);
  /// Before the gradients go: those of a step that was not exchanged may be on
  /// their way.
  ~EarlySums() override { taker.letGo(); }
  EarlySums(const EarlySums &) = delete;
  EarlySums &operator=(const EarlySums &) = delete;

  /// Before the current batches are computed.
  void begin();
  void gradientReady(int replica, int32_t update) noexcept override;

private:
  std::span<const std::unique_ptr<Replica>> replicas;
  std::span<const GradientBlock> blocks;
  RunningSum &sum;
  EarlyGradients &taker;
  bool isActive = false;
  /// Workers with a batch.
  std::vector<int> present;
  /// By update: how many of these have not written its gradient yet.
  std::vector<std::atomic<int>> missing;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_EARLYGRADIENTS_H
