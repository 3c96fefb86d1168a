//===- EarlyGradients.h - Dense gradients during a step ---------*- C++ -*-===//
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

/// Receives dense gradients of a step while the step still computes others. The
/// backward pass completes the gradients of the last layers first.
class EarlyGradients {
public:
  virtual ~EarlyGradients();
  /// Called before a step is computed. Returns true if the caller must call
  /// `take` during this step. Not thread-safe.
  virtual bool beginStep() = 0;
  /// Receives the gradient of update `update` of the program, summed over this
  /// process's workers. `sum` stays unchanged until the step is exchanged.
  /// Called by the threads that compute, possibly concurrently. Must return
  /// quickly.
  virtual void take(int32_t update, const void *sum) noexcept = 0;
  /// Stops using the received gradients: after this call, their memory can be
  /// freed.
  virtual void letGo() noexcept = 0;
};

/// Sums each dense gradient over the workers of a group as soon as all workers
/// with a batch have written it. Sums in the order of the workers, on the
/// thread of the worker that was last, and passes the sum to an EarlyGradients.
/// Dense gradients for which stages do not call the listener are summed later,
/// by `RunningSum::assign`.
class EarlySums final : public GradientListener {
public:
  /// `replicas` are the replicas of one group, in the order of workers. This
  /// object becomes their listener for gradients. `blocks` has one entry per
  /// update of the program. `sum` computes the sums (`RunningSum::sumEarly`)
  /// and keeps them for its `assign` after the step. The arguments must outlive
  /// the object.
  EarlySums(std::span<const std::unique_ptr<Replica>> replicas,
            std::span<const GradientBlock> blocks, RunningSum &sum,
            EarlyGradients &taker);
  /// Calls `letGo`, because gradients of a step that was not exchanged may
  /// still be in flight.
  ~EarlySums() override { taker.letGo(); }
  EarlySums(const EarlySums &) = delete;
  EarlySums &operator=(const EarlySums &) = delete;

  /// Call before the current batches are computed.
  void begin();
  void gradientReady(int replica, int32_t update) noexcept override;

private:
  std::span<const std::unique_ptr<Replica>> replicas;
  std::span<const GradientBlock> blocks;
  RunningSum &sum;
  EarlyGradients &taker;
  bool isActive = false;
  /// Indices of the workers that have a batch in this step.
  std::vector<int> present;
  /// Number of workers with a batch that have not written the gradient yet, by
  /// update of the program.
  std::vector<std::atomic<int>> missing;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_EARLYGRADIENTS_H
