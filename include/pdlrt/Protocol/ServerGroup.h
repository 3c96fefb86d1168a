//===- ServerGroup.h - Sessions to all servers of a job ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_PROTOCOL_SERVERGROUP_H
#define PDLRT_PROTOCOL_SERVERGROUP_H

#include "pdlrt/Protocol/ServerSession.h"
#include "pdlrt/Transport/FailureCode.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pdlrt {

struct ServerGroupOptions {
  RetryOptions retry;
  SessionEvents events;
  /// Called about ten times a second while a call waits. If it returns true,
  /// the call returns an error. May be empty.
  std::function<bool()> shouldStop;
  /// Limit of silence after `events.wasStopRequested` has returned true: a
  /// server that sends no response for this long ends the call with an error. A
  /// graceful shutdown needs all servers, so it does not wait longer.
  std::chrono::milliseconds stopPatience{3000};
  /// Called with a line for the user, such as "server a:1: waiting for trainer
  /// 1 to join (5 s)", each time that a call has waited for another
  /// `reportInterval`. May be empty.
  std::function<void(const std::string &line)> report;
  std::chrono::milliseconds reportInterval{5000};
  /// Time for which a call still waits for the other servers after one server
  /// has failed.
  std::chrono::milliseconds errorPatience{1000};
  /// Behavior of a join if servers have received requests of a previous
  /// incarnation of this trainer.
  enum class EarlierStart {
    /// The join returns an error.
    Refuse,
    /// The trainer continues from the last request that all servers have and to
    /// which a note is attached (docs/Protocol.md).
    GoOn,
    /// The trainer continues at each server with that server's next sequence
    /// number. Only for senders whose requests change nothing.
    Ignore,
    /// The caller decides: after the join it reads `earlier`, and then calls
    /// `goOnWith` before any other function.
    Ask,
  };
  EarlierStart earlierStart = EarlierStart::Refuse;
  /// Names of the servers in messages, in the order of servers. A server
  /// without a name is called by its address.
  std::vector<std::string> names = {};
};

/// Sessions to all servers of a job, for callers that block until responses
/// arrive. The transport must have a RealClock. Only one thread may use a group
/// at a time, except where noted. Memory of payloads that has no owner must
/// stay valid until the call has ended; after an error, until the group is
/// destroyed.
class ServerGroup {
public:
  /// Creates a group. `transport` must outlive the group. Returns an error if
  /// an address is malformed.
  static Expected<std::unique_ptr<ServerGroup>>
  connect(Transport &transport, const std::vector<std::string> &addresses,
          const SenderName &sender, const ServerGroupOptions &options);
  ~ServerGroup();
  ServerGroup(const ServerGroup &) = delete;
  ServerGroup &operator=(const ServerGroup &) = delete;

  size_t size() const { return sessions.size(); }
  ServerSession &session(size_t server) { return *sessions[server]; }

  /// Joins all servers, with one handshake for each. Returns their responses in
  /// the order of servers, or the error of the first server that returned one.
  /// Must be the first call. A sender whose incarnation is 0 first greets all
  /// servers; if one of them refuses, it does not join, so that it does not
  /// replace another process at the others. The first server then assigns the
  /// incarnation.
  Expected<std::vector<Message>>
  joinAll(const std::vector<Message> &handshakes);
  /// Returns the incarnation of this process. Call after the join.
  uint64_t incarnation() const { return sender.incarnation; }

  /// Returns the note that the previous incarnation has attached to the request
  /// which this one sends next. Call after the join. Nullopt if no previous
  /// incarnation has sent a request. Empty if it has attached no note; then
  /// this incarnation starts from the beginning, and servers repeat the
  /// responses that they gave before.
  const std::optional<Message> &earlierNote() const { return noteToGoOnFrom; }
  /// Progress of the previous incarnation of this sender, which `earlier`
  /// returns. Call it after the join.
  struct Earlier {
    /// Sequence number of the first request that some server has not received;
    /// 1 if no request was sent.
    uint64_t firstMissing = 1;
    /// `noted`: sequence number of the last request that all servers have
    /// received and that has a note; 0 if there is none. `note`: that note.
    uint64_t noted = 0;
    Message note;
  };
  Earlier earlier() const;
  /// Sets the sequence number of the next request, at most
  /// `earlier().firstMissing`. Servers repeat their responses to requests that
  /// they have already received.
  void goOnWith(uint64_t sequence);
  /// Returns the number of requests that this sender has sent so far, including
  /// those of previous incarnations.
  uint64_t requestsSent() const { return sent; }

  /// Returns true if the previous incarnation has sent the request that this
  /// one sends next, to at least one server. All earlier requests were then
  /// completed.
  bool wasSentBefore() const { return sent + 1 < firstUnsent; }
  /// Attaches a note to the next request; only the first server gets it.
  void leaveNote(Message note) { sessions[0]->leaveNote(std::move(note)); }

  /// Sends bytes of the next request to one server before the request is sent
  /// (ServerSession::sendPart). Any thread may call this while no request is
  /// open.
  void sendPart(size_t server, uint64_t number, const Message &bytes,
                std::function<void()> arrived) {
    sessions[server]->sendPart(number, bytes, std::move(arrived));
  }
  void placeParts(size_t server, std::vector<PartPlace> places) {
    sessions[server]->placeParts(std::move(places));
  }
  /// Makes calls that wait for servers, and later ones, return an error soon.
  /// Call it if another part of the trainer has failed, because responses may
  /// then never come. Thread-safe.
  void giveUp() { gaveUp.store(true, std::memory_order_relaxed); }

