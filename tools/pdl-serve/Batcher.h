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

/// Batches that are scored at once, and requests that wait, of versions that
/// share them: all that hold their tables, or one that asks servers. That one's
/// batches may wait for long, and keep nobody else's waiting.
struct Seats {
  unsigned taken = 0;
  size_t waiting = 0;
};

/// Jobs of one program that may be put together: those whose inputs have the
/// same types.
class Lane {
public:
  std::vector<DataType> types;
  std::deque<std::unique_ptr<Job>> jobs;
  int64_t samples = 0;
  std::shared_ptr<Seats> seats;
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
  /// where too many wait or memory runs out, at once.
  void submit(std::unique_ptr<Job> job);
  /// From now on no request waits for others, because none may come.
  void hurry();

private:
  class Worker;
  using Batch = std::vector<std::unique_ptr<Job>>;

  Lane &laneOf(Job &job);
  /// The lane whose first job came first of those that wait no longer and have
  /// a seat; null: none, and `until` is when there may be one.
  Lane *findRipe(Clock::time_point now, Clock::time_point &until) const;
  /// Adds jobs of a lane that has some to `batch`, which has room for one.
  void takeBatch(Lane &lane, Batch &batch);
  /// A job that came before `since`, of any lane with these seats; null: none.
  std::unique_ptr<Job> takeEarlier(const Seats &seats, Clock::time_point since);
  void wakeOne();
  void work();

  const BatchOptions options;
  Metrics &metrics;
  std::mutex mutex;
  std::condition_variable changed;
  /// Lanes with jobs.
  std::vector<Lane *> filled;
  /// Of versions that hold their tables.
  const std::shared_ptr<Seats> ownSeats = std::make_shared<Seats>();
  /// Threads that score.
  size_t running = 0;
  bool isHurrying = false;
  bool isEnding = false;
  /// As many as there are workers, and more since batches waited for servers.
  std::vector<std::jthread> threads;
};

} // namespace pdlserve

#endif // PDLSERVE_BATCHER_H
