//===- ServerCore.cpp - Protocol of a server ------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Server/ServerCore.h"

#include "Server/JoinService.h"
#include "Server/PeerService.h"
#include "Server/ProtocolState.h"
#include "Server/ReaderService.h"
#include "Server/RequestChecks.h"
#include "Server/RoundCoordinator.h"
#include "pdlrt/Protocol/Heartbeat.h"
#include "pdlrt/Transport/FailureCode.h"

#include <algorithm>
#include <new>
#include <utility>

using namespace pdlrt;

/// Receives the messages of trainers, and passes each message to the service
/// that handles it.
class ServerCore::State final : public ProtocolState {
public:
  using ProtocolState::ProtocolState;

  void handle(const Message &request, Responder responder);
  std::optional<Message> screen(const Message &front, uint64_t size) const;
  void open(ServerApplication &with);
  void close();
  /// Schedules the next check for lost trainers.
  void startWatching();

  /// Calls `change` with the mutex locked, then sends the responses that it
  /// adds.
  template <typename Change> void change(Change change);
  bool waitUntilNotified(std::chrono::nanoseconds limit) const;
  bool isNotified() const PDLRT_REQUIRES(mutex) {
    return !job.isRunning() && handlers == 0 && liveness.allNotified();
  }

  RoundCoordinator coordinator{*this};
  JoinService joins{*this};
  ReaderService readers{*this};
  PeerService peers{*this, coordinator};

private:
  void take(const Message &request, Responder responder, Outbox &out);
  bool admit(Frame &frame, Responder responder, Outbox &out);
  void beat(const Frame &frame, Responder responder, Outbox &out)
      PDLRT_REQUIRES(mutex);
  void leave(const Frame &frame, Responder responder, Outbox &out)
      PDLRT_REQUIRES(mutex);
  void ask(const Envelope &head, Responder responder, Outbox &out)
      PDLRT_REQUIRES(mutex);
  std::string fenceFault(const Envelope &head) const PDLRT_REQUIRES(mutex);
  void watchAt(ClockTime when);
  void watch(ClockTime expected);
};

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

void ServerCore::State::handle(const Message &request, Responder responder) {
  const auto head = readHead(request);
  if (head && isOfReaders(head->kind)) {
    readers.handle(*head, request, std::move(responder));
    return;
  }
  if (head && head->kind == MessageKind::Peer) {
    peers.handle(request, std::move(responder));
    return;
  }
  const Handling handling(shared_from_this());
  Outbox out;
  try {
    take(request, std::move(responder), out);
  } catch (const std::bad_alloc &error) {
    failFor(error, "took a request", out);
  }
  out.send();
}

void ServerCore::State::take(const Message &request, Responder responder,
                             Outbox &out) {
  auto frame = splitFrame(request);
  if (!frame) {
    out.refuse(std::move(responder), {}, frame.status().message());
    return;
  }
  const Envelope head = frame->head;
  std::string fault = headFault(head, options);
  if (fault.empty())
    fault = partsFault(*frame, options);
  if (!fault.empty()) {
    out.refuse(std::move(responder), head, fault);
    return;
  }
  if (requestsJoin(head.kind)) {
    joins.handle(*frame, std::move(responder), out);
    return;
  }
  if (!admit(*frame, std::move(responder), out))
    return;
  // If the frame was the last missing part of a request, `admit` has replaced
  // it by that request.
  const Envelope due = frame->head;
  enqueue(due, [this, frame = std::move(*frame)](Outbox &box) mutable {
    coordinator.handle(std::move(frame), box);
  });
}

/// Handles a message, except for a request that the application must handle. In
/// this case returns true, and sets `frame` to the request.
bool ServerCore::State::admit(Frame &frame, Responder responder, Outbox &out) {
  const Envelope head = frame.head;
  const MutexLock lock(mutex);
  if (closed)
    return false;
  Roster &roster = liveness.roster();
  if (const std::string fence = fenceFault(head); !fence.empty()) {
    out.refuse(std::move(responder), roster.fenceHead(head), fence);
    return false;
  }
  roster.heard(head.trainer);
  if (head.kind == MessageKind::Leave)
    leave(frame, std::move(responder), out);
  else if (job.hasFailed())
    out.refuse(std::move(responder), head, job.status().failure());
  else if (head.kind == MessageKind::Heartbeat)
    beat(frame, std::move(responder), out);
  else if (head.kind == MessageKind::Poll)
    ask(head, std::move(responder), out);
  else if (roster.hasLeft(head.trainer))
    out.refuse(std::move(responder), head,
               trainerName(head.trainer) + " has left this job");
  else if (head.kind == MessageKind::Part)
    return admission.admitPart(frame, std::move(responder), out);
  else
    return admission.admit(frame, std::move(responder), out);
  return false;
}

