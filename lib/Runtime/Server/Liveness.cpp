//===- Liveness.cpp - Presence of a job's trainers ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Server/Liveness.h"

#include "pdlrt/Transport/FailureCode.h"

#include <vector>

using namespace pdlrt;

/// End of the error message of a job that fails because a trainer was
/// restarted. The name of the trainer precedes it.
static constexpr const char *cannotRejoinMessage =
    " trainers of this mode cannot go on where they were: start all again, "
    "with --resume where there is a checkpoint";

/// Returns the advice in the status of a job that waits for trainers.
static std::string remedyUnderWait(const Roster &roster, uint32_t trainers) {
  std::string remedies;
  for (uint32_t rank = 0; rank < trainers; ++rank)
    if (const std::string remedy = roster.remedyFor(rank); !remedy.empty())
      remedies += (remedies.empty() ? "" : ", ") + remedy;
  return "; " + remedies + ", or stop the job by SIGTERM to any process";
}

void Liveness::requestStop(Outbox &out) {
  if (job.stop())
    check(out);
}

void Liveness::watch(ClockTime late, Outbox &out) {
  if (late > trainers.watchInterval())
    trainers.forgive(late);
  trainers.lookForDead();
  check(out);
}

/// Ends the job if a trainer is lost, unless the job waits for restarts of lost
/// trainers. After a request to stop, also ends a job that has not begun in
/// time, or whose trainers have failed.
void Liveness::check(Outbox &out) {
  if (!job.isOpen()) {
    if (job.stopsForLong())
      job.fail(Status::cancelled("told to stop while it was " + job.progress()),
               out);
    return;
  }
  if (waitsForLost()) {
    checkRestarts(out);
    return;
  }
  for (uint32_t rank = 0; rank < options.trainers; ++rank)
    if (const std::string fault = trainers.absenceOf(rank); !fault.empty()) {
      const std::string trouble = trainers.troubleOf(rank);
      job.lose(Status::unavailable(options.onFailure == FailurePolicy::Wait &&
                                           !trouble.empty()
                                       ? "told to stop; " + trouble
                                       : fault),
               out);
    }
  if (!job.isStopping())
    return;
  for (uint32_t rank = 0; rank < options.trainers; ++rank)
    if (trainers.hasFailed(rank))
      job.lose(Status::cancelled("told to stop; " + trainers.troubleOf(rank)),
               out);
  // Before all trainers have joined, no step was done. So the job can end at
  // once, and no work is lost.
  if (const std::vector<uint32_t> missing = trainers.notJoined();
      !missing.empty() && job.stopsForLong())
    job.fail(Status::cancelled("told to stop before " + trainerNames(missing) +
                               " had joined"),
             out);
}

/// Fails a job that waits for restarts if a lost trainer cannot be restarted,
/// if no trainer has joined in time, or if no restart can continue and trainers
/// were lost.
void Liveness::checkRestarts(Outbox &out) {
  for (uint32_t rank = 0; rank < options.trainers; ++rank)
    if (trainers.hasDied(rank) && cannotRestart(rank))
      job.fail(Status::unavailable(trainers.troubleOf(rank) + ", and" +
                                   cannotRejoinMessage),
               out);
  if (const std::string fault = trainers.absenceOfAll(); !fault.empty())
    job.fail(Status::unavailable(fault), out);
  if (options.restartsContinue)
    return;
  if (const std::string fault = trainers.abandonment(); !fault.empty())
    job.fail(Status::unavailable(fault), out);
}

void Liveness::leave(const Frame &frame, Outbox &out) {
  const uint32_t rank = frame.head.trainer;
  if (trainers.hasLeft(rank))
    return;
  const std::string failure = frame.payload.toString();
  trainers.leave(rank, failure);
  admission.forgetParts(rank);
  if (!job.isRunning())
    return;
  if (!failure.empty()) {
    const std::string who = trainerName(rank) + " failed: ";
    // A trainer that reports a lost server always ends the job. Otherwise the
    // job waits for a restart, unless all trainers have failed or this one
    // cannot be restarted.
    if (frame.note.toString() == noteOfLostServer)
      job.fail(Status::unavailable(who + failure), out);
    else if (!waitsForLost() || trainers.allFailed() || cannotRestart(rank))
      job.lose(failureOf(frame, who), out);
  } else if (const RoundMembers *round = rounds.thatWaitsFor(rank)) {
    job.fail(Status::failedPrecondition(
                 trainerName(rank) + " has left while others wait for its " +
                 nameOf(round->kind()) +
                 ": start all trainers with the same options"),
             out);
  } else if (trainers.allAreDone()) {
    job.finish(out);
  }
}

void Liveness::refuse(uint32_t rank, const Status &why, Outbox &out) {
  trainers.refused(rank, why.message());
  if (!waitsForLost() || trainers.allFailed())
    job.fail(Status(why).withContext(trainerName(rank) + " was refused"), out);
}

bool Liveness::failsByRestart(uint32_t rank, Outbox &out) {
  if (!cannotRestart(rank))
    return false;
  job.fail(
      Status::unavailable(trainerName(rank) +
                          " was started anew in the middle of the job, and" +
                          cannotRejoinMessage),
      out);
  return true;
}

/// Returns text such as ", at most 600 s" if there is a time limit for the
/// trainers `missing` to join. Otherwise returns an empty text.
std::string
Liveness::describeJoinLimit(const std::vector<uint32_t> &missing) const {
  const bool isLimited =
      options.joinLimit > ClockTime(0) &&
      (!waitsForLost() || missing.size() == options.trainers);
  return isLimited ? ", at most " + inSeconds(options.joinLimit) : "";
}

std::string Liveness::describeWait(ClockTime atLeast) const {
  if (!job.isRunning())
    return {};
  if (!job.isOpen())
    return job.progress();
  std::string troubles;
  for (uint32_t rank = 0; rank < options.trainers; ++rank)
    if (const std::string trouble = trainers.troubleOf(rank); !trouble.empty())
      troubles += (troubles.empty() ? "" : "; ") + trouble;
  if (const std::vector<uint32_t> missing = trainers.notJoined();
      !missing.empty())
    return "waiting for " + trainerNames(missing) + " to join (" +
           inSeconds(trainers.sinceStart()) + describeJoinLimit(missing) +
           (troubles.empty() ? "" : "; " + troubles) + ")";
  std::string wait = rounds.describeWait(atLeast, clock.now(), troubles);
  if (wait.empty() && !troubles.empty())
    wait = "waiting: " + troubles;
  if (!troubles.empty() && waitsForLost())
    wait += remedyUnderWait(trainers, options.trainers);
  return wait;
}
