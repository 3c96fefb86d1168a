//===- SessionRequests.cpp - Requests to one server and their responses ---===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Protocol/SessionState.h"
#include "pdlrt/Transport/FailureCode.h"
#include "pdlrt/Transport/Frame.h"

#include <algorithm>
#include <optional>
#include <utility>

using namespace pdlrt;

void SessionState::send(MessageKind kind, const Message &payload,
                        RequestDone done) {
  uint64_t number = 0;
  {
    const MutexLock lock(mutex);
    Status fault;
    if (!requestsJoin(kind) && !joined)
      fault = Status::internal(name + ": " + nameOf(kind) +
                               " is sent before the join");
    else if (kind != MessageKind::Leave && open)
      fault = Status::internal(name + ": " + nameOf(kind) +
                               " is sent while another request is open");
    else if (kind != MessageKind::Leave)
      fault = failure;
    if (!fault.ok()) {
      reject(std::move(done), std::move(fault));
      return;
    }
    if (open)
      reject(std::move(open->done),
             Status::cancelled(name + ": this trainer has left"));
    if (kind == MessageKind::Leave)
      parts.clear();
    const bool isNumbered = !requestsJoin(kind) && kind != MessageKind::Leave;
    number = ++lastNumber;
    OpenRequest request;
    request.number = number;
    request.head = headOf(kind, isNumbered ? next++ : 0);
    request.message = joinFrame(
        request.head, payload,
        requestsJoin(kind) ? encodeStartSign(sender.start)
        : kind == MessageKind::Leave && lostElsewhere
            ? Message::ofString(noteOfLostServer)
            : std::exchange(nextNote, {}),
        isNumbered ? std::exchange(nextPlaces, {}) : std::vector<PartPlace>());
    request.done = std::move(done);
    request.since = clock.now();
    request.attemptTime = firstAttemptTime(kind);
    open = std::move(request);
  }
  attempt(number);
}

/// Ends the open request, unless it has no response yet or a call still reads
/// its parts.
void SessionState::endResponded() {
  uint64_t number = 0;
  std::optional<Expected<Message>> answer;
  {
    const MutexLock lock(mutex);
    if (!open || !open->response || parts.areRead())
      return;
    number = open->number;
    answer.swap(open->response);
  }
  finish(number, std::move(*answer));
}

void SessionState::reject(RequestDone done, Status status) {
  rejected.emplace_back(std::move(done), std::move(status));
  later(clock.now(), [](SessionState &self) { self.endRejected(); });
}

void SessionState::endRejected() {
  const RecursiveLock wait(ending);
  std::vector<std::pair<RequestDone, Status>> due;
  {
    const MutexLock lock(mutex);
    due.swap(rejected);
  }
  for (auto &[done, status] : due)
    done(std::move(status));
}

void SessionState::attempt(uint64_t number) {
  const MutexLock lock(mutex);
  OpenRequest *request = findOpen(number);
  if (!request)
    return;
  ClockTime deadline = clock.now() + request->attemptTime;
  if (requestsJoin(request->head.kind))
    deadline = std::min(deadline, request->since + options.joinPatience);
  // On a retry, the server may already have this request. So a retry sends only
  // a Poll, which has no payload.
  const bool asks =
      request->head.sequence > 0 && std::exchange(request->mayBeThere, true);
  Envelope ask = request->head;
  ask.kind = MessageKind::Poll;
  connection->call(asks ? joinFrame(ask, {}) : request->message, deadline,
                   [weak = weak_from_this(), number,
                    over = connectionNumber](const CallResult &result) {
                     if (const auto self = weak.lock())
                       self->attemptEnded(number, over, result);
                   });
}

/// Returns true if `refusal` says that a Greet or a Join was refused because
/// another process has this rank.
static bool saysTaken(const Message &refusal) {
  const auto frame = splitFrame(refusal);
  return frame && frame->head.kind == MessageKind::Refusal &&
         frame->head.sequence == sequenceOfTaken;
}

