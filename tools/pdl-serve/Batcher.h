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

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace pdlserve {

struct BatchOptions {
  /// Maximum number of samples per batch, unless a single request has more.
  int64_t maxSamples = 64;
  /// Maximum time for which the first request of a batch waits for others.
  Clock::duration delay = {};
  unsigned workers = 1;
  /// Maximum number of waiting requests. Further ones are rejected.
  size_t maxWaiting = 4096;
};

/// Counts of running batches and waiting requests. Versions that hold their
/// tables share one object; a version with remote rows has its own. Its batches
/// may wait long for servers, and must not delay other versions.
struct Seats {
  unsigned taken = 0;
  size_t waiting = 0;
};

/// Queue of requests of one program that may be combined: their inputs have the
/// same types.
class Lane {
public:
  std::vector<DataType> types;
  std::deque<std::unique_ptr<InferenceRequest>> jobs;
  int64_t samples = 0;
  std::shared_ptr<Seats> seats;
};

/// Combines requests of one program into batches and scores them on its own
/// threads. Thread-safe.
class Batcher {
public:
  Batcher(BatchOptions options, ServingMetrics &metrics);
  Batcher(const Batcher &) = delete;
  Batcher &operator=(const Batcher &) = delete;
  /// Answers all waiting requests.
  ~Batcher();

  /// Submits a job with bound inputs. Another thread finishes it later. If too
  /// many jobs wait or memory is exhausted, the job is finished immediately.
  void submit(std::unique_ptr<InferenceRequest> job);
  /// From now on, requests do not wait for further ones. Used during shutdown.
  void hurry();

private:
  class Worker;
  using Batch = std::vector<std::unique_ptr<InferenceRequest>>;

  Lane &laneOf(InferenceRequest &job);
  /// Returns the lane with the oldest first job among lanes that need not wait
  /// longer and have a free seat. If there is none, returns null and sets
  /// `until` to the time at which there may be one.
  Lane *findRipe(Clock::time_point now, Clock::time_point &until) const;
  /// Moves jobs of a lane, which must not be empty, to `batch`, which must have
  /// capacity for one.
  void takeBatch(Lane &lane, Batch &batch);
  /// Removes and returns a job of a lane with these seats that arrived before
  /// `since`, or null if there is none.
  std::unique_ptr<InferenceRequest> takeEarlier(const Seats &seats,
                                                Clock::time_point since);
  void wakeOne();
  void work();

  const BatchOptions options;
  ServingMetrics &metrics;
  std::mutex mutex;
  std::condition_variable changed;
  /// Lanes with jobs.
  std::vector<Lane *> filled;
  /// Seats of all versions that hold their tables.
  const std::shared_ptr<Seats> ownSeats = std::make_shared<Seats>();
  /// Number of threads that score.
  size_t running = 0;
  bool isHurrying = false;
  bool isEnding = false;
  /// One per worker, and additional ones started while batches waited for
  /// servers.
  std::vector<std::jthread> threads;
};

} // namespace pdlserve

#endif // PDL_TOOLS_PDL_SERVE_BATCHER_H
