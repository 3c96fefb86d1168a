//===- Liveness.h - Presence of a job's trainers ----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_SERVER_LIVENESS_H
#define LIB_RUNTIME_SERVER_LIVENESS_H

#include "Server/Admission.h"
#include "Server/JobLife.h"
#include "Server/OpenRound.h"
#include "Server/Outbox.h"
#include "Server/Roster.h"
#include "pdlrt/Core/Clock.h"
#include "pdlrt/Server/ServerCore.h"
#include "pdlrt/Transport/Frame.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pdlrt {

/// Watches the trainers of a job. Ends the job if a trainer is lost and the
/// others must not wait for its restart. Not thread-safe.
class Liveness {
public:
  /// The arguments must outlive this object.
  Liveness(const ServerCoreOptions &options, const Clock &clock, JobLife &job,
           Admission &admission, const OpenRounds &rounds)
      : options(options), clock(clock), job(job), admission(admission),
        rounds(rounds), trainers(options, clock) {}

  Roster &roster() { return trainers; }
  const Roster &roster() const { return trainers; }

  /// Requests the job to stop. From then on, the job does not wait for restarts
  /// of lost trainers.
  void requestStop(Outbox &out);
  /// Checks which trainers are alive. `late`: delay of this check, in which
  /// this process may have been suspended.
  void watch(ClockTime late, Outbox &out);
  /// Handles the Leave of a trainer's process, which may have failed.
  void leave(const Frame &frame, Outbox &out);
  /// Records that a process of this job was refused before it has joined.
  void refuse(uint32_t rank, const Status &why, Outbox &out);
  /// Fails the job and returns true if a restart of this trainer could not
  /// continue at its last request.
  bool failsByRestart(uint32_t rank, Outbox &out);
  /// Returns true if each trainer knows about the end of the job.
  bool allNotified() const {
    return roster().allAreGone(/*mayJoin=*/!job.isStopping());
  }
  /// Returns what the job waits for (`ServerCore::waitingFor`).
  std::string describeWait(ClockTime atLeast = ClockTime(0)) const;

private:
  bool waitsForLost() const {
    return options.onFailure == FailurePolicy::Wait && !job.isStopping();
  }
  /// Returns true if a restart of this trainer could not continue at its last
  /// request.
  bool cannotRestart(uint32_t rank) const {
    return !options.restartsContinue && admission.hasRequestsOf(rank);
  }
  std::string describeJoinLimit(const std::vector<uint32_t> &missing) const;
  void check(Outbox &out);
  void checkRestarts(Outbox &out);

  const ServerCoreOptions &options;
  const Clock &clock;
  JobLife &job;
  Admission &admission;
  const OpenRounds &rounds;
  Roster trainers;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_SERVER_LIVENESS_H