std::optional<Expected<Message>>
SessionState::readResponse(const Message &response, const Envelope &head) {
  auto frame = splitFrame(response);
  if (!frame)
    return Expected<Message>(std::move(frame).status().withContext(name));
  {
    const MutexLock lock(mutex);
    contact.reach();
  }
  Envelope expected = head;
  expected.kind = frame->head.kind;
  if (requestsJoin(head.kind))
    expected.sequence = frame->head.sequence;
  Envelope unread;
  unread.kind = MessageKind::Refusal;
  Envelope replaced = expected;
  replaced.incarnation = incarnationOfReplaced;
  if (frame->head.kind == MessageKind::Refusal && !requestsJoin(head.kind) &&
      frame->head == replaced && frame->head != expected) {
    const MutexLock lock(mutex);
    placeTaken = true;
    expected = replaced;
  }
  if (frame->head.kind == MessageKind::Refusal &&
      (frame->head == expected || frame->head == unread))
    return Expected<Message>(failureOf(*frame, name + " refuses: "));
  if (frame->head.kind == MessageKind::Wait && frame->head == expected) {
    takeWait(head, frame->payload);
    return std::nullopt;
  }
  if (frame->head.kind != MessageKind::Response || frame->head != expected)
    return std::nullopt;
  {
    const MutexLock lock(mutex);
    contact.hear(clock.now());
  }
  if (requestsJoin(head.kind)) {
    auto said = decodeJoinResponse(frame->note);
    if (!said)
      return Expected<Message>(std::move(said).status().withContext(name));
    takeJoinResponse(head.kind, frame->head.sequence, std::move(*said));
  }
  return Expected<Message>(std::move(frame->payload));
}

void SessionState::attemptEnded(uint64_t number, uint64_t over,
                                const CallResult &result) {
  Envelope head;
  Message greeting;
  {
    const MutexLock lock(mutex);
    const OpenRequest *request = findOpen(number);
    if (!request)
      return;
    if (result.outcome == CallOutcome::DeadlineExceeded)
      leaveConnection(over);
    head = request->head;
    if (head.kind == MessageKind::Greet)
      greeting = request->message;
  }
  if (result.outcome != CallOutcome::Responded && !mayBeThere(result))
    return;
  if (result.outcome == CallOutcome::Responded)
    if (auto response = readResponse(result.response, head)) {
      if (!response->ok()) {
        const MutexLock lock(mutex);
        if (failure.ok())
          failure = response->status();
        placeTaken |= requestsJoin(head.kind) && saysTaken(result.response);
      } else if (head.kind == MessageKind::Greet) {
        const MutexLock lock(mutex);
        if (!std::exchange(greetsAgain, true))
          later(clock.now() + heartbeatInterval(),
                [head, greeting](SessionState &self) {
                  self.greetAgain(head, greeting);
                });
      }
      finish(number, std::move(*response));
      return;
    }
  if (head.sequence > 0) {
    const MutexLock lock(mutex);
    OpenRequest *request = findOpen(number);
    if (request && std::exchange(request->isMissed, false)) {
      ++metrics.retries;
      later(clock.now(),
            [number](SessionState &self) { self.attempt(number); });
      return;
    }
    if (request && result.outcome == CallOutcome::DeadlineExceeded)
      request->attemptTime = longerAttempt(request->attemptTime);
  }
  attemptAgain(number);
}

void SessionState::attemptAgain(uint64_t number) {
  {
    const MutexLock lock(mutex);
    OpenRequest *request = findOpen(number);
    if (!request)
      return;
    request->pause = longerPause(request->pause);
    const ClockTime when = clock.now() + request->pause;
    if (!requestsJoin(request->head.kind) ||
        when < request->since + options.joinPatience) {
      ++metrics.retries;
      later(when, [number](SessionState &self) { self.attempt(number); });
      return;
    }
  }
  finish(number, Status::unavailable(name + " did not respond for " +
                                     inSeconds(options.joinPatience) +
                                     ": is it started there, and reachable? "
                                     "Servers end with their job, so a trainer "
                                     "that is started after it finds none"));
}

