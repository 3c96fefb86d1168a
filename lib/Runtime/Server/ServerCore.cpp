//===- ServerCore.cpp - The protocol of a server --------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Server/ServerCore.h"

#include "Server/ServerCoreState.h"
#include "pdlrt/Core/OutOfMemory.h"
#include "pdlrt/Protocol/LifeSign.h"

#include <new>
#include <utility>

using namespace pdlrt;

/// Copies of one open request that are held; attempts before have timed out.
static constexpr size_t heldCopies = 16;

/// What a handshake and a start's sign need, and what a sentence does.
static constexpr uint64_t largestJoin = 8192, largestSentence = 1 << 17;

template <typename Step>
void ServerCore::State::withMemory(Outbox &out, const std::string &did,
                                   Step step) {
  try {
    step();
  } catch (const std::bad_alloc &error) {
    const std::lock_guard lock(mutex);
    failWith("a server is " + describeOutOfMemory(error, did) +
                 "; use more servers, or machines with more memory",
             out);
  }
}

static std::string workOn(const Envelope &head) {
  return "worked on the " + std::string(nameOf(head.kind)) + " of " +
         trainerName(head.trainer);
}

void ServerCore::State::handle(const Message &request, Responder responder) {
  if (const auto head = readHead(request); head && isOfReaders(head->kind)) {
    handleReader(*head, request, std::move(responder));
    return;
  }
  const Handling handling(shared_from_this());
  Outbox out;
  withMemory(out, "took a request",
             [&] { take(request, std::move(responder), out); });
  out.send();
}

ServerCore::State::Handling::Handling(std::shared_ptr<State> of)
    : state(std::move(of)) {
  const std::lock_guard lock(state->mutex);
  ++state->handlers;
}

ServerCore::State::Handling::~Handling() {
  const std::lock_guard lock(state->mutex);
  if (--state->handlers == 0 && state->job.state != JobState::Running)
    state->changed.notify_all();
}

void ServerCore::State::enqueue(
    const Envelope &head, std::function<void(State &self, Outbox &out)> task) {
  executor.run([handling = std::make_shared<Handling>(shared_from_this()), head,
                task = std::move(task)] {
    State &self = *handling->state;
    Outbox out;
    self.withMemory(out, workOn(head), [&] { task(self, out); });
    out.send();
  });
}

void ServerCore::State::take(const Message &request, Responder responder,
                             Outbox &out) {
  auto frame = splitFrame(request);
  if (!frame) {
    out.refuse(std::move(responder), {}, frame.status().message());
    return;
  }
  const Envelope head = frame->head;
  std::string fault = headFault(head);
  if (fault.empty())
    fault = partsFault(*frame);
  if (!fault.empty()) {
    out.refuse(std::move(responder), head, fault);
    return;
  }
  if (asksToJoin(head.kind)) {
    takeJoin(*frame, std::move(responder), out);
    return;
  }
  bool isFresh = false;
  {
    const std::lock_guard lock(mutex);
    if (closed)
      return;
    if (const std::string fence = fenceFault(head); !fence.empty()) {
      out.refuse(std::move(responder), roster.fenceHead(head), fence);
      return;
    }
    roster.heard(head.trainer);
    if (head.kind == MessageKind::Leave)
      leave(*frame, std::move(responder), out);
    else if (job.state == JobState::Failed)
      out.refuse(std::move(responder), head, job.sentence);
    else if (head.kind == MessageKind::Beat)
      beat(*frame, std::move(responder), out);
    else if (head.kind == MessageKind::Ask)
      answerAsked(head, std::move(responder), out);
    else if (head.kind == MessageKind::Part)
      isFresh = takePart(*frame, std::move(responder), out);
    else
      isFresh = admit(*frame, std::move(responder), out);
  }
  if (!isFresh)
    return;
  // Of a part, the request that it was the last one of.
  const Envelope due = frame->head;
  enqueue(due, [frame = std::move(*frame)](State &self, Outbox &box) mutable {
    self.work(std::move(frame), box);
  });
}

