//===- RoundCoordinator.cpp - Requests that the application handles -------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Server/RoundCoordinator.h"

#include <algorithm>
#include <cstdint>
#include <new>
#include <utility>

using namespace pdlrt;

void RoundCoordinator::handle(Frame frame, Outbox &out) {
  const Envelope head = frame.head;
  const MutexLock applicationLock(core.applicationMutex);
  {
    const MutexLock lock(core.mutex);
    if (core.closed || !core.job.isRunning())
      return;
  }
  const Expected<StepFacts> facts =
      core.application->check(head, frame.payload);
  if (!facts) {
    // The request is correct, so its sender is not refused. The job fails
    // instead, so that the other trainers do not wait for this one.
    if (facts.status().code() == PDL_OUT_OF_MEMORY) {
      const MutexLock lock(core.mutex);
      core.job.fail(facts.status(), out);
    } else {
      refuse(head, facts.status().message(), out);
    }
    return;
  }
  if (!isOfSteps(head.kind))
    handleOther(std::move(frame), out);
  else if (!policy().formsRounds(head.kind, *facts))
    handleAlone(std::move(frame), *facts, out);
  else if (head.worker == 0)
    handleInRound(std::move(frame), *facts, out);
  else
    refuse(head,
           "worker " + std::to_string(head.worker) + " of " +
               trainerName(head.trainer) + " sends its " + nameOf(head.kind) +
               " by itself, but one of the whole trainer is expected",
           out);
}

void RoundCoordinator::refuse(const Envelope &head, const std::string &why,
                              Outbox &out) {
  const MutexLock lock(core.mutex);
  core.respond(head, MessageKind::Refusal, Message::ofString(why), out);
}

