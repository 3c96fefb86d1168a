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

#include <algorithm>
#include <utility>

using namespace pdlrt;

void SessionState::beat(ClockTime expected) {
  const bool stop = events.wasStopRequested && events.wasStopRequested();
  std::string lost;
  bool isKnown = false;
  std::unique_ptr<Connection> old;
  {
    const std::lock_guard lock(mutex);
    if (closed || !failure.ok())
      return;
    const ClockTime now = clock.now();
    // Time in which this process was suspended says nothing about the server.
    if (const ClockTime late = now - expected; late > heartbeatInterval()) {
      longestStop = std::max(longestStop, late);
      lastHeard = std::min(lastHeard + late, now);
      requestedSince = std::min(requestedSince + late, now);
      if (refusedSince >= ClockTime(0)) {
        refusedSince = std::min(refusedSince + late, now);
        refusedLast = std::min(refusedLast + late, now);
      }
    }
    const ClockTime silence = silentFor();
    const bool isLost =
        options.silenceLimit > ClockTime(0) && silence > options.silenceLimit;
    if (!isLost) {
      if (requestedSince <= lastHeard)
        requestedSince = now;
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
      // silent, heartbeats are also sent over new connections.
      old = std::move(fresh);
      const bool isQuiet = silence > 2 * heartbeatInterval();
      if (isQuiet)
        if (auto made = transport.connect(where)) {
          fresh = std::move(*made);
          fresh->call(message, deadline, ended);
        }
      const ClockTime when = now + heartbeatInterval() / (isQuiet ? 2 : 1);
      nextHeartbeat = when;
      later(when, [when](SessionState &self) { self.beat(when); });
      return;
    }
    lost = describeSilence();
    isKnown = process.state() != ProcessIdentity::State::Unknown;
  }
  loseServer(Status::unavailable(
      name + " was " + lost +
      (isKnown ? ". " : ": it has died or its network is cut. ") +
      startAllAgain));
}

std::string SessionState::describeSilence() const {
  const std::string state = process.describeState();
  return "not heard of for " + inSeconds(silentFor()) +
         (state.empty() ? "" : ": " + state);
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
    const std::lock_guard lock(mutex);
    stopped = describeStop();
    // Remember the first refusal until the server responds. A call that ends by
    // its deadline proves nothing about the server.
    if (result.fault == CallFault::Refused && joined) {
      const ClockTime now = clock.now();
      // The server may have been running since the last refusal.
      if (refusedSince < ClockTime(0) ||
          now - refusedLast > options.refusalLimit)
        refusedSince = now;
      refusedLast = now;
      refused = now - refusedSince;
    }
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

/// Returns true if the server's process runs, or runs on another host. If it
/// has ended, ends the session and returns false.
bool SessionState::checkProcess() {
  std::string stopped;
  {
    const std::lock_guard lock(mutex);
    if (!process.hasEnded())
      return true;
    stopped = describeStop();
  }
  loseServer(Status::unavailable(
      name + (stopped.empty() ? " has died. " : " has ended" + stopped) +
      startAllAgain));
  return false;
}

std::string SessionState::describeStop() const {
  const ClockTime stop = std::max(
      longestStop, joined ? clock.now() - nextHeartbeat : ClockTime(0));
  if (stop <= reportedSilence)
    return {};
  return ": this process was stopped for " + inSeconds(stop) +
         ", and the job has ended or gone on without it, as the others say. ";
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
  const std::lock_guard lock(mutex);
  waitingMessage = std::move(sign->sentence);
  learnProcess(sign->process);
}

void SessionState::learnProcess(const ProcessIdentity &said) {
  // The server may have died while this message was in flight.
  if (ProcessIdentity told = said; !(told == process) && told.watch())
    process = told;
}

void SessionState::loseServer(const Status &status) {
  {
    const std::lock_guard lock(mutex);
    isLost |= failure.ok();
  }
  failWith(status);
}
