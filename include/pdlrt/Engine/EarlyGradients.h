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

/// Receives dense gradients while earlier layers still compute.
class EarlyGradients {
public:
  virtual ~EarlyGradients();
  /// Called before a step is computed. Returns true if `take` should be called
  /// during this step. Not thread-safe.
  virtual bool beginStep() = 0;
  /// Receives the gradient of update `update` of the program, summed over this
  /// process's workers. It stays unchanged until the step is exchanged. Called
  /// by computing threads, possibly concurrently, so it must return quickly.
  virtual void take(int32_t update, const void *sum) noexcept = 0;
  /// Releases the received gradients: none of them is read after this call.
  virtual void letGo() noexcept = 0;
};

/// Sums each dense gradient over a group's workers as soon as all workers with
/// a batch have written it, in the order of workers, and passes it on. The
/// thread of the last worker does this. Gradients that no worker announces are
/// left to `RunningSum::assign`.
class EarlySums final : public GradientListener {
public:
  /// The arguments must outlive the object. `replicas`: those of one group, in
  /// the order of workers; from now on they announce their gradients here.
  /// `sum` is assigned after each step. `blocks`: by update of the program.
  EarlySums(std::span<const std::unique_ptr<Replica>> replicas,
            std::span<const GradientBlock> blocks, RunningSum &sum,
            EarlyGradients &taker);
  /// Releases the gradients before they are freed: those of a step that was not
  /// exchanged may still be in flight.
  ~EarlySums() override { taker.letGo(); }
  EarlySums(const EarlySums &) = delete;
  EarlySums &operator=(const EarlySums &) = delete;

  /// Called before the current batches are computed.
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
  /// Indexed by update: number of workers with a batch that have not written
  /// its gradient yet.
  std::vector<std::atomic<int>> missing;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_EARLYGRADIENTS_H
