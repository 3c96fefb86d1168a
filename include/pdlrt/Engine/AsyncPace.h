//===- AsyncPace.h - Coordination of asynchronous workers -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ENGINE_ASYNCPACE_H
#define PDLRT_ENGINE_ASYNCPACE_H

#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Core/Status.h"

#include <cstdint>
#include <vector>

namespace pdlrt {

/// Coordinates the workers of a process with the driver. Each worker does its
/// steps on its own thread. The driver is the thread that calls AsyncEngine: it
/// takes the results of steps, and reads the data that workers request. This
/// class records how many steps each worker has done, how many steps workers
/// may start, and how many rounds of data exist.
///
/// Steps and rounds of a pass are numbered from 0. Step n uses round n, and
/// prepares round n + 1. Functions whose names begin with `waitFor` block.
/// Thread-safe.
class AsyncPace {
public:
  /// A worker may start step n only if n < t + `lead`, where t is the number of
  /// steps that the driver has taken.
  AsyncPace(int workers, int lead) : lead(lead), seats(workers) {}

  // Called by the driver.

  enum class Event {
    /// `waitForStep`: every worker has done the next step. `waitForRest`: no
    /// step is in progress.
    Done,
    /// A worker needs another round. The driver must read it, call `noteRead`,
    /// and wait again.
    Read,
    /// There is no next step, because the data of the epoch has ended.
    OutOfData,
    /// The pass has failed, and all workers have left it.
    Failed,
  };
  /// Ends the current pass, if there is one, and starts another.
  void beginPass();
  /// Position at which a pass of the previous incarnation of this process is
  /// resumed. That incarnation had taken `taken` steps and started `begun`
  /// steps. The next round to be read is `round`. `allowed` and `last` are the
  /// arguments of `allow`. `resumePass` is like `beginPass`, but starts at this
  /// position.
  struct PassAt {
    int64_t taken = 0, begun = 0, round = 0;
    int64_t allowed = 0;
    bool last = false;
  };
  /// Ends the current pass, if there is one, and continues that one.
  void resumePass(const PassAt &at);
  /// Ends the current pass, if there is one, and waits until all workers have
  /// left it.
  void abandon();
  /// Allows workers to do `steps` steps in addition to those that the driver
  /// has taken. `last` is true if the pass ends after these steps. Takes effect
  /// at the next `requestStep`.
  void allow(int64_t steps, bool last);
  /// Allows the steps of `allow`, but at least the next step. In the latter
  /// case, `last` is true if the pass ends after this step.
  void requestStep(bool last);
  /// Blocks until the next step is done. Returns Done, Read, OutOfData or
  /// Failed.
  Event waitForStep();
  /// Blocks until all started steps have ended; no new steps start. Returns
  /// Done, Read or Failed.
  Event waitForRest();
  /// Records that the driver has taken the step that it waited for.
  void noteTaken();
  int64_t taken() const;
  /// Returns the number of rounds that exist so far.
  int64_t roundsRead() const;
  /// Records the result of reading a round: another round exists, or there are
  /// no more rounds.
  void noteRead(bool exists);
  Status failure() const;
  /// Returns true if a shutdown was requested and the driver has taken all
  /// started steps. After that, no step starts.
  bool isOver();
  /// Ends the current pass, and makes `waitForPass` return false, so that the
  /// threads of workers end.
  void quit();

  // Called by workers.

  enum class Turn {
    None,
    Step,
    LastStep,
    /// The worker would have to wait, but has pushes in flight. It must first
    /// wait until they have arrived, and then call `noteDone` and `waitForTurn`
    /// again.
    Drain,
  };
  /// Blocks until a pass begins. Returns false if there will be no further
  /// pass.
  bool waitForPass(int worker);
  void leavePass(int worker);
  /// Blocks until the worker may do step `step`, and returns Step or LastStep.
  /// Returns None if the pass is over. Drain is returned without waiting.
  Turn waitForTurn(int worker, int64_t step);
  /// Blocks until it is known whether round `round` exists. Returns false if it
  /// does not exist, or if the pass is over.
  bool waitForRound(int64_t round);
  /// Records that the worker has done `steps` steps of the pass. 0 means that
  /// it has the state for its first step. `underWay` is true if some of its
  /// pushes have not arrived yet.
  void noteDone(int worker, int64_t steps, bool underWay = false);
  /// Records that a shutdown was requested.
  void noteStop();

  // Called by both.

  /// Ends the pass with an error. Only the first error is kept.
  void fail(Status status);

private:
  struct Seat {
    bool inPass = false;
    int64_t done = -1;
    bool underWay = false;
  };
  bool isBroken() const PDLRT_REQUIRES(mutex) {
    return quitting || abandoned || !firstFailure.ok();
  }
  void endPass(MutexLock &lock) PDLRT_REQUIRES(mutex);
  bool allHaveLeft() const PDLRT_REQUIRES(mutex);
  bool allHaveDone(int64_t steps) const PDLRT_REQUIRES(mutex);
  /// Returns true if no worker has pushes in flight.
  bool allHaveArrived() const PDLRT_REQUIRES(mutex);
  /// Prevents step number `steps` and later ones from starting.
  void lowerLimit(int64_t steps) PDLRT_REQUIRES(mutex);
  bool isReadWanted() const PDLRT_REQUIRES(mutex) {
    return wanted > read && !outOfData;
  }

  const int lead;
  mutable Mutex mutex;
  ConditionVariable changed;
  std::vector<Seat> seats PDLRT_GUARDED_BY(mutex);
  /// `limit`: number of steps of the pass that may start. `lastAtLimit`: true
  /// if the pass ends after these steps.
  int64_t limit PDLRT_GUARDED_BY(mutex) = 0;
  bool lastAtLimit PDLRT_GUARDED_BY(mutex) = false;
  int64_t allowed PDLRT_GUARDED_BY(mutex) = 0;
  bool lastAllowed PDLRT_GUARDED_BY(mutex) = false;
  /// `begun`: the maximum number of steps that any worker has started.
  /// `takenSteps`: number of steps that the driver has taken.
  int64_t begun PDLRT_GUARDED_BY(mutex) = 0;
  int64_t takenSteps PDLRT_GUARDED_BY(mutex) = 0;
  int64_t read PDLRT_GUARDED_BY(mutex) = 0;
  int64_t wanted PDLRT_GUARDED_BY(mutex) = 0;
  bool outOfData PDLRT_GUARDED_BY(mutex) = false;
  bool stopSeen PDLRT_GUARDED_BY(mutex) = false;
  bool abandoned PDLRT_GUARDED_BY(mutex) = false;
  bool quitting PDLRT_GUARDED_BY(mutex) = false;
  Status firstFailure PDLRT_GUARDED_BY(mutex);
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_ASYNCPACE_H
