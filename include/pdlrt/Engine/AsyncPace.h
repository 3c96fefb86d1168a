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

/// Coordinates the workers of a process, each on its own thread, with the
/// driver, the thread that takes their steps. Tracks how far each worker is,
/// how far they may go, and which rounds of data exist.
///
/// Steps and rounds of a pass are numbered from 0. Step n uses round n, and
/// prepares round n + 1. Functions of both sides block. The driver reads the
/// data that workers request.
class AsyncPace {
public:
  /// A worker does not start a step that is `lead` or more after the next step
  /// that the driver takes.
  AsyncPace(int workers, int lead) : lead(lead), seats(workers) {}

  // Called by the driver.

  enum class Event {
    /// `waitForStep`: every worker has done the next step. `waitForRest`: no
    /// step is in progress.
    Done,
    /// A round is needed: the driver reads it, calls `noteRead`, and waits
    /// again.
    Read,
    /// There is no next step.
    OutOfData,
    /// The pass has failed, and no worker is in a step any more.
    Failed,
  };
  /// Ends the current pass, if there is one, and starts another.
  void beginPass();
  /// Place in a pass that the previous incarnation of this process began.
  /// `taken` steps were taken and `begun` steps were started; the next round to
  /// be read is `round`. `allowed` more steps are allowed after those that were
  /// taken.
  struct PassAt {
    int64_t taken = 0, begun = 0, round = 0;
    int64_t allowed = 0;
    bool last = false;
  };
  /// Ends the current pass, if there is one, and continues that one.
  void resumePass(const PassAt &at);
  /// Ends the current pass, if there is one.
  void abandon();
  /// Allows workers to do `steps` more steps than were taken. `last`: the pass
  /// ends after them. Takes effect at the next `requestStep`.
  void allow(int64_t steps, bool last);
  /// Allows at least the next step. `last`: the pass ends after it.
  void requestStep(bool last);
  /// Blocks until the next step is done. Returns Done, Read, OutOfData or
  /// Failed.
  Event waitForStep();
  /// Lets started steps end, but allows no new ones. Returns Done, Read or
  /// Failed.
  Event waitForRest();
  /// Records that the driver has taken the step that it waited for.
  void noteTaken();
  int64_t taken() const;
  /// Returns the number of rounds that exist so far.
  int64_t roundsRead() const;
  /// Records that another round exists, or that there are no more.
  void noteRead(bool exists);
  Status failure() const;
  /// Returns true if a shutdown was requested and all started steps have been
  /// taken; no step starts after that.
  bool isOver();
  /// Ends all passes; workers leave.
  void quit();

  // Called by workers.

  enum class Turn {
    None,
    Step,
    LastStep,
    /// The worker must wait and has pushes in flight, which should arrive
    /// first.
    Drain,
  };
  /// Waits for a pass. Returns false if there will be none.
  bool waitForPass(int worker);
  void leavePass(int worker);
  /// Waits until the worker may do this step. Returns None if its pass is over.
  /// Returns Drain without waiting.
  Turn waitForTurn(int worker, int64_t step);
  /// Waits until it is known whether the round exists. Returns false if it does
  /// not exist, or if the pass is over.
  bool waitForRound(int64_t round);
  /// Records that the worker has done `steps` steps of the pass; 0: it has the
  /// state for its first one. `underWay`: some of its pushes have not arrived
  /// yet.
  void noteDone(int worker, int64_t steps, bool underWay = false);
  /// Records that a shutdown was requested.
  void noteStop();

  // Called by both.

  /// Ends the pass. Only the first failure is kept.
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
  /// Returns true if all pushes have arrived.
  bool allHaveArrived() const PDLRT_REQUIRES(mutex);
  /// Prevents steps from `steps` on from starting.
  void lowerLimit(int64_t steps) PDLRT_REQUIRES(mutex);
  bool isReadWanted() const PDLRT_REQUIRES(mutex) {
    return wanted > read && !outOfData;
  }

  const int lead;
  mutable Mutex mutex;
  ConditionVariable changed;
  std::vector<Seat> seats PDLRT_GUARDED_BY(mutex);
  /// Number of steps that may start, and whether the pass ends after them.
  int64_t limit PDLRT_GUARDED_BY(mutex) = 0;
  bool lastAtLimit PDLRT_GUARDED_BY(mutex) = false;
  int64_t allowed PDLRT_GUARDED_BY(mutex) = 0;
  bool lastAllowed PDLRT_GUARDED_BY(mutex) = false;
  /// Number of steps that any worker has started, and that the driver has
  /// taken.
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
