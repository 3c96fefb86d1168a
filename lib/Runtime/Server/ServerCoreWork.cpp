//===- ServerCoreWork.cpp - What a server does with its application -------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Server/ServerCoreState.h"
#include "pdlrt/Protocol/JoinAnswer.h"
#include "pdlrt/Protocol/LifeSign.h"

#include <algorithm>
#include <optional>
#include <utility>

using namespace pdlrt;

//===----------------------------------------------------------------------===//
// Joins
//===----------------------------------------------------------------------===//

/// Of strangers too, who may send many while the application works.
static constexpr size_t mostOpenJoins = 1024;

std::string ServerCore::State::joinFault() const {
  if (job.state == JobState::Failed)
    return job.sentence;
  return job.state == JobState::Finished ? "the job is finished" : "";
}

/// Says that the request has come, and cannot be answered yet.
void ServerCore::State::answerWait(const Envelope &head, std::string sentence,
                                   Responder responder, Outbox &out) {
  out.add(std::move(responder), head, MessageKind::Wait,
          encodeLifeSign({isStopping(), std::move(sentence),
                          ProcessIdentity::ofThisProcess()}));
}

/// Answers what needs no application; the rest is for the executor.
void ServerCore::State::takeJoin(const Frame &frame, Responder responder,
                                 Outbox &out) {
  const Envelope &head = frame.head;
  const auto start = decodeStartSign(frame.note);
  if (!start) {
    out.refuse(std::move(responder), head, start.status().message());
    return;
  }
  {
    const std::lock_guard lock(mutex);
    if (closed)
      return;
    roster.asks(head.trainer, start->process);
    if (const std::string fault = joinFault(); !fault.empty()) {
      roster.told(head.trainer);
      out.refuse(std::move(responder), head, fault);
      return;
    }
    if (!application) {
      answerWait(head, loading, std::move(responder), out);
      return;
    }
    if (isStopping() && !roster.hasJoined(head.trainer)) {
      answerWait(head, "told to stop", std::move(responder), out);
      return;
    }
    if (openJoins.size() >= mostOpenJoins + options.trainers ||
        !openJoins.insert(openJoinOf(head, *start)).second) {
      answerWait(head, "busy with another request", std::move(responder), out);
      return;
    }
  }
  enqueue(head, [frame, start = *start, responder = std::move(responder)](
                    State &self, Outbox &box) mutable {
    self.join(frame, start, std::move(responder), box);
  });
}