/// Handles a request that is not part of a step.
void RoundCoordinator::handleOther(Frame frame, Outbox &out) {
  const Expected<Message> payload =
      core.application->handle(frame.head, std::move(frame.payload));
  const MutexLock lock(core.mutex);
  if (payload)
    core.respond(frame.head, MessageKind::Response, *payload, out);
  else
    core.job.fail(payload.status(), out);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Records a step request that has passed its check.
void RoundCoordinator::noteProgress(const Envelope &head,
                                    const StepFacts &facts) {
  if (head.kind != MessageKind::Exchange)
    return;
  progress.note(head, facts);
  shareProgress();
}

/// Passes the progress of the trainers to the round of steps.
void RoundCoordinator::shareProgress() {
  const MutexLock lock(core.mutex);
  core.rounds[StepRound].noteProgress(progress);
}

void RoundCoordinator::handleAlone(Frame frame, const StepFacts &facts,
                                   Outbox &out) {
  const Envelope head = frame.head;
  if (!take(head, std::move(frame.payload), Turn::Alone, out))
    return;
  held.push_back({head, facts.contributes});
  noteProgress(head, facts);
  respondToHeld(out);
  // The round may have been waiting for a trainer that now rests
  // (`StepProgress`).
  closeIfComplete(StepRound, out);
}

/// Adds a request to its round. Returns nothing if the request was refused, or
/// if the job has failed because of it.
std::optional<RoundCoordinator::Entry>
RoundCoordinator::enter(const Envelope &head, RoundIndex index, Outbox &out) {
  const MutexLock lock(core.mutex);
  RoundMembers &round = core.rounds[index];
  if (round.isOpen() && round.kind() != head.kind) {
    core.respond(
        head, MessageKind::Refusal,
        Message::ofString(trainerName(head.trainer) + " sends its " +
                          nameOf(head.kind) + " while " +
                          trainerName(round.first()) + " waits with its " +
                          nameOf(round.kind()) +
                          ": start all trainers with the same options"),
        out);
    return std::nullopt;
  }
  if (const auto other = core.liveness.roster().firstThatIsDone()) {
    core.job.fail(Status::failedPrecondition(
                      trainerName(*other) + " has left, but " +
                      trainerName(head.trainer) + " goes on with its " +
                      nameOf(head.kind) +
                      ": start all trainers with the same options"),
                  out);
    return std::nullopt;
  }
  Entry entry;
  entry.hasMissed =
      !policy().waitsForAll(head.kind) && round.hasMissed(head.trainer);
  if (entry.hasMissed && round.isLate(head.trainer))
    entry.turn =
        policy().late() == LateGradients::Drop ? Turn::Dropped : Turn::Late;
  if (!entry.hasMissed)
    round.enter(head.kind, head.trainer, core.clock.now());
  else if (entry.turn != Turn::Dropped)
    round.enterResponded(head.kind, core.clock.now());
  return entry;
}

void RoundCoordinator::handleInRound(Frame frame, const StepFacts &facts,
                                     Outbox &out) {
  const Envelope head = frame.head;
  const RoundIndex index = roundOf(head.kind, policy());
  const std::optional<Entry> entry = enter(head, index, out);
  if (!entry)
    return;
  noteProgress(head, facts);
  if (entry->hasMissed) {
    if (take(head, std::move(frame.payload), entry->turn, out))
      respond({head}, out);
  } else {
    requests[index].keep(std::move(frame));
    // A trainer that waits in the round of sums takes part in no round of steps
    // until all trainers have arrived. Its late gradients are applied before
    // steps continue.
    if (head.kind == MessageKind::Reduce) {
      progress.rest(head.trainer);
      shareProgress();
      respondToHeld(out);
      closeIfComplete(StepRound, out);
    }
    closeIfComplete(index, out);
  }
  // The round may have been waiting for a trainer that now rests
  // (`StepProgress`).
  closeIfComplete(StepRound, out);
}

/// Returns true on success; otherwise the job has failed.
bool RoundCoordinator::take(const Envelope &head, Message payload, Turn turn,
                            Outbox &out) {
  const Status status = core.application->take(head, std::move(payload), turn);
  if (status.ok())
    return true;
  const MutexLock lock(core.mutex);
  core.job.fail(status, out);
  return false;
}

//===----------------------------------------------------------------------===//
// Rounds
//===----------------------------------------------------------------------===//

/// Takes those requests of an open round that can be taken now. If the round is
/// complete, closes it if it is full, otherwise pauses it, and then responds to
/// all of its requests. An error of the application fails the job.
void RoundCoordinator::closeIfComplete(RoundIndex index, Outbox &out) {
  ServerApplication &application = *core.application;
  const RoundPolicy &policy = application.roundPolicy();
  MessageKind kind;
  bool isComplete = false, isFull = false;
  {
    const MutexLock lock(core.mutex);
    const RoundMembers &round = core.rounds[index];
    if (!round.isOpen() || !core.job.isRunning())
      return;
    kind = round.kind();
    isComplete = round.isComplete(policy);
    isFull = round.isFull(policy);
  }
  Status status;
  if (isComplete || policy.waitsForAll(kind))
    status = requests[index].takeInOrder(isComplete, [&](Frame &due) {
      return application.take(due.head, std::move(due.payload), Turn::InRound);
    });
  if (status.ok() && isComplete && isFull)
    status = application.closeRound(kind);
  if (!status.ok()) {
    const MutexLock lock(core.mutex);
    core.job.fail(status, out);
  }
  if (!status.ok() || !isComplete)
    return;
  const std::vector<Envelope> heads = requests[index].release();
  endRound(index, kind, isFull);
  // A round of late gradients only has no requests to respond to.
  if (!heads.empty())
    respond(heads, out);
}

/// Ends a complete round: closes it if it is full, and pauses it otherwise.
void RoundCoordinator::endRound(RoundIndex index, MessageKind kind,
                                bool isFull) {
  if (kind == MessageKind::Reduce)
    progress.meet();
  const MutexLock lock(core.mutex);
  RoundMembers &round = core.rounds[index];
  if (isFull)
    round.close();
  else
    round.pause();
  RoundMembers &steps = core.rounds[StepRound];
  steps.noteProgress(progress);
  // After a round of sums, no trainer is late.
  if (kind == MessageKind::Reduce)
    for (uint32_t rank = 0; rank < core.options.trainers; ++rank)
      steps.noteResponse(rank);
}

/// Applies gradients whose senders got their responses although the round is
/// not closed. Afterwards the state contains all steps that trainers count as
/// done. An error fails the job.
void RoundCoordinator::closeResponded(Outbox &out) {
  {
    const MutexLock lock(core.mutex);
    if (core.closed || !core.rounds[StepRound].hasResponded() ||
        !core.job.isRunning())
      return;
  }
  const Status status = core.application->closeRound(MessageKind::Exchange);
  const MutexLock lock(core.mutex);
  if (status.ok())
    core.rounds[StepRound].closeResponded();
  else
    core.job.fail(status, out);
}

/// Runs the task unless the job has failed: an update may have been interrupted
/// then, and the task must not see such a state.
Status RoundCoordinator::runBetween(const ServerCore::BetweenTask &task,
                                    Outbox &out) {
  const MutexLock applicationLock(core.applicationMutex);
  try {
    closeResponded(out);
  } catch (const std::bad_alloc &error) {
    core.failFor(error, "applied gradients before a save", out);
  }
  std::vector<SenderMark> marks;
  {
    const MutexLock lock(core.mutex);
    if (core.closed || !core.application)
      return Status::unavailable("the server has no state, or ends");
    if (!core.job.isRunning())
      return core.job.hasFailed()
                 ? core.job.endFault().withContext("the job has failed")
                 : core.job.endFault();
    marks = core.admission.marks();
  }
  return task(marks);
}

//===----------------------------------------------------------------------===//
// Responses
//===----------------------------------------------------------------------===//

/// Sends the responses to taken requests.
void RoundCoordinator::respond(const std::vector<Envelope> &heads,
                               Outbox &out) {
  const Expected<std::vector<Message>> responses =
      core.application->respond(heads);
  const RoundPolicy &rules = policy();
  const MutexLock lock(core.mutex);
  if (!responses) {
    core.job.fail(responses.status(), out);
    return;
  }
  if (responses->size() != heads.size()) {
    core.job.fail(Status::internal(
                      "the server gave " + std::to_string(responses->size()) +
                      " answers to " + std::to_string(heads.size()) +
                      " requests: this is a fault of PDL, please report it"),
                  out);
    return;
  }
  for (size_t i = 0; i < heads.size(); ++i) {
    core.rounds[roundOf(heads[i].kind, rules)].noteResponse(heads[i].trainer);
    core.respond(heads[i], MessageKind::Response, (*responses)[i], out);
  }
}

void RoundCoordinator::countStaleness(const Envelope &head) {
  const int64_t steps = progress.stepsOf(head);
  const int64_t slowest = progress.slowest().value_or(steps);
  if (!ahead)
    ahead = addStaleness();
  ahead->observe(double(std::max<int64_t>(steps - slowest, 0)));
}

/// Sends the delayed responses that need not wait any longer.
void RoundCoordinator::respondToHeld(Outbox &out) {
  std::vector<Envelope> due;
  for (const Held &each : std::exchange(held, {})) {
    if (!policy().isRespondedTo(progress, each.head)) {
      held.push_back(each);
      continue;
    }
    due.push_back(each.head);
    if (each.endsStep)
      countStaleness(each.head);
  }
  {
    const MutexLock lock(core.mutex);
    core.rounds.noteSlowest(held.empty() ? std::vector<uint32_t>()
                                         : progress.slowestTrainers(),
                            core.clock.now());
  }
  if (!due.empty())
    respond(due, out);
}

StalenessCounts RoundCoordinator::staleness() {
  const MutexLock applicationLock(core.applicationMutex);
  return ahead ? ahead->counts() : StalenessCounts();
}
