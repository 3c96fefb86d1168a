//===- StepProgress.h - How far the senders of a job are --------*- C++ -*-===//
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

/// What a request is to the steps of its sender.
struct StepFacts {
  /// It brings gradients, which end a step.
  bool contributes = false;
  /// It asks for what the next step of its sender reads.
  bool goesOn = false;
};

/// How many steps each sender has ended since all trainers met last (in a round
/// of sums), as one server sees it. A trainer is slow until it is known to
/// rest: one of which nothing has come yet has ended none. A worker counts from
/// its first request on, since one without data sends none. Not thread-safe.
class StepProgress {
public:
  explicit StepProgress(uint32_t trainers) : own(trainers), meets(trainers) {}

  /// A request of a step has come.
  void note(const Envelope &request, const StepFacts &facts);
  /// A trainer has come to where all meet, and ends no steps until they have.
  void rest(uint32_t trainer) { meets[trainer] = true; }
  /// All trainers have met: they begin anew.
  void meet();

  /// Whether a trainer has, or may yet have, steps to end.
  bool takesPart(uint32_t trainer) const;
  /// The steps of the slowest sender of a trainer that takes part; of none
  /// where no trainer does.
  std::optional<int64_t> slowest() const;
  /// The trainers of the slowest senders.
  std::vector<uint32_t> slowestTrainers() const;
  int64_t stepsOf(const Envelope &sender) const;

private:
  struct Sender {
    int64_t steps = 0;
    bool rests = false;
  };
  /// Of one trainer.
  std::optional<int64_t> slowestOf(uint32_t trainer) const;

  /// By trainer, by worker.
  std::vector<std::map<uint32_t, Sender>> own;
  /// By trainer: whether it waits where all meet.
  std::vector<bool> meets;
};

} // namespace pdlrt

#endif // PDLRT_SERVER_STEPPROGRESS_H