std::optional<Message> ServerCore::State::screen(const Message &front,
                                                 uint64_t size) const {
  const auto refusal = [](Envelope head, const std::string &message,
                          const Message &code = {}) {
    head.kind = MessageKind::Refusal;
    return joinFrame(head, Message::ofString(message), code);
  };
  const auto head = readHead(front);
  if (!head)
    return refusal({}, head.status().message());
  if (isOfReaders(head->kind))
    return readers.screen(*head, size);
  if (head->kind == MessageKind::Peer) {
    const std::string fault = peers.fault(size);
    return fault.empty() ? std::nullopt : std::optional(refusal(*head, fault));
  }
  if (const std::string fault = headFault(*head, options); !fault.empty())
    return refusal(*head, fault);
  if (const std::string fault = sizeFault(*head, size, options); !fault.empty())
    return refusal(*head, fault);
  if (requestsJoin(head->kind))
    return std::nullopt;
  const MutexLock lock(mutex);
  if (const std::string fault = fenceFault(*head); !fault.empty())
    return refusal(liveness.roster().fenceHead(*head), fault);
  if (job.hasFailed() && head->kind != MessageKind::Leave)
    return refusal(*head, job.status().message,
                   encodeFailureCode(job.status().code));
  return std::nullopt;
}

/// Returns the reason to refuse a request that was not sent by an incarnation
/// that has joined. Returns an empty text for other requests.
std::string ServerCore::State::fenceFault(const Envelope &head) const {
  std::string fence = liveness.roster().fenceFault(head);
  return fence.empty() ? admission.strangerFault(head) : fence;
}

void ServerCore::State::beat(const Frame &frame, Responder responder,
                             Outbox &out) {
  const auto sign = decodeHeartbeat(frame.payload);
  if (!sign) {
    out.refuse(std::move(responder), frame.head, sign.status().message());
    return;
  }
  liveness.roster().sentBy(frame.head.trainer, sign->process);
  if (sign->stop)
    liveness.requestStop(out);
  if (job.hasFailed())
    out.refuse(std::move(responder), frame.head, job.status().failure());
  else
    out.add(std::move(responder), frame.head, MessageKind::Response,
            heartbeat(liveness.describeWait()));
}

void ServerCore::State::ask(const Envelope &head, Responder responder,
                            Outbox &out) {
  if (!admission.admitAsk(head, responder, out))
    respondWait(head, "the request has not come", std::move(responder), out);
}

void ServerCore::State::leave(const Frame &frame, Responder responder,
                              Outbox &out) {
  out.add(std::move(responder), frame.head, MessageKind::Response, {});
  // A process leaves with worker 0. The end of another worker says nothing
  // about its process.
  if (frame.head.worker == 0)
    liveness.leave(frame, out);
}

//===----------------------------------------------------------------------===//
// Start and end
//===----------------------------------------------------------------------===//

void ServerCore::State::open(ServerApplication &with) {
  const MutexLock applicationLock(applicationMutex);
  application = &with;
  const MutexLock lock(mutex);
  rounds.setPolicy(with.roundPolicy());
  job.open();
  liveness.roster().start();
}

void ServerCore::State::close() {
  // Locking waits for the request in progress. This is necessary because the
  // application is destroyed next.
  const MutexLock applicationLock(applicationMutex);
  Admission::Copies dropped;
  {
    const MutexLock lock(mutex);
    closed = true;
    dropped = admission.takeCopies();
    job.forgetAction();
  }
  readers.close();
}

void ServerCore::State::startWatching() {
  const MutexLock lock(mutex);
  watchAt(clock.now() + liveness.roster().watchInterval());
}

