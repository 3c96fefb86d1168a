//===- Batcher.h - Combines requests into batches ---------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_SERVE_BATCHER_H
#define PDL_TOOLS_PDL_SERVE_BATCHER_H

#include "InferenceRequest.h"
#include "ServingMetrics.h"
#include "pdlrt/Core/Mutex.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

namespace pdlserve {

struct BatchOptions {
  /// Maximum number of samples per batch, unless a single request has more.
  int64_t maxSamples = 64;
  /// Maximum time for which the first request of a batch waits for further
  /// requests.
  Clock::duration delay = {};
  unsigned workers = 1;
  /// Maximum number of waiting requests. Further requests are rejected.
  size_t maxWaiting = 4096;
};

/// Limits how many batches run at the same time (`taken`), and how many
/// requests wait. Versions that hold their tables share one object. A version
/// with remote rows has its own, because its batches may wait long for servers
/// and must not delay other versions.
struct Seats {
  unsigned taken = 0;
  size_t waiting = 0;
};

/// Queue of requests of one program that may be in one batch, because their
/// inputs have the same types. Guarded by the mutex of the `Batcher`.
class Lane {
public:
  std::vector<DataType> types;
  std::deque<std::unique_ptr<InferenceRequest>> jobs;
  int64_t samples = 0;
  std::shared_ptr<Seats> seats;
};

/// Combines requests of one program into batches, and scores batches on threads
/// of its own. Thread-safe.
class Batcher {
public:
  Batcher(BatchOptions options, ServingMetrics &metrics);
  Batcher(const Batcher &) = delete;
  Batcher &operator=(const Batcher &) = delete;
  /// Waits until all waiting requests have responses.
  ~Batcher();

  /// Submits a request whose tensors are bound to inputs (`bindTensors`).
  /// Another thread finishes it later. If too many requests wait, or memory is
  /// exhausted, finishes it at once with an error.
  void submit(std::unique_ptr<InferenceRequest> job);
  /// Makes batches start without waiting for further requests. Used during
  /// shutdown.
  void hurry();

private:
  class Worker;
  using Batch = std::vector<std::unique_ptr<InferenceRequest>>;

  Lane &laneOf(InferenceRequest &job) PDLRT_REQUIRES(mutex);
  /// Returns the lane whose first request is the oldest, among lanes whose
  /// batch is complete or has waited long enough, and which may run a further
  /// batch. If there is none, returns null, and sets `until` to the time at
  /// which there may be one.
  Lane *findRipe(Clock::time_point now, Clock::time_point &until) const
      PDLRT_REQUIRES(mutex);
  /// Moves requests of `lane` to `batch`, up to the maximum batch size. `lane`
  /// must have a request, and `batch` must have capacity for one.
  void takeBatch(Lane &lane, Batch &batch) PDLRT_REQUIRES(mutex);
  /// Removes a request that arrived before `since` from a lane with these
  /// seats, and returns it. Returns null if there is none.
  std::unique_ptr<InferenceRequest> takeEarlier(const Seats &seats,
                                                Clock::time_point since)
      PDLRT_REQUIRES(mutex);
  void wakeOne() PDLRT_REQUIRES(mutex);
  void work();

  const BatchOptions options;
  ServingMetrics &metrics;
  pdlrt::Mutex mutex;
  pdlrt::ConditionVariable changed;
  /// Lanes with jobs.
  std::vector<Lane *> filled PDLRT_GUARDED_BY(mutex);
  /// Seats for all versions that hold their tables.
  const std::shared_ptr<Seats> ownSeats = std::make_shared<Seats>();
  /// Number of threads that are scoring a batch.
  size_t running PDLRT_GUARDED_BY(mutex) = 0;
  bool isHurrying PDLRT_GUARDED_BY(mutex) = false;
  bool isEnding PDLRT_GUARDED_BY(mutex) = false;
  /// One thread per worker, and further threads that were started while batches
  /// waited for servers.
  std::vector<std::jthread> threads PDLRT_GUARDED_BY(mutex);
};

} // namespace pdlserve

#endif // PDL_TOOLS_PDL_SERVE_BATCHER_H
