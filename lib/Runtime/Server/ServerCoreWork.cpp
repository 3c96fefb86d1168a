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
      answerWait(head, progress, std::move(responder), out);
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
    if (verdict.what == JoinVerdict::What::NotYet)
      answerWait(head, std::move(verdict.sentence), std::move(responder), out);
    else
      out.refuse(std::move(responder), head, verdict.sentence);
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
    // Requests of the earlier start stay in their round; nobody waits there.
    for (auto &[key, copies] : waiting)
      if (key.first == head.trainer)
        for (Waiting &copy : std::exchange(copies, {}))
          out.refuse(std::move(copy.responder), copy.head,
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
  const bool formsRound = application->formsRounds(head.kind);
  std::string fault;
  const Status status = application->check(head, frame.payload);
  if (status.code() == PDL_OUT_OF_MEMORY) {
    // Who sent it did nothing wrong, and others need not wait.
    const std::lock_guard lock(mutex);
    failWith(status.message(), out);
    return;
  }
  if (!status.ok())
    fault = status.message();
  else if (formsRound && head.worker != 0)
    fault = "worker " + std::to_string(head.worker) + " of " +
            trainerName(head.trainer) + " sends its " + nameOf(head.kind) +
            " by itself, but one is due for the whole trainer";
  if (!fault.empty()) {
    const std::lock_guard lock(mutex);
    answerSender(head, MessageKind::Refusal, Message::ofString(fault), out);
  } else if (formsRound) {
    workOnRound(std::move(frame), out);
  } else {
    const Expected<Message> payload =
        application->handle(head, std::move(frame.payload));
    const std::lock_guard lock(mutex);
    if (payload)
      answerSender(head, MessageKind::Answer, *payload, out);
    else
      failWith(payload.status().message(), out);
  }
}

void ServerCore::State::workOnRound(Frame frame, Outbox &out) {
  const MessageKind kind = frame.head.kind;
  const uint32_t rank = frame.head.trainer;
  const RoundPolicy &policy = application->roundPolicy();
  bool isComplete = false;
  {
    const std::lock_guard lock(mutex);
    if (round.isOpen() && round.kind() != kind) {
      answerSender(
          frame.head, MessageKind::Refusal,
          Message::ofString(trainerName(rank) + " sends its " + nameOf(kind) +
                            " while " + trainerName(round.first()) +
                            " waits with its " + nameOf(round.kind()) +
                            ": start all trainers with the same options"),
          out);
      return;
    }
    if (const auto other = roster.firstThatIsDone()) {
      failWith(trainerName(*other) + " has left, but " + trainerName(rank) +
                   " goes on with its " + nameOf(kind) +
                   ": start all trainers with the same options",
               out);
      return;
    }
    round.enter(kind, rank, clock.now());
    isComplete = round.isComplete(policy);
  }

  round.keep(std::move(frame));
  round.takeInOrder(isComplete, [&](Frame &due) {
    application->contribute(due.head, std::move(due.payload));
  });
  if (!isComplete)
    return;
  Expected<std::vector<Message>> finished = application->closeRound(kind);
  const std::vector<std::optional<Frame>> requests = round.releaseFrames();

  const std::lock_guard lock(mutex);
  const RoundContent content = round.close();
  if (!finished) {
    failWith(finished.status().message(), out);
    return;
  }
  const std::vector<Message> &answers = *finished;
  if (answers.size() != options.trainers) {
    failWith("the server's " + std::string(nameOf(kind)) + " gave " +
                 std::to_string(answers.size()) + " answers for " +
                 std::to_string(options.trainers) +
                 " trainers: this is a fault of PDL, please report it",
             out);
    return;
  }
  for (uint32_t each = 0; each < options.trainers; ++each)
    if (requests[each] && policy.isAnswered(content, each))
      answerSender(requests[each]->head, MessageKind::Answer, answers[each],
                   out);
}