std::optional<Message> ServerCore::State::screen(const Message &front,
                                                 uint64_t size) const {
  const auto refusal = [](Envelope head, const std::string &sentence) {
    head.kind = MessageKind::Refusal;
    return joinFrame(head, Message::ofString(sentence));
  };
  const auto head = readHead(front);
  if (!head)
    return refusal({}, head.status().message());
  if (isOfReaders(head->kind))
    return screenReader(*head, size);
  if (const std::string fault = headFault(*head); !fault.empty())
    return refusal(*head, fault);
  if (const std::string fault = sizeFault(*head, size); !fault.empty())
    return refusal(*head, fault);
  if (asksToJoin(head->kind))
    return std::nullopt;
  const std::lock_guard lock(mutex);
  if (const std::string fault = fenceFault(*head); !fault.empty())
    return refusal(roster.fenceHead(*head), fault);
  if (job.state == JobState::Failed && head->kind != MessageKind::Leave)
    return refusal(*head, job.sentence);
  return std::nullopt;
}

/// Only who has joined may send much, and that only to work on.
std::string ServerCore::State::sizeFault(const Envelope &head,
                                         uint64_t size) const {
  if (head.kind == MessageKind::Part)
    return parts.sizeFault(size);
  uint64_t largest = UINT64_MAX;
  if (asksToJoin(head.kind) || head.kind == MessageKind::Ask)
    largest = largestJoin;
  else if (head.kind == MessageKind::Beat || head.kind == MessageKind::Leave)
    largest = largestSentence;
  if (size <= largest)
    return {};
  return "the " + std::string(nameOf(head.kind)) + " of " +
         trainerName(head.trainer) + " has " + std::to_string(size) +
         " bytes, more than the " + std::to_string(largest) +
         " that one may have: is the path of --checkpoint or the name of --job "
         "so long?";
}

/// Why a request is refused that is not of a start that has joined.
std::string ServerCore::State::fenceFault(const Envelope &head) const {
  if (std::string fence = roster.fenceFault(head); !fence.empty())
    return fence;
  if (head.sequence > 0 && guard.look(head) == ReplayGuard::Verdict::Unknown)
    return "worker " + std::to_string(head.worker) + " of " +
           trainerName(head.trainer) +
           " sends before its join: this is a fault of PDL, please report it";
  return {};
}

std::string ServerCore::State::headFault(const Envelope &head) const {
  if (head.kind >= MessageKind::Answer)
    return std::string("a server takes requests, not responses such as this ") +
           nameOf(head.kind);
  if (head.trainer >= options.trainers)
    return trainerName(head.trainer) + " is not of this job, which has " +
           std::to_string(options.trainers) +
           " trainers with ranks from 0 on: start trainers and servers with "
           "the same number";
  if (head.worker > options.workersOfTrainer)
    return "worker " + std::to_string(head.worker) + " of " +
           trainerName(head.trainer) + " is not of this job, in which " +
           std::to_string(options.workersOfTrainer) +
           " workers of a trainer send by themselves";
  if (head.epoch != options.epoch)
    return trainerName(head.trainer) + " uses epoch " +
           std::to_string(head.epoch) + " of the map, this server epoch " +
           std::to_string(options.epoch) +
           ": start both from one list of servers";
  return {};
}

/// Why a request is refused that is a part, or has some.
std::string ServerCore::State::partsFault(const Frame &frame) const {
  const Envelope &head = frame.head;
  if (frame.parts.empty() && head.kind != MessageKind::Part)
    return {};
  if (std::string fault = parts.sizeFault(0); !fault.empty())
    return fault;
  if (!frame.parts.empty() && head.kind != MessageKind::Exchange)
    return "the " + std::string(nameOf(head.kind)) + " of " +
           trainerName(head.trainer) +
           " comes in parts, as only exchanges do: this is a fault of PDL, "
           "please report it";
  // Where workers send by themselves, no gradients leave early.
  if (head.worker != 0)
    return "worker " + std::to_string(head.worker) + " of " +
           trainerName(head.trainer) +
           " sends a request in parts, as only trainers as a whole do: this is "
           "a fault of PDL, please report it";
  return {};
}

void ServerCore::State::beat(const Frame &frame, Responder responder,
                             Outbox &out) {
  const auto sign = decodeLifeSign(frame.payload);
  if (!sign) {
    out.refuse(std::move(responder), frame.head, sign.status().message());
    return;
  }
  roster.sentBy(frame.head.trainer, sign->process);
  if (sign->stop)
    beginStop(out);
  if (job.state == JobState::Failed)
    out.refuse(std::move(responder), frame.head, job.sentence);
  else
    out.add(std::move(responder), frame.head, MessageKind::Answer,
            encodeLifeSign({isStopping(), waitingSentence(),
                            ProcessIdentity::ofThisProcess()}));
}