/// Handles the message Wait, which proves that the server is alive. So the time
/// limit of a join starts anew. If the Wait responds to a Poll, the server does
/// not have the polled request.
void SessionState::takeWait(const Envelope &head, const Message &payload) {
  {
    const MutexLock lock(mutex);
    if (open && requestsJoin(head.kind) && requestsJoin(open->head.kind))
      open->since = clock.now();
    else if (open && open->head == head) {
      open->mayBeThere = false;
      open->isMissed = true;
    }
  }
  takeSign(payload);
}

/// Tells the server, at the interval of heartbeats, that this process still
/// intends to join. Ends when it has joined, or when the session has ended.
void SessionState::greetAgain(const Envelope &head, const Message &greeting) {
  const MutexLock lock(mutex);
  if (closed || joined || !failure.ok())
    return;
  const ClockTime now = clock.now();
  if (!open)
    connection->call(greeting, now + options.attemptDeadline,
                     [weak = weak_from_this(), head](const CallResult &result) {
                       if (const auto self = weak.lock())
                         self->greetEnded(head, result);
                     });
  later(now + heartbeatInterval(), [head, greeting](SessionState &self) {
    self.greetAgain(head, greeting);
  });
}

void SessionState::greetEnded(const Envelope &head, const CallResult &result) {
  if (result.outcome != CallOutcome::Responded) {
    mayBeThere(result);
    return;
  }
  const auto response = readResponse(result.response, head);
  if (!response || response->ok())
    return;
  const MutexLock lock(mutex);
  // A refusal of a heartbeat counts only for a process that has not joined, is
  // not joining (the response to its join decides), and has no assigned
  // incarnation. With one, only the first server decides: another server may
  // refuse this process because it has heard from the previous incarnation,
  // which is about to end.
  if (!open && !joined && failure.ok() && sender.incarnation == 0) {
    failure = response->status();
    placeTaken |= saysTaken(result.response);
  }
}

void SessionState::takeJoinResponse(MessageKind asked, uint64_t sequence,
                                    JoinResponse said) {
  const MutexLock lock(mutex);
  contact.learnProcess(said.process);
  job = said.job;
  if (asked == MessageKind::Greet) {
    offered = sequence;
    // This response may be older than one that has already arrived.
    earlierIsDone |= said.previousIncarnationIsDone;
    return;
  }
  if (joined)
    return;
  joined = true;
  waitingMessage.clear();
  next = sequence;
  earlierNotes = std::move(said.notes);
  const ClockTime when = clock.now() + heartbeatInterval();
  contact.begin(when);
  later(when, [when](SessionState &self) { self.beat(when); });
}

void SessionState::failWith(const Status &status) {
  uint64_t number = 0;
  {
    const MutexLock lock(mutex);
    if (closed)
      return;
    if (failure.ok())
      failure = status;
    if (!open || open->head.kind == MessageKind::Leave)
      return;
    number = open->number;
  }
  finish(number, status);
}

void SessionState::finish(uint64_t number, Expected<Message> result) {
  const RecursiveLock wait(ending);
  RequestDone done;
  {
    const MutexLock lock(mutex);
    if (!open || open->number != number)
      return;
    if (result.ok() && open->head.sequence > 0 && parts.areRead()) {
      open->response = std::move(result);
      return;
    }
    done = std::move(open->done);
    open.reset();
    parts.clear();
  }
  done(std::move(result));
}

void SessionState::close() {
  std::unique_ptr<Connection> last, lastFresh;
  uint64_t number = 0;
  {
    const MutexLock lock(mutex);
    closed = true;
    last = std::move(connection);
    lastFresh = std::move(fresh);
    if (open)
      number = open->number;
  }
  last.reset();
  lastFresh.reset();
  endRejected();
  // Also waits for a running callback.
  finish(number,
         Status::cancelled(name + ": the session ended before the answer"));
}