void ServerCore::State::join(const Frame &frame, const StartSign &start,
                             Responder responder, Outbox &out) {
  const Envelope &head = frame.head;
  const std::lock_guard applicationLock(applicationMutex);
  {
    const std::lock_guard lock(mutex);
    openJoins.erase(openJoinOf(head, start));
    if (closed)
      return;
  }
  const bool isGreet = head.kind == MessageKind::Greet;
  auto reply = isGreet ? application->greet(head, frame.payload)
                       : application->join(head, frame.payload);
  if (!reply) {
    const std::string &fault = reply.status().message();
    out.refuse(std::move(responder), head, fault);
    // Others need not wait for it; a start that has joined is not touched.
    const std::lock_guard lock(mutex);
    if (roster.hasJoined(head.trainer))
      return;
    if (application->isOfJob(frame.payload)) {
      roster.refused(head.trainer, fault);
      if (!waitsForLost() || roster.allFailed())
        failWith(trainerName(head.trainer) + " was refused: " + fault, out);
    } else if (application->mayBeOfJob(frame.payload)) {
      roster.refusedForeign(head.trainer, fault);
    }
    return;
  }

  const std::lock_guard lock(mutex);
  // The job may have ended meanwhile.
  if (const std::string fault = joinFault(); !fault.empty()) {
    out.refuse(std::move(responder), head, fault);
    return;
  }
  if (JoinVerdict verdict = roster.judge(head, start);
      verdict.what != JoinVerdict::What::LetIn) {
    if (verdict.what == JoinVerdict::What::NotYet) {
      answerWait(head, std::move(verdict.sentence), std::move(responder), out);
      return;
    }
    Envelope answer = head;
    answer.sequence = verdict.isTaken ? sequenceOfTaken : 0;
    out.refuse(std::move(responder), answer, verdict.sentence);
    return;
  }
  // All servers are greeted, so that all of them fail the job.
  if (roster.isAnother(head, start) && cannotComeBack(head.trainer) &&
      !(isGreet && roster.isDone(head.trainer))) {
    failWith(trainerName(head.trainer) +
                 " was started anew in the middle of the job, and" +
                 thatCannotComeBack,
             out);
    out.refuse(std::move(responder), head, job.sentence);
    return;
  }
  if (isGreet) {
    roster.greeted(head.trainer);
    Envelope answer = head;
    answer.sequence = roster.nextIncarnation(head.trainer);
    out.add(std::move(responder), answer, MessageKind::Answer, *reply,
            encodeJoinAnswer({ProcessIdentity::ofThisProcess(),
                              options.jobId,
                              roster.isDone(head.trainer),
                              {}}));
    return;
  }
  const auto next = guard.join(head);
  if (!next) {
    out.refuse(std::move(responder), head, next.status().message());
    return;
  }
  if (roster.join(head, start)) {
    parts.forgetTrainer(head.trainer);
    // Requests of the earlier start stay in their round; nobody waits there.
    for (auto &[key, copies] : waiting)
      if (key.first == head.trainer)
        for (Waiting &copy : std::exchange(copies, {}))
          out.refuse(std::move(copy.responder), roster.fenceHead(copy.head),
                     roster.fenceFault(copy.head));
  }
  roster.heard(head.trainer);
  Envelope answer = head;
  answer.sequence = *next;
  out.add(
      std::move(responder), answer, MessageKind::Answer, *reply,
      encodeJoinAnswer({ProcessIdentity::ofThisProcess(), options.jobId,
                        /*earlierStartIsDone=*/false, guard.notesOf(head)}));
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

/// Keeps the answer and sends it to all copies.
void ServerCore::State::answerSender(const Envelope &head, MessageKind kind,
                                     const Message &payload, Outbox &out) {
  if (job.state == JobState::Failed)
    return;
  guard.answered(head, payload, kind);
  for (Waiting &copy : std::exchange(waiting[keyOf(head)], {}))
    out.add(std::move(copy.responder), copy.head, kind, payload);
}

void ServerCore::State::work(Frame frame, Outbox &out) {
  const Envelope head = frame.head;
  const std::lock_guard applicationLock(applicationMutex);
  {
    const std::lock_guard lock(mutex);
    if (closed || job.state != JobState::Running)
      return;
  }
  const Expected<StepFacts> facts = application->check(head, frame.payload);
  if (!facts) {
    const std::lock_guard lock(mutex);
    // Who sent it did nothing wrong, and others need not wait.
    if (facts.status().code() == PDL_OUT_OF_MEMORY)
      failWith(facts.status().message(), out);
    else
      answerSender(head, MessageKind::Refusal,
                   Message::ofString(facts.status().message()), out);
    return;
  }
  if (!isOfSteps(head.kind)) {
    const Expected<Message> payload =
        application->handle(head, std::move(frame.payload));
    const std::lock_guard lock(mutex);
    if (payload)
      answerSender(head, MessageKind::Answer, *payload, out);
    else
      failWith(payload.status().message(), out);
    return;
  }
  if (!application->roundPolicy().formsRounds(head.kind, *facts))
    workAlone(std::move(frame), *facts, out);
  else if (head.worker == 0)
    workInRound(std::move(frame), *facts, out);
  else {
    const std::lock_guard lock(mutex);
    answerSender(
        head, MessageKind::Refusal,
        Message::ofString("worker " + std::to_string(head.worker) + " of " +
                          trainerName(head.trainer) + " sends its " +
                          nameOf(head.kind) +
                          " by itself, but one is due for the whole trainer"),
        out);
  }
}

/// Of a request of a step that has passed its check.
void ServerCore::State::noteProgress(const Envelope &head,
                                     const StepFacts &facts) {
  if (head.kind != MessageKind::Exchange)
    return;
  progress.note(head, facts);
  const std::lock_guard lock(mutex);
  steps.noteProgress(progress);
}

void ServerCore::State::workAlone(Frame frame, const StepFacts &facts,
                                  Outbox &out) {
  const Envelope head = frame.head;
  if (!take(head, std::move(frame.payload), Turn::Alone, out))
    return;
  held.push_back({head, facts.contributes});
  noteProgress(head, facts);
  answerHeld(out);
  // Who rests is not waited for.
  closeIfComplete(steps, out);
}

void ServerCore::State::workInRound(Frame frame, const StepFacts &facts,
                                    Outbox &out) {
  const Envelope head = frame.head;
  const RoundPolicy &policy = application->roundPolicy();
  OpenRound &round = roundOf(head.kind);
  bool hasMissed = false;
  Turn turn = Turn::InRound;
  {
    const std::lock_guard lock(mutex);
    if (round.isOpen() && round.kind() != head.kind) {
      answerSender(
          head, MessageKind::Refusal,
          Message::ofString(trainerName(head.trainer) + " sends its " +
                            nameOf(head.kind) + " while " +
                            trainerName(round.first()) + " waits with its " +
                            nameOf(round.kind()) +
                            ": start all trainers with the same options"),
          out);
      return;
    }
    if (const auto other = roster.firstThatIsDone()) {
      failWith(trainerName(*other) + " has left, but " +
                   trainerName(head.trainer) + " goes on with its " +
                   nameOf(head.kind) +
                   ": start all trainers with the same options",
               out);
      return;
    }
    hasMissed = !policy.waitsForAll(head.kind) && round.hasMissed(head.trainer);
    if (hasMissed && round.isLate(head.trainer))
      turn = policy.late() == LateGradients::Drop ? Turn::Dropped : Turn::Late;
    if (!hasMissed)
      round.enter(head.kind, head.trainer, clock.now());
    else if (turn != Turn::Dropped)
      round.enterAnswered(head.kind, clock.now());
  }
  noteProgress(head, facts);
  if (hasMissed) {
    if (take(head, std::move(frame.payload), turn, out))
      answer({head}, out);
  } else {
    round.keep(std::move(frame));
    // Who has come to the sums is in no step until all have. What was late
    // counts before they go on.
    if (head.kind == MessageKind::Reduce) {
      progress.rest(head.trainer);
      {
        const std::lock_guard lock(mutex);
        steps.noteProgress(progress);
      }
      answerHeld(out);
      closeIfComplete(steps, out);
    }
    closeIfComplete(round, out);
  }
  // Who rests is not waited for.
  closeIfComplete(steps, out);
}

/// Whether it went well; else the job has failed.
bool ServerCore::State::take(const Envelope &head, Message payload, Turn turn,
                             Outbox &out) {
  const Status status = application->take(head, std::move(payload), turn);
  if (status.ok())
    return true;
  const std::lock_guard lock(mutex);
  failWith(status.message(), out);
  return false;
}

/// Takes up what can be taken of a round. Where it is complete its requests are
/// answered, and it ends where it is full too.
void ServerCore::State::closeIfComplete(OpenRound &round, Outbox &out) {
  const RoundPolicy &policy = application->roundPolicy();
  MessageKind kind;
  bool isComplete = false, isFull = false;
  {
    const std::lock_guard lock(mutex);
    if (!round.isOpen() || job.state != JobState::Running)
      return;
    kind = round.kind();
    isComplete = round.isComplete(policy);
    isFull = round.isFull(policy);
  }
  Status status;
  if (isComplete || policy.waitsForAll(kind))
    status = round.takeInOrder(isComplete, [&](Frame &due) {
      return application->take(due.head, std::move(due.payload), Turn::InRound);
    });
  if (status.ok() && isComplete && isFull)
    status = application->closeRound(kind);
  if (!status.ok()) {
    const std::lock_guard lock(mutex);
    failWith(status.message(), out);
  }
  if (!status.ok() || !isComplete)
    return;
  const std::vector<Envelope> heads = round.releaseFrames();
  if (kind == MessageKind::Reduce)
    progress.meet();
  {
    const std::lock_guard lock(mutex);
    if (isFull)
      round.close();
    else
      round.pause();
    steps.noteProgress(progress);
    // Nobody is late for what follows a meeting.
    if (kind == MessageKind::Reduce)
      for (uint32_t rank = 0; rank < options.trainers; ++rank)
        steps.noteAnswer(rank);
  }
  // There are none in a round of late gradients alone.
  if (!heads.empty())
    answer(heads, out);
}

/// Answers requests that were taken.
void ServerCore::State::answer(const std::vector<Envelope> &heads,
                               Outbox &out) {
  const Expected<std::vector<Message>> answers = application->answer(heads);
  const std::lock_guard lock(mutex);
  if (!answers) {
    failWith(answers.status().message(), out);
    return;
  }
  if (answers->size() != heads.size()) {
    failWith("the server gave " + std::to_string(answers->size()) +
                 " answers to " + std::to_string(heads.size()) +
                 " requests: this is a fault of PDL, please report it",
             out);
    return;
  }
  for (size_t i = 0; i < heads.size(); ++i) {
    roundOf(heads[i].kind).noteAnswer(heads[i].trainer);
    answerSender(heads[i], MessageKind::Answer, (*answers)[i], out);
  }
}

void ServerCore::State::countStaleness(const Envelope &head) {
  constexpr int64_t most = 64;
  const int64_t steps = progress.stepsOf(head);
  const int64_t slowest = progress.slowest().value_or(steps);
  const auto place = size_t(std::clamp<int64_t>(steps - slowest, 0, most));
  ahead.resize(most + 1);
  ++ahead[place];
}

/// Answers those that were held back and need not be any more.
void ServerCore::State::answerHeld(Outbox &out) {
  const RoundPolicy &policy = application->roundPolicy();
  std::vector<Envelope> due;
  for (const Held &each : std::exchange(held, {})) {
    if (!policy.isAnswered(progress, each.head)) {
      held.push_back(each);
      continue;
    }
    due.push_back(each.head);
    if (each.endsStep)
      countStaleness(each.head);
  }
  {
    const std::lock_guard lock(mutex);
    if (!held.empty() && slowTrainers.empty())
      heldSince = clock.now();
    slowTrainers =
        held.empty() ? std::vector<uint32_t>() : progress.slowestTrainers();
  }
  if (!due.empty())
    answer(due, out);
}
