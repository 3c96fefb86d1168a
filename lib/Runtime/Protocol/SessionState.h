//===- SessionState.h - State of one sender's session -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The state of a `ServerSession`, shared with callbacks. Its parts are in three
// files: requests in SessionRequests.cpp, pieces of large messages in
// SessionParts.cpp, and heartbeats and the loss of servers in
// SessionLiveness.cpp. `ServerContact` has the evidence of whether the server
// runs.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROTOCOL_SESSIONSTATE_H
#define LIB_RUNTIME_PROTOCOL_SESSIONSTATE_H

#include "Protocol/SentParts.h"
#include "Protocol/ServerContact.h"
#include "Protocol/SessionMetrics.h"
#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Core/RecursiveMutex.h"
#include "pdlrt/Protocol/JoinResponse.h"
#include "pdlrt/Protocol/PartBox.h"
#include "pdlrt/Protocol/ServerSession.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pdlrt {

/// State of a session. Callbacks refer to it by weak pointers.
///
/// `mutex` guards the fields. It is never locked while a callback runs.
/// `ending` is locked while a callback runs, so that the destructor can wait
/// for its end. It is recursive, because a callback may send a request or
/// destroy the session.
class SessionState : public std::enable_shared_from_this<SessionState> {
public:
  SessionState(Transport &on, const std::string &to, const std::string &called,
               const SenderName &from, const RetryOptions &given,
               SessionEvents tell, std::unique_ptr<Connection> over)
      : where(to), name(called.empty() ? "server " + to : called),
        transport(on), clock(on.clock()), options(given),
        events(std::move(tell)), metrics(name), sender(from),
        connection(std::move(over)) {}

  void send(MessageKind kind, const Message &payload, RequestDone done);
  void close();

  uint64_t proposedIncarnation() const {
    const MutexLock lock(mutex);
    return offered;
  }
  bool previousIncarnationIsDone() const {
    const MutexLock lock(mutex);
    return earlierIsDone;
  }
  bool hasJoined() const {
    const MutexLock lock(mutex);
    return joined;
  }
  uint64_t jobId() const {
    const MutexLock lock(mutex);
    return job;
  }
  void becomeStart(uint64_t incarnation, StartSign::Claim claim) {
    const MutexLock lock(mutex);
    sender.incarnation = incarnation;
    sender.start.claim = claim;
  }
  uint64_t nextSequence() const {
    const MutexLock lock(mutex);
    return next;
  }
  void continueFrom(uint64_t sequence) {
    const MutexLock lock(mutex);
    next = sequence;
  }
  void sendPart(uint64_t part, const Message &bytes,
                std::function<void()> arrived);
  std::unique_ptr<Connection> connectAgain() noexcept;
  void dropParts() noexcept;
  void placeParts(std::vector<PartPlace> places) {
    const MutexLock lock(mutex);
    nextPlaces = std::move(places);
  }
  void leaveNote(Message note) {
    const MutexLock lock(mutex);
    nextNote = std::move(note);
  }
  std::vector<NumberedNote> notes() const {
    const MutexLock lock(mutex);
    return earlierNotes;
  }
  bool serverIsLost() const {
    const MutexLock lock(mutex);
    return isLost;
  }
  void noteLostServer() {
    const MutexLock lock(mutex);
    lostElsewhere = true;
  }
  bool placeIsTaken() const {
    const MutexLock lock(mutex);
    return placeTaken;
  }
  std::string waitingFor() const {
    const MutexLock lock(mutex);
    // The last reported status is out of date.
    return contact.silence(clock.now()) > reportedSilence
               ? contact.describeSilence(clock.now())
               : waitingMessage;
  }
  ClockTime silence() const {
    const MutexLock lock(mutex);
    return contact.silence(clock.now());
  }
  Status whyFailed() const {
    const MutexLock lock(mutex);
    return failure;
  }

  const std::string where, name;

private:
  struct OpenRequest {
    uint64_t number = 0;
    Envelope head;
    Message message;
    RequestDone done;
    /// True if the server may have received the request. Then the next attempt
    /// only polls, and does not send all bytes again.
    bool mayBeThere = false;
    /// True if the server has said that it does not have the request. Then the
    /// bytes are sent again at once.
    bool isMissed = false;
    ClockTime since{0};
    ClockTime pause{0};
    ClockTime attemptTime{0};
    /// The response, if it has arrived while calls with parts of this request
    /// are not finished. These calls may still read the bytes of the request,
    /// so it must not end yet.
    std::optional<Expected<Message>> response;
  };

  Envelope headOf(MessageKind kind, uint64_t sequence) const
      PDLRT_REQUIRES(mutex) {
    return {kind,          sender.trainer,
            sender.worker, kind == MessageKind::Greet ? 0 : sender.incarnation,
            sequence,      sender.epoch};
  }
  /// Returns the open request if its number is `number`; otherwise null.
  OpenRequest *findOpen(uint64_t number) PDLRT_REQUIRES(mutex) {
    return !closed && open && open->number == number ? &*open : nullptr;
  }
  /// Returns the time limit of the first attempt. For a join it is shorter: if
  /// the response is lost, the server waits for heartbeats of this process,
  /// which does not know that it was admitted. So the join is repeated before
  /// the server considers this process lost.
  ClockTime firstAttemptTime(MessageKind kind) const {
    return requestsJoin(kind) && options.silenceLimit > ClockTime(0)
               ? std::min<ClockTime>(options.attemptDeadline,
                                     options.silenceLimit / 2)
               : options.attemptDeadline;
  }
  ClockTime longerPause(ClockTime pause) const {
    return pause == ClockTime(0)
               ? options.firstPause
               : std::min<ClockTime>(2 * pause, options.longestPause);
  }
  ClockTime longerAttempt(ClockTime time) const {
    return std::min<ClockTime>(2 * time, 32 * options.attemptDeadline);
  }
  /// Schedules the replacement of connection `number`; does nothing if the
  /// session has another connection by then. Called after an attempt has taken
  /// too long: if bytes of a message were lost or changed, both ends may wait
  /// for the rest of the message, although a new connection would work.
  void leaveConnection(uint64_t number) {
    later(clock.now(),
          [number](SessionState &self) { self.replaceConnection(number); });
  }
  void replaceConnection(uint64_t number);
  /// Calls `then` with this session at time `when`, if the session still exists
  /// then.
  template <typename Action> void later(ClockTime when, Action then) {
    clock.runAt(when, [weak = weak_from_this(), then = std::move(then)] {
      if (const auto self = weak.lock())
        then(*self);
    });
  }

