//===- SessionLiveness.cpp - Heartbeats, and the loss of a server ---------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Protocol/SessionState.h"
#include "pdlrt/Core/FileLimit.h"
#include "pdlrt/Core/ProcessIdentity.h"
#include "pdlrt/Protocol/Heartbeat.h"
#include "pdlrt/Transport/FailureCode.h"
#include "pdlrt/Transport/Frame.h"

#include <utility>

using namespace pdlrt;

void SessionState::beat(ClockTime expected) {
  const bool stop = events.wasStopRequested && events.wasStopRequested();
  std::string lost;
  bool isKnown = false;
  std::unique_ptr<Connection> old;
  {
    const MutexLock lock(mutex);
    if (closed || !failure.ok())
      return;
    const ClockTime now = clock.now();
    contact.wake(expected, now, heartbeatInterval());
    const ClockTime silence = contact.silence(now);
    const bool isLost =
        options.silenceLimit > ClockTime(0) && silence > options.silenceLimit;
    if (!isLost) {
      const bool isQuiet = silence > 2 * heartbeatInterval();
      const ClockTime when = now + heartbeatInterval() / (isQuiet ? 2 : 1);
      contact.beat(now, when);
      const Envelope head = headOf(MessageKind::Heartbeat, 0);
      const Message message = joinFrame(
          head, encodeHeartbeat({stop, {}, ProcessIdentity::ofThisProcess()}));
      const ClockTime deadline =
          now + (options.silenceLimit > ClockTime(0) ? options.silenceLimit
                                                     : options.attemptDeadline);
      const auto ended = [weak = weak_from_this(),
                          head](const CallResult &result) {
        if (const auto self = weak.lock())
          self->heartbeatEnded(head, result);
      };
      connection->call(message, deadline, ended);
      // After a network outage, a connection that existed before may stay
      // silent for as long again as the outage lasted. So if the server is
      // silent, sends the heartbeat over a new connection as well. The previous
      // such connection becomes `old`, which is destroyed after the mutex is
      // unlocked.
      old = std::move(fresh);
      if (isQuiet)
        if (auto made = transport.connect(where)) {
          fresh = std::move(*made);
          fresh->call(message, deadline, ended);
        }
      later(when, [when](SessionState &self) { self.beat(when); });
      return;
    }
    lost = contact.describeSilence(now);
    isKnown = contact.knowsState();
  }
  loseServer(Status::unavailable(
      name + " was " + lost +
      (isKnown ? ". " : ": it has died or its network is cut. ") +
      startAllAgain));
}

bool SessionState::mayBeThere(const CallResult &result) {
  if (result.fault == CallFault::TooManyFiles && !hasJoined()) {
    failWith(Status::resourceExhausted(
        name + " cannot be reached: " + describeFileLimit()));
    return false;
  }
  ClockTime refused{0};
  std::string stopped;
  {
    const MutexLock lock(mutex);
    stopped = contact.describeSuspension(clock.now());
    // A call that ends by its deadline proves nothing about the server.
    if (result.fault == CallFault::Refused)
      refused = contact.refuse(clock.now(), options.refusalLimit);
  }
  if (refused <= options.refusalLimit)
    return checkProcess();
  loseServer(Status::unavailable(
      name + " has ended: its address has refused connections for " +
      inSeconds(refused) +
      (stopped.empty() ? ". If the job has ended without this trainer, another "
                         "start has taken its place. If not: "
                       : stopped) +
      startAllAgain));
  return false;
}

/// Returns true unless it is known that the server's process has ended. The end
/// of a process on another host is not known. If it has ended, ends the session
/// and returns false.
bool SessionState::checkProcess() {
  std::string stopped;
  {
    const MutexLock lock(mutex);
    if (!contact.hasEnded())
      return true;
    stopped = contact.describeSuspension(clock.now());
  }
  loseServer(Status::unavailable(
      name + (stopped.empty() ? " has died. " : " has ended" + stopped) +
      startAllAgain));
  return false;
}

void SessionState::heartbeatEnded(const Envelope &head,
                                  const CallResult &result) {
  if (result.outcome != CallOutcome::Responded) {
    ++metrics.missedHeartbeats;
    mayBeThere(result);
    return;
  }
  auto response = readResponse(result.response, head);
  if (!response)
    return;
  if (!response->ok()) {
    failWith(response->status());
    return;
  }
  takeSign(**response);
}

/// Handles the server's heartbeat. Malformed bytes are ignored.
void SessionState::takeSign(const Message &payload) {
  auto sign = decodeHeartbeat(payload);
  if (!sign)
    return;
  if (sign->stop && events.onStopRequest)
    events.onStopRequest();
  const MutexLock lock(mutex);
  waitingMessage = std::move(sign->message);
  contact.learnProcess(sign->process);
}

void SessionState::loseServer(const Status &status) {
  {
    const MutexLock lock(mutex);
    isLost |= failure.ok();
  }
  failWith(status);
}