void ServerCore::State::watchAt(ClockTime when) {
  clock.runAt(when, [weak = weak_from_this(), when] {
    if (const auto self = weak.lock())
      static_cast<State &>(*self).watch(when);
  });
}

void ServerCore::State::watch(ClockTime expected) {
  Outbox out;
  {
    const MutexLock lock(mutex);
    if (closed)
      return;
    liveness.watch(clock.now() - expected, out);
    watchAt(clock.now() + liveness.roster().watchInterval());
  }
  out.send();
}

template <typename Change> void ServerCore::State::change(Change change) {
  Outbox out;
  {
    const MutexLock lock(mutex);
    change(job, liveness, out);
  }
  out.send();
}

bool ServerCore::State::waitUntilNotified(
    std::chrono::nanoseconds limit) const {
  // Poll, because nothing is notified when a trainer becomes silent.
  constexpr std::chrono::milliseconds interval(100);
  const auto end = std::chrono::steady_clock::now() + limit;
  MutexLock lock(mutex);
  while (!isNotified()) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= end)
      return false;
    changed.wait_until(lock, std::min<decltype(end)>(end, now + interval));
  }
  return true;
}

//===----------------------------------------------------------------------===//
// ServerCore
//===----------------------------------------------------------------------===//

/// Executor of all cores whose application is called on the threads that
/// deliver requests. `applicationMutex` serializes the calls.
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
void ServerCore::setProgress(const std::string &message) {
  const MutexLock lock(state->mutex);
  state->job.setProgress(message);
}
void ServerCore::open(ServerApplication &application) {
  state->open(application);
}
void ServerCore::requestStop() {
  state->change([](JobLife &, Liveness &liveness, Outbox &out) {
    liveness.requestStop(out);
  });
}
void ServerCore::respondToPeers(PeerHandler handler) {
  state->peers.setHandler(std::move(handler));
}
std::optional<std::string> ServerCore::pendingLoss() const {
  const MutexLock lock(state->mutex);
  const std::optional<Status> &loss = state->job.pendingLoss();
  return loss ? std::optional(loss->message()) : std::nullopt;
}
std::vector<SenderMark> ServerCore::marks() const {
  const MutexLock lock(state->mutex);
  return state->admission.marks();
}
void ServerCore::betweenRequests(BetweenTask task, BetweenEnd ended) {
  state->peers.betweenRequests(std::move(task), std::move(ended));
}
JobStatus ServerCore::status() const {
  const MutexLock lock(state->mutex);
  return state->job.status();
}
std::string ServerCore::waitingFor(ClockTime atLeast) const {
  const MutexLock lock(state->mutex);
  return state->liveness.describeWait(atLeast);
}
bool ServerCore::isInTrouble(uint32_t rank) const {
  const MutexLock lock(state->mutex);
  return !state->liveness.roster().troubleOf(rank).empty();
}
StalenessCounts ServerCore::staleness() const {
  return state->coordinator.staleness();
}
void ServerCore::fail(const Status &failure) {
  state->change([&](JobLife &job, Liveness &, Outbox &out) {
    const std::optional<Status> &loss = job.pendingLoss();
    job.fail(loss ? Status(loss->code(), failure.message()) : failure, out);
  });
}
void ServerCore::failWithTrainer(uint32_t rank, const Status &why) {
  state->change([&](JobLife &job, Liveness &liveness, Outbox &out) {
    liveness.roster().leave(rank, why.message());
    job.fail(Status(why).withContext(trainerName(rank) + " failed"), out);
  });
}
void ServerCore::whenOver(std::function<void()> action) {
  const MutexLock lock(state->mutex);
  state->job.whenOver(std::move(action));
}
bool ServerCore::waitUntilOver(std::chrono::nanoseconds limit) const {
  MutexLock lock(state->mutex);
  return state->changed.wait_for(lock, limit,
                                 [this]() PDLRT_REQUIRES(state->mutex) {
                                   return !state->job.isRunning();
                                 });
}
bool ServerCore::allNotified() const {
  const MutexLock lock(state->mutex);
  return state->isNotified();
}
bool ServerCore::waitUntilNotified(std::chrono::nanoseconds limit) const {
  return state->waitUntilNotified(limit);
}