  /// Schedules the call of `done` with an error, so that it does not run within
  /// the current call.
  void reject(RequestDone done, Status status) PDLRT_REQUIRES(mutex);
  void endRejected();
  void attempt(uint64_t number);
  void attemptEnded(uint64_t number, uint64_t over, const CallResult &result);
  void attemptAgain(uint64_t number);
  void attemptPart(uint64_t sequence, uint64_t part);
  void partEnded(const Envelope &head, uint64_t part, uint64_t over,
                 const CallResult &result);
  std::function<void()> takePartEnd(const Envelope &head, uint64_t part,
                                    uint64_t over, const CallResult &result);
  /// Runs `step`. If it runs out of memory, fails the session: a part that
  /// could not be sent again would never arrive, and the request would wait
  /// forever.
  template <typename Step> void withMemory(Step step);
  void endResponded();
  /// Returns the payload of the response, or the error that a refusal contains.
  /// Returns nothing if `response` does not belong to the request `head`.
  std::optional<Expected<Message>> readResponse(const Message &response,
                                                const Envelope &head);
  void greetAgain(const Envelope &head, const Message &greeting);
  void greetEnded(const Envelope &head, const CallResult &result);
  void takeJoinResponse(MessageKind asked, uint64_t sequence,
                        JoinResponse said);
  void beat(ClockTime expected);
  void heartbeatEnded(const Envelope &head, const CallResult &result);
  void takeWait(const Envelope &head, const Message &payload);
  void takeSign(const Message &payload);
  /// Calls `failWith` and marks the server as lost.
  void loseServer(const Status &status);
  /// Fails the session: from now on only a Leave is sent.
  void failWith(const Status &status);
  void finish(uint64_t number, Expected<Message> result);

  ClockTime heartbeatInterval() const {
    return std::max<ClockTime>(options.heartbeatInterval,
                               std::chrono::milliseconds(1));
  }
  /// Handles a call without a response. Returns true if the server may still
  /// run; returns false after ending the session.
  bool mayBeThere(const CallResult &result);
  bool checkProcess();

  Transport &transport;
  Clock &clock;
  const RetryOptions options;
  const SessionEvents events;
  SessionMetrics metrics;

  /// Locked while a callback runs, so that `close` can wait for it. Recursive,
  /// because the callback may close the session.
  RecursiveMutex ending;
  mutable Mutex mutex;
  SenderName sender PDLRT_GUARDED_BY(mutex);
  uint64_t offered PDLRT_GUARDED_BY(mutex) = 0;
  bool earlierIsDone PDLRT_GUARDED_BY(mutex) = false;
  /// True if the greeting is repeated with each heartbeat until the join.
  bool greetsAgain PDLRT_GUARDED_BY(mutex) = false;
  uint64_t job PDLRT_GUARDED_BY(mutex) = 0;
  std::unique_ptr<Connection> connection PDLRT_GUARDED_BY(mutex);
  /// Counts the connections in `connection`.
  uint64_t connectionNumber PDLRT_GUARDED_BY(mutex) = 0;
  bool closed PDLRT_GUARDED_BY(mutex) = false;
  bool joined PDLRT_GUARDED_BY(mutex) = false;
  Status failure PDLRT_GUARDED_BY(mutex);
  bool placeTaken PDLRT_GUARDED_BY(mutex) = false;
  /// `isLost`: this server is lost. `lostElsewhere`: another server of the job
  /// is lost.
  bool isLost PDLRT_GUARDED_BY(mutex) = false, lostElsewhere
                                               PDLRT_GUARDED_BY(mutex) = false;
  uint64_t next PDLRT_GUARDED_BY(mutex) = 1;
  uint64_t lastNumber PDLRT_GUARDED_BY(mutex) = 0;
  std::optional<OpenRequest> open PDLRT_GUARDED_BY(mutex);
  std::vector<std::pair<RequestDone, Status>> rejected PDLRT_GUARDED_BY(mutex);
  ServerContact contact PDLRT_GUARDED_BY(mutex);
  /// Second connection, opened while the server is silent.
  std::unique_ptr<Connection> fresh PDLRT_GUARDED_BY(mutex);
  std::string waitingMessage PDLRT_GUARDED_BY(mutex);
  Message nextNote PDLRT_GUARDED_BY(mutex);
  std::vector<PartPlace> nextPlaces PDLRT_GUARDED_BY(mutex);
  SentParts parts PDLRT_GUARDED_BY(mutex);
  /// Notified when a call with a part ends.
  ConditionVariable partCallEnded;
  std::vector<NumberedNote> earlierNotes PDLRT_GUARDED_BY(mutex);
};

} // namespace pdlrt

#endif // LIB_RUNTIME_PROTOCOL_SESSIONSTATE_H
