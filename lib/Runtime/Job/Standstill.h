//===- Standstill.h - Progress of a job's trainers --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_JOB_STANDSTILL_H
#define LIB_RUNTIME_JOB_STANDSTILL_H

#include "Job/SaveSchedule.h"
#include "pdlrt/Server/ServerApplication.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace pdlrt {

/// Measures how long no trainer has progressed. Not thread-safe.
class Standstill {
public:
  /// `inRounds`: trainers of this mode step in rounds.
  Standstill(bool inRounds, SaveSchedule::Time now)
      : inRounds(inRounds), lastMove(now) {}

  /// Returns for how long the progress of all senders, `marks`, has not
  /// changed.
  SaveSchedule::Clock::duration observe(const std::vector<SenderMark> &marks,
                                        SaveSchedule::Time now) {
    std::vector<uint64_t> requests;
    for (const SenderMark &mark : marks)
      // In modes with rounds, other senders take part in no step.
      if (!inRounds)
        requests.push_back(mark.received);
      else if (mark.worker == 0)
        requests.push_back(mark.answered);
    if (requests != std::exchange(lastRequests, requests))
      lastMove = now;
    return now - lastMove;
  }

private:
  const bool inRounds;
  SaveSchedule::Time lastMove;
  std::vector<uint64_t> lastRequests;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_JOB_STANDSTILL_H
