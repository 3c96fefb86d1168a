//===- AsyncPace.h - Who may go on in mode async ----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ENGINE_ASYNCPACE_H
#define PDLRT_ENGINE_ASYNCPACE_H

#include "pdlrt/Core/Status.h"

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

namespace pdlrt {

/// Between the workers of a process, each in a thread, and the driver, the
/// thread that takes their steps: how far each worker is, how far they may go,
/// which rounds of data there are. Steps and rounds of a pass are numbered from
/// 0; step n is on round n, and takes up round n + 1. Functions of both sides
/// block; the driver reads the data that workers ask for.
class AsyncPace {
public:
  /// A worker does not begin a step that is `lead` after the next one that the
  /// driver takes.
  AsyncPace(int workers, int lead) : lead(lead), seats(workers) {}

  // The driver.

  enum class Event {
    /// The next step has been done by all; nothing goes on any more.
    Done,
    /// A round is wanted: read it, say so, ask again.
    Read,
    /// There is no next step.
    OutOfData,
    /// No worker is in a step any more.
    Failed,
  };
  /// Ends the current pass, if there is one, and begins another.
  void beginPass();
  /// The same of a pass of an earlier start of this process, in which workers
  /// are further: `begun` steps were begun, and the next round to be read is
  /// `round`. So many steps are allowed behind those that were `taken`.
  struct PassAt {
    int64_t taken = 0, begun = 0, round = 0;
    int64_t allowed = 0;
    bool last = false;
  };
  void resumePass(const PassAt &at);
  /// Ends the current pass, if there is one.
  void abandon();
  /// Lets workers do `steps` more steps than those that were taken; `last`:
  /// then the pass is over. Takes effect with the next `askForStep`.
  void allow(int64_t steps, bool last);
  /// Allows the next step at least; `last`: then the pass is over.
  void askForStep(bool last);
  /// Done, Read, OutOfData or Failed.
  Event waitForStep();
  /// Lets begun steps end, and no other begin: Done, Read or Failed.
  Event waitForRest();
  /// The step that was waited for is taken.
  void noteTaken();
  int64_t taken() const;
  /// Rounds that exist so far.
  int64_t roundsRead() const;
  /// There is one more round, or none.
  void noteRead(bool exists);
  Status failure() const;
  /// Whether somebody was asked to stop and all begun steps have been taken;
  /// then none begins any more.
  bool isOver();
  /// Ends all passes: workers leave.
  void quit();

  // Workers.

  enum class Turn {
    None,
    Step,
    LastStep,
    /// It may not go on, and has pushes under way: they are to arrive first.
    Drain,
  };
  /// Waits for a pass; false: there is none any more.
  bool waitForPass(int worker);
  void leavePass(int worker);
  /// Waits until the worker may do that step; None: its pass is over. Drain
  /// comes without waiting.
  Turn waitForTurn(int worker, int64_t step);
  /// Waits until it is known whether that round exists; false where it does
  /// not, or where the pass is over.
  bool waitForRound(int64_t round);
  /// The worker has done that many steps of the pass; 0: it has what the first
  /// one reads. `underWay`: some of its pushes have yet to arrive.
  void noteDone(int worker, int64_t steps, bool underWay = false);
  /// Somebody was asked to stop.
  void noteStop();

  // Both.

  /// Ends the pass; the first failure counts.
  void fail(Status status);

private:
  struct Seat {
    bool inPass = false;
    int64_t done = -1;
    bool underWay = false;
  };
  // With `mutex`.
  bool isBroken() const { return quitting || abandoned || !firstFailure.ok(); }
  void endPass(std::unique_lock<std::mutex> &lock);
  bool allHaveLeft() const;
  bool allHaveDone(int64_t steps) const;
  /// Whether all pushes have arrived.
  bool allHaveArrived() const;
  /// Nobody begins a step from `steps` on.
  void lowerLimit(int64_t steps);
  bool isReadWanted() const { return wanted > read && !outOfData; }

  const int lead;
  mutable std::mutex mutex;
  std::condition_variable changed;
  std::vector<Seat> seats;
  /// Steps that may begin, and whether the pass ends after them.
  int64_t limit = 0;
  bool lastAtLimit = false;
  int64_t allowed = 0;
  bool lastAllowed = false;
  /// Steps that any worker has begun, and that the driver has taken.
  int64_t begun = 0, takenSteps = 0;
  int64_t read = 0, wanted = 0;
  bool outOfData = false;
  bool stopSeen = false, abandoned = false, quitting = false;
  Status firstFailure;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_ASYNCPACE_H
