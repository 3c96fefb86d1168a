//===- LastSave.h - Retries of a training's last save -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_TRAINER_LASTSAVE_H
#define LIB_RUNTIME_PROGRAMS_TRAINER_LASTSAVE_H

#include "pdlrt/Core/Status.h"
#include "pdlrt/Job/Job.h"

#include <chrono>
#include <cstdint>

namespace pdlrt {

/// Clock and stop signals of a process. Code that waits uses this interface, so
/// that tests can replace both.
class WaitEnvironment {
public:
  using Time = std::chrono::steady_clock::time_point;

  virtual ~WaitEnvironment();
  virtual Time now() const = 0;
  virtual void sleep(Time::duration duration) = 0;
  /// Returns true if a graceful shutdown was requested (`stopSignal`).
  virtual bool isStopping() const = 0;
  /// Returns the number of stop signals so far (`stopSignals`).
  virtual int stopSignals() const = 0;
};

/// Returns the environment of this process.
WaitEnvironment &processEnvironment();

/// Repeats the last save of a training if it has failed: several times in its
/// own folder, then in another one. The first process decides for all. After a
/// stop signal, the retries end within a few seconds, because a user is
/// waiting. Not thread-safe.
class LastSave {
public:
  /// The save to repeat.
  class Target {
  public:
    virtual ~Target();
    /// Returns true if the last save has failed. Used in the first process.
    virtual bool isUnsaved() const = 0;
    /// Saves again: to the emergency folder if `elsewhere`, otherwise to the
    /// own folder. All processes call it. A failed save is not returned as an
    /// error; `isUnsaved` reports it.
    virtual Status retry(bool elsewhere) = 0;
  };

  struct Rules {
    /// False if the first failure is final, as in a job whose processes may
    /// restart: a restarted process cannot repeat a save.
    bool mayRetry = true;
    /// Maximum number of retries in the own folder.
    int64_t maxRetries = 0;
    /// True if there is an emergency folder.
    bool hasElsewhere = false;
    /// True if an earlier stop signal limits the time for retries to a few
    /// seconds. False if the training stops for another reason, because then no
    /// user is waiting.
    bool isHurried = true;
  };

  struct Outcome {
    /// True if the checkpoint is not saved.
    bool hasGivenUp = false;
    /// True if the emergency folder was tried.
    bool isElsewhere = false;
  };

  /// The arguments must outlive the object.
  LastSave(Job &job, Target &target, WaitEnvironment &environment)
      : job(job), target(target), environment(environment) {}

  /// Retries until the checkpoint is saved, or until all folders have failed.
  /// All processes must call this. `rules.mayRetry` must be equal in all
  /// processes; the other rules matter only in the first process. Returns the
  /// error of a retry if it has failed the job.
  Expected<Outcome> run(const Rules &rules);

private:
  using Time = WaitEnvironment::Time;
  /// Decision of the first process.
  enum class Decision : int64_t { Saved, Wait, TryAgain, TryElsewhere, GiveUp };
  Decision decide(const Rules &rules, const Outcome &outcome, int64_t retries,
                  bool wasStopped) const;
  Expected<Decision> share(Decision own);
  Expected<Decision> waitForRetry(Time::duration pause, int handledSignals);

  Job &job;
  Target &target;
  WaitEnvironment &environment;
  /// Set if any process gets a stop signal during the retries. The retries then
  /// end.
  bool isStopRequested = false;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_LASTSAVE_H
