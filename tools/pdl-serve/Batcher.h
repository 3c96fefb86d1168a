//===- Batcher.h - Requests that are scored together ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLSERVE_BATCHER_H
#define PDLSERVE_BATCHER_H

#include "Job.h"
#include "Metrics.h"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace pdlserve {

struct BatchOptions {
  /// More than that are put together only if one request has them.
  int64_t mostSamples = 64;
  /// How long the first request of a batch waits for others.
  Clock::duration delay = {};
  unsigned workers = 1;
  /// More requests than that do not wait, but are refused.
  size_t mostWaiting = 4096;
};

/// Jobs of one program that may be put together: those with the same inputs
/// being texts.
class Lane {
public:
  std::vector<bool> hasTexts;
  std::deque<std::unique_ptr<Job>> jobs;
  int64_t samples = 0;
};

/// Puts requests of one program together and scores them, in threads of its
/// own. Threads may share it.
class Batcher {
public:
  Batcher(BatchOptions options, Metrics &metrics);
  Batcher(const Batcher &) = delete;
  Batcher &operator=(const Batcher &) = delete;
  /// Answers all jobs that wait.
  ~Batcher();

  /// Takes a job with bound inputs; it is finished later by another thread, or,
  /// where too many wait, at once.
  void submit(std::unique_ptr<Job> job);
  /// From now on no request waits for others, because none may come.
  void hurry();

private:
  class Worker;
  using Batch = std::vector<std::unique_ptr<Job>>;

  Lane &laneOf(Job &job);
  /// The lane whose first job came first of those that wait no longer; null:
  /// none, and `until` is when there may be one.
  Lane *findRipe(Clock::time_point now, Clock::time_point &until) const;
  Batch takeBatch(Lane &lane);
  void work();

  const BatchOptions options;
  Metrics &metrics;
  std::mutex mutex;
  std::condition_variable changed;
  /// Lanes with jobs.
  std::vector<Lane *> filled;
  size_t waiting = 0;
  bool isHurrying = false;
  bool isEnding = false;
  std::vector<std::jthread> threads;
};

} // namespace pdlserve

#endif // PDLSERVE_BATCHER_H
