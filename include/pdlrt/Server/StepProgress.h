//===- StepProgress.h - Progress of a job's senders -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_SERVER_STEPPROGRESS_H
#define PDLRT_SERVER_STEPPROGRESS_H

#include "pdlrt/Transport/Envelope.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace pdlrt {

/// Role of a request among the steps of its sender, as
/// `ServerApplication::check` returns it.
struct StepFacts {
  /// True if the request has gradients that end a step of its sender. False for
  /// a push that is sent concurrently with steps.
  bool contributes = false;
  /// True if the request asks for the state for the next step of its sender.
  bool goesOn = false;
};

/// Counts the steps that each sender has finished since the last round of sums,
/// as one server sees it. A trainer is active until it is known that it has no
/// further steps; before its first request it has finished 0 steps. A worker is
/// counted only from its first request on, because a worker without data sends
/// no request. Not thread-safe.
class StepProgress {
public:
  explicit StepProgress(uint32_t trainers) : own(trainers), meets(trainers) {}

  /// Records a request of a step.
  void note(const Envelope &request, const StepFacts &facts);
  /// Records that a trainer waits in the round of sums. It does no steps until
  /// all trainers have arrived there.
  void rest(uint32_t trainer) { meets[trainer] = true; }
  /// Records that the round of sums is complete. All counts start at 0 again.
  void meet();

  /// Returns true if a trainer is active: it has, or may still have, steps to
  /// finish.
  bool takesPart(uint32_t trainer) const;
  /// Returns the number of steps of the slowest sender of all active trainers,
  /// or nullopt if no trainer is active.
  std::optional<int64_t> slowest() const;
  /// Returns the trainers of the slowest senders.
  std::vector<uint32_t> slowestTrainers() const;
  int64_t stepsOf(const Envelope &sender) const;

private:
  struct Sender {
    int64_t steps = 0;
    bool rests = false;
  };
  /// Returns the number of steps of one trainer's slowest sender.
  std::optional<int64_t> slowestOf(uint32_t trainer) const;

  /// Progress by trainer, then by worker.
  std::vector<std::map<uint32_t, Sender>> own;
  /// True for trainers that wait in the round of sums.
  std::vector<bool> meets;
};

} // namespace pdlrt

#endif // PDLRT_SERVER_STEPPROGRESS_H
