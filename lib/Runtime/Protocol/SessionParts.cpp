//===- SessionParts.cpp - Messages that are sent in parts -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Protocol/SessionState.h"
#include "pdlrt/Core/OutOfMemory.h"
#include "pdlrt/Transport/FailureCode.h"
#include "pdlrt/Transport/Frame.h"

#include <new>
#include <utility>

using namespace pdlrt;

template <typename Step> void SessionState::withMemory(Step step) {
  std::string fault;
  try {
    step();
    return;
  } catch (const std::bad_alloc &error) {
    fault = describeOutOfMemory(error, "sent gradients early");
  }
  failWith(Status::outOfMemory(std::move(fault)));
}

void SessionState::sendPart(uint64_t part, const Message &bytes,
                            std::function<void()> arrived) {
  uint64_t sequence = 0;
  Status fault;
  {
    const MutexLock lock(mutex);
    if (closed || !failure.ok())
      return;
    if (!joined || open)
      fault = Status::internal(
          name + ": a part of a request is sent " +
          (joined ? "while a request is open" : "before the join"));
    else {
      sequence = next;
      SentPart sent;
      sent.head = headOf(MessageKind::Part, sequence);
      sent.message = joinFrame(sent.head, encodePart(part, bytes));
      sent.arrived = std::move(arrived);
      sent.attemptTime = options.attemptDeadline;
      parts.add(part, std::move(sent));
    }
  }
  if (fault.ok())
    attemptPart(sequence, part);
  else
    failWith(fault);
}

void SessionState::attemptPart(uint64_t sequence, uint64_t part) {
  withMemory([&] {
    const MutexLock lock(mutex);
    const SentPart *sent = parts.find(sequence, part);
    if (closed || !failure.ok() || !sent || (open && open->response))
      return;
    SentParts::Call call(parts);
    connection->call(sent->message, clock.now() + sent->attemptTime,
                     [weak = weak_from_this(), head = sent->head, part,
                      over = connectionNumber](const CallResult &result) {
                       if (const auto self = weak.lock())
                         self->partEnded(head, part, over, result);
                     });
    call.isUnderWay();
  });
}

/// Handles the end of a call that carried part `part`. If the part has arrived,
/// returns the callback to run. Otherwise returns an empty one: if the server
/// has refused the part, fails the session; if no response has come and the
/// part is still needed, schedules another attempt.
std::function<void()> SessionState::takePartEnd(const Envelope &head,
                                                uint64_t part, uint64_t over,
                                                const CallResult &result) {
  std::optional<Expected<Message>> response;
  if (result.outcome == CallOutcome::Responded)
    response = readResponse(result.response, head);
  else
    mayBeThere(result);
  if (response && !response->ok())
    failWith(response->status());
  const MutexLock lock(mutex);
  SentPart *sent = parts.find(head.sequence, part);
  if (!sent || (response && !response->ok()))
    return {};
  if (response) {
    sent->isThere = true;
    sent->message = {};
    return std::move(sent->arrived);
  }
  if (result.outcome == CallOutcome::DeadlineExceeded) {
    leaveConnection(over);
    sent->attemptTime = longerAttempt(sent->attemptTime);
  }
  sent->pause = longerPause(sent->pause);
  later(clock.now() + sent->pause,
        [sequence = head.sequence, part](SessionState &self) {
          self.attemptPart(sequence, part);
        });
  return {};
}

void SessionState::partEnded(const Envelope &head, uint64_t part, uint64_t over,
                             const CallResult &result) {
  std::function<void()> arrived;
  withMemory([&] { arrived = takePartEnd(head, part, over, result); });
  // An arrival belongs to the step of its request. So `arrived` must run before
  // the request can end, which is after `callEnds` below.
  if (arrived)
    arrived();
  {
    const MutexLock lock(mutex);
    parts.callEnds();
  }
  partCallEnded.notify_all();
  endResponded();
}

/// Opens another connection. Returns null on failure.
std::unique_ptr<Connection> SessionState::connectAgain() noexcept {
  try {
    auto made = transport.connect(where);
    return made ? std::move(*made) : nullptr;
  } catch (const std::bad_alloc &) {
    return nullptr;
  }
}

void SessionState::replaceConnection(uint64_t number) {
  // The destruction of the old connection ends its calls. They are repeated
  // later.
  std::unique_ptr<Connection> old;
  const MutexLock lock(mutex);
  if (closed || connectionNumber != number)
    return;
  if (auto made = connectAgain()) {
    old = std::exchange(connection, std::move(made));
    ++connectionNumber;
  }
}

void SessionState::dropParts() noexcept {
  std::unique_ptr<Connection> old;
  {
    MutexLock lock(mutex);
    parts.clear();
    if (closed || !parts.areRead())
      return;
    if (auto made = connectAgain()) {
      old = std::exchange(connection, std::move(made));
      ++connectionNumber;
    }
    // There is no new connection, so wait until the calls end by themselves.
    else
      partCallEnded.wait(
          lock, [this]() PDLRT_REQUIRES(mutex) { return !parts.areRead(); });
  }
  // This ends the calls of the old connection. If one is a request, it is sent
  // again.
  old.reset();
}