/// Whether all parts of a new request have come: then they are in it. One of
/// which some are missing waits for them.
bool ServerCore::State::isWhole(Frame &frame, Outbox &out) {
  const Envelope head = frame.head;
  const Expected<bool> whole = parts.putTogether(frame);
  if (whole && !*whole)
    parts.wait(std::move(frame));
  if (whole)
    return *whole;
  parts.forget(head);
  for (Waiting &copy : std::exchange(waiting[keyOf(head)], {}))
    out.refuse(std::move(copy.responder), copy.head, whole.status().message());
  return false;
}

/// Bytes of a request that comes, or has come; true where that is now whole: it
/// is then `frame`, and is worked on.
bool ServerCore::State::takePart(Frame &frame, Responder responder,
                                 Outbox &out) {
  const Envelope head = frame.head;
  std::string fault = parts.sizeFault(envelopeSize + frame.payload.size());
  if (roster.hasLeft(head.trainer))
    fault = trainerName(head.trainer) + " has left this job";
  const ReplayGuard::Verdict verdict = guard.look(head);
  if (fault.empty() && verdict == ReplayGuard::Verdict::Gap) {
    sort(head, verdict, std::move(responder), out);
    return false;
  }
  const bool isNew = verdict == ReplayGuard::Verdict::Fresh;
  if (fault.empty() && isNew)
    fault = parts.add(head, frame.payload).message();
  if (!fault.empty()) {
    out.refuse(std::move(responder), head, fault);
    return false;
  }
  out.add(std::move(responder), head, MessageKind::Answer, {});
  if (!isNew)
    return false;
  std::optional<Frame> request = parts.takeWaiting(head);
  if (!request)
    return false;
  frame = std::move(*request);
  if (!isWhole(frame, out))
    return false;
  guard.admit(frame.head, frame.note);
  return true;
}

/// Sorts out copies; true for a new request, which is then worked on.
bool ServerCore::State::admit(Frame &frame, Responder responder, Outbox &out) {
  const Envelope head = frame.head;
  if (roster.hasLeft(head.trainer)) {
    out.refuse(std::move(responder), head,
               trainerName(head.trainer) + " has left this job");
    return false;
  }
  const ReplayGuard::Verdict verdict = guard.look(head);
  if (verdict != ReplayGuard::Verdict::Fresh) {
    sort(head, verdict, std::move(responder), out);
    return false;
  }
  hold(head, std::move(responder), out);
  if (frame.parts.empty())
    parts.forget(head);
  else if (!isWhole(frame, out))
    return false;
  guard.admit(head, frame.note);
  return true;
}

/// Keeps a way back to a sender until there is an answer.
void ServerCore::State::hold(const Envelope &head, Responder responder,
                             Outbox &out) {
  std::deque<Waiting> &copies = waiting[keyOf(head)];
  copies.push_back({head, std::move(responder)});
  if (copies.size() > heldCopies) {
    out.drop(std::move(copies.front().responder));
    copies.pop_front();
  }
}

/// An ask counts for nothing: it waits for the answer, or gets it, or hears
/// that the request has not come.
void ServerCore::State::answerAsked(const Envelope &head, Responder responder,
                                    Outbox &out) {
  const ReplayGuard::Verdict verdict = guard.look(head);
  if (verdict == ReplayGuard::Verdict::Fresh)
    answerWait(head, "the request has not come", std::move(responder), out);
  else
    sort(head, verdict, std::move(responder), out);
}

