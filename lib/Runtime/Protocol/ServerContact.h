//===- ServerContact.h - Signs of life of one server ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROTOCOL_SERVERCONTACT_H
#define LIB_RUNTIME_PROTOCOL_SERVERCONTACT_H

#include "pdlrt/Core/Clock.h"
#include "pdlrt/Core/ProcessIdentity.h"

#include <string>

namespace pdlrt {

/// Shorter silences are not reported.
inline constexpr ClockTime reportedSilence = std::chrono::seconds(3);

/// Evidence of one session about whether its server runs: the time without a
/// response, refused connections, and the server's process. Time in which this
/// process was suspended does not count. `now` is the time of the session's
/// clock. Not thread-safe.
class ServerContact {
public:
  /// Starts to count silence and refusals: this process has joined.
  /// `heartbeat`: time of the first heartbeat.
  void begin(ClockTime heartbeat);
  /// Records a heartbeat that was planned for `expected`. If it is late by more
  /// than `interval`, this process was suspended, and the times that were
  /// recorded move by the delay.
  void wake(ClockTime expected, ClockTime now, ClockTime interval);
  /// Records that a heartbeat is sent now, and the next one at `following`.
  void beat(ClockTime now, ClockTime following);
  /// Records a response to a request or heartbeat.
  void hear(ClockTime now) { lastHeard = now; }
  /// Records that a message of the server arrived, so its address accepts
  /// connections.
  void reach() { refusedSince = ClockTime(-1); }
  /// Records that the address refused a connection. Returns the time since the
  /// first refusal; 0 before `begin`. If the previous refusal is longer ago
  /// than `limit`, this one counts as the first, because the server may have
  /// run in between.
  ClockTime refuse(ClockTime now, ClockTime limit);

  /// Returns the time since the first heartbeat without a response; 0 before
  /// `begin`.
  ClockTime silence(ClockTime now) const {
    return hasBegun && requestedSince > lastHeard ? now - requestedSince
                                                  : ClockTime(0);
  }
  /// Stores which process the server is, unless this process could not notice
  /// its end (`ProcessIdentity::watch`).
  void learnProcess(const ProcessIdentity &said);
  /// Returns true if the server's process is known, and has ended.
  bool hasEnded() const { return process.hasEnded(); }
  /// Returns true if the state of the server's process is known.
  bool knowsState() const {
    return process.state() != ProcessIdentity::State::Unknown;
  }
  /// Returns for how long the server has been silent, and the state of its
  /// process if it is known, for messages.
  std::string describeSilence(ClockTime now) const;
  /// Returns text for the error message of a lost server. It says that this
  /// process was suspended for long, which may be why the job has ended. Empty
  /// if it was not.
  std::string describeSuspension(ClockTime now) const;

private:
  bool hasBegun = false;
  ClockTime lastHeard{0};
  /// Time of the first heartbeat that was sent after `lastHeard`. If none was
  /// sent, a time before `lastHeard`.
  ClockTime requestedSince{-1};
  /// Times of the first and of the last refusal; negative if the address
  /// accepts connections.
  ClockTime refusedSince{-1}, refusedLast{-1};
  /// Time of the next planned heartbeat; and the longest delay of one so far.
  ClockTime nextHeartbeat{0}, longestDelay{0};
  /// The server's process; unknown if this process cannot watch it.
  ProcessIdentity process;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_PROTOCOL_SERVERCONTACT_H