  /// Stops sending the parts of the next request, which will not be sent. After
  /// the call, the memory of the parts is not read any more.
  void dropParts() noexcept {
    for (const auto &session : sessions)
      session->dropParts();
  }

  /// Sends one request to each server concurrently and waits for all responses.
  /// After an error or a stop, only `leaveAll` may follow.
  Expected<std::vector<Message>> sendAll(MessageKind kind,
                                         std::vector<Message> payloads);
  /// `beginAll` and `awaitAll` do the same as `sendAll` in two calls:
  /// `beginAll` sends, and `awaitAll` waits for the responses.
  void beginAll(MessageKind kind, std::vector<Message> payloads);
  Expected<std::vector<Message>> awaitAll();
  /// Returns the time at which the last response to the last `sendAll` or
  /// `awaitAll` arrived.
  std::chrono::steady_clock::time_point lastResponse() const {
    return respondedAt;
  }

  /// Returns an error if some server is known not to respond any more, with the
  /// reason; otherwise success. Thread-safe after the join.
  Status failure() const;

  /// Predicate of a caller that waits for servers. Returns true for a server
  /// for which the caller no longer waits.
  using HasEnded = std::function<bool(size_t server)>;
  /// Returns an error if the caller must stop waiting, because of a stop
  /// request or because a server has failed. At the time `nextReport`, reports
  /// the servers for which the caller waits, and sets `nextReport` to the next
  /// time. Call this about ten times a second during a wait.
  Status lookAround(const HasEnded &hasEnded,
                    std::chrono::steady_clock::time_point &nextReport) const;
  /// Returns the time of the first report of a wait that starts now.
  std::chrono::steady_clock::time_point firstReport() const {
    return std::chrono::steady_clock::now() + options.reportInterval;
  }

  /// Returns true if a server has reported that a later incarnation of this
  /// trainer has replaced this one, or that another process has this rank. Then
  /// this process must not send Leave messages: a server that the other process
  /// has not reached yet would treat them as a failure of that process.
  bool placeIsTaken() const;
  /// Returns a line with the servers for which `hasEnded` is false, and the
  /// reasons why the caller waits for them.
  std::string waitingLine(const HasEnded &hasEnded) const;
  /// Returns true if this group knows that a server has died, or has ended
  /// before the job.
  bool hasLostServer() const;
  /// Records that another ServerGroup of this process has lost a server. The
  /// Leave message then reports it, so that servers fail the job and do not
  /// wait for a restart of this trainer.
  void noteLostServer();
  /// Sends a Leave message to all joined servers, and waits for their responses
  /// for at most `limit`. `message` is empty if this trainer is done,
  /// otherwise the reason of its failure. If the trainer is done, reports
  /// servers that do not respond in time. If it has failed, also sends the
  /// message to servers that were only greeted and know no previous
  /// incarnation, because they would wait for this process. Does nothing if
  /// this process was replaced (`placeIsTaken`).
  void leaveAll(const std::string &message,
                std::chrono::milliseconds limit = std::chrono::seconds(2)) {
    leaveAll(message, codeOfUnknownFailure, limit);
  }
  /// Like the function above, with the outcome of this trainer. Also sends its
  /// error code.
  void leaveAll(const Status &outcome,
                std::chrono::milliseconds limit = std::chrono::seconds(2)) {
    leaveAll(outcome.message(), outcome.code(), limit);
  }

private:
  class Wave;
  ServerGroup(const SenderName &who, const ServerGroupOptions &given)
      : sender(who), options(given) {}
  Status greetAll(const std::vector<Message> &handshakes);
  Expected<std::vector<Message>> join(size_t first, size_t end,
                                      const std::vector<Message> &handshakes);
  void joinToLeave(std::chrono::steady_clock::time_point until);
  void leaveAll(const std::string &message, pdl_status code,
                std::chrono::milliseconds limit);
  Expected<std::vector<Message>> waitFor(Wave &wave);
  Status goOn();
  Status stopReason(const HasEnded &hasEnded) const;
  void reportIfDue(const HasEnded &hasEnded,
                   std::chrono::steady_clock::time_point &nextReport) const;
  bool waitsForSilent(const HasEnded &hasEnded) const;
  Status failureElsewhere(const HasEnded &hasEnded) const;

  SenderName sender;
  const ServerGroupOptions options;
  std::vector<std::unique_ptr<ServerSession>> sessions;
  std::vector<bool> joined;
  /// Handshake of each server that was greeted and would have admitted this
  /// process; nullopt for other servers.
  std::vector<std::optional<Message>> greeted;
  /// The requests that were sent by `beginAll`; null except between `beginAll`
  /// and `awaitAll`.
  std::shared_ptr<Wave> open;
  std::chrono::steady_clock::time_point respondedAt;
  std::optional<Message> noteToGoOnFrom;
  /// `sent`: sequence number of the last request of this process.
  /// `firstUnsent`: the first sequence number that no server had received at
  /// the join.
  uint64_t sent = 0, firstUnsent = 1;
  std::atomic<bool> gaveUp{false};
};

} // namespace pdlrt

#endif // PDLRT_PROTOCOL_SERVERGROUP_H