/// What is not new.
void ServerCore::State::sort(const Envelope &head, ReplayGuard::Verdict verdict,
                             Responder responder, Outbox &out) {
  switch (verdict) {
  case ReplayGuard::Verdict::Pending:
    hold(head, std::move(responder), out);
    return;
  case ReplayGuard::Verdict::Repeat: {
    const ReplayGuard::StoredAnswer &answer = guard.answerTo(head);
    out.add(std::move(responder), head, answer.kind, answer.payload);
    return;
  }
  case ReplayGuard::Verdict::Gap:
    out.refuse(std::move(responder), head,
               trainerName(head.trainer) + " sends request " +
                   std::to_string(head.sequence) +
                   " out of turn: this is a fault of PDL, please report it");
    return;
  // Its sender has the answer.
  case ReplayGuard::Verdict::Stale:
  // Looked at before.
  case ReplayGuard::Verdict::Fresh:
  case ReplayGuard::Verdict::Fenced:
  case ReplayGuard::Verdict::Unknown:
    out.drop(std::move(responder));
    return;
  }
}

/// The open round that waits for that trainer; null: none.
const OpenRound *ServerCore::State::roundThatWaitsFor(uint32_t trainer) const {
  for (const OpenRound *round : {&steps, &sums})
    if (application && round->waitsFor(application->roundPolicy(), trainer))
      return round;
  return nullptr;
}

void ServerCore::State::leave(const Frame &frame, Responder responder,
                              Outbox &out) {
  const Envelope &head = frame.head;
  out.add(std::move(responder), head, MessageKind::Answer, {});
  // A worker that ends says nothing of its process.
  if (roster.hasLeft(head.trainer) || head.worker != 0)
    return;
  const std::string failure = frame.payload.toString();
  roster.leave(head.trainer, failure);
  parts.forgetTrainer(head.trainer);
  if (job.state != JobState::Running)
    return;
  if (!failure.empty()) {
    // Where all have failed, nobody is there to wait.
    if (!waitsForLost() || roster.allFailed() || cannotComeBack(head.trainer) ||
        frame.note.toString() == noteOfLostServer)
      failWith(trainerName(head.trainer) + " failed: " + failure, out);
  } else if (const OpenRound *round = roundThatWaitsFor(head.trainer)) {
    failWith(trainerName(head.trainer) +
                 " has left while others wait for its " +
                 nameOf(round->kind()) +
                 ": start all trainers with the same options",
             out);
  } else if (roster.allAreDone()) {
    endWith(JobState::Finished, {}, out);
  }
}

//===----------------------------------------------------------------------===//
// ServerCore
//===----------------------------------------------------------------------===//

/// Of all cores whose application is called by the threads that bring requests:
/// the application's lock keeps these apart.
static InlineExecutor inlineExecutor;

ServerCore::ServerCore(const ServerCoreOptions &options, Clock &clock,
                       Executor &executor)
    : state(std::make_shared<State>(options, clock, executor)) {
  state->startWatching();
}
ServerCore::ServerCore(const ServerCoreOptions &options,
                       ServerApplication &application, Clock &clock)
    : ServerCore(options, clock, inlineExecutor) {
  open(application);
}
ServerCore::~ServerCore() { state->close(); }
RequestHandler ServerCore::handler() {
  return {[this](const Message &request, Responder responder) {
            handle(request, std::move(responder));
          },
          [this](const Message &front, uint64_t size) {
            return screen(front, size);
          }};
}
void ServerCore::handle(const Message &request, Responder responder) {
  state->handle(request, std::move(responder));
}
std::optional<Message> ServerCore::screen(const Message &front,
                                          uint64_t size) const {
  return state->screen(front, size);
}
void ServerCore::setProgress(const std::string &sentence) {
  state->setProgress(sentence);
}
void ServerCore::open(ServerApplication &application) {
  state->open(application);
}
void ServerCore::askToStop() { state->askToStop(); }
JobStatus ServerCore::status() const { return state->currentStatus(); }
std::string ServerCore::waitingFor(ClockTime atLeast) const {
  return state->waitingFor(atLeast);
}
StalenessCounts ServerCore::staleness() const { return state->staleness(); }
void ServerCore::fail(const std::string &sentence) { state->fail(sentence); }
void ServerCore::failWithTrainer(uint32_t rank, const std::string &why) {
  state->failWithTrainer(rank, why);
}
void ServerCore::whenOver(std::function<void()> action) {
  state->whenOver(std::move(action));
}
bool ServerCore::waitUntilOver(std::chrono::nanoseconds limit) const {
  return state->waitUntilOver(limit);
}
bool ServerCore::allTold() const { return state->allTold(); }
bool ServerCore::waitUntilTold(std::chrono::nanoseconds limit) const {
  return state->waitUntilTold(limit);
}
