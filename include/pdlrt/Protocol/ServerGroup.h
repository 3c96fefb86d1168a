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
  /// Polled about ten times a second while a call waits. If it returns true,
  /// the call ends with an error. May be empty.
  std::function<bool()> shouldStop;
  /// After `events.wasStopRequested` returns true, a server that is silent for
  /// this long also ends the call, because a graceful shutdown needs that
  /// server.
  std::chrono::milliseconds stopPatience{3000};
  /// Receives a line for the user each time a call has waited for another
  /// `reportInterval`, such as "server a:1: waiting for trainer 1 to join (5
  /// s)". May be empty.
  std::function<void(const std::string &line)> report;
  std::chrono::milliseconds reportInterval{5000};
  /// Time to wait for the other servers after one server's error, even if the
  /// error came after its response.
  std::chrono::milliseconds errorPatience{1000};
  /// Behavior of a restarted trainer if servers know requests of its previous
  /// incarnation.
  enum class EarlierStart {
    /// Joining is an error.
    Refuse,
    /// Resumes from the last request that all servers have and that carries a
    /// note (docs/Protocol.md).
    GoOn,
    /// Continues at each server with that server's next sequence number. Only
    /// for senders whose requests change nothing.
    Ignore,
    /// The caller decides from the result of `earlier`, and calls `goOnWith`
    /// before everything else.
    Ask,
  };
  EarlierStart earlierStart = EarlierStart::Refuse;
  /// Names of the servers in messages. A server without a name is called by its
  /// address.
  std::vector<std::string> names = {};
};

/// Sessions to all servers of a job, for a caller that blocks. The transport
/// must run its own clock. Only one thread may use a group at a time, except
/// where noted. Slices of payloads without an owner must stay valid until the
/// call has ended; after an error, until the group is destroyed.
class ServerGroup {
public:
  /// Creates a group. `transport` must outlive it. Returns an error if an
  /// address is malformed.
  static Expected<std::unique_ptr<ServerGroup>>
  connect(Transport &transport, const std::vector<std::string> &addresses,
          const SenderName &sender, const ServerGroupOptions &options);
  ~ServerGroup();
  ServerGroup(const ServerGroup &) = delete;
  ServerGroup &operator=(const ServerGroup &) = delete;

  size_t size() const { return sessions.size(); }
  ServerSession &session(size_t server) { return *sessions[server]; }

  /// Joins all servers, with one handshake for each, and returns their
  /// responses in server order, or the error of the first server that has one.
  /// Must be the first call. A sender without an incarnation first greets all
  /// servers, so that it replaces no other process if one of them refuses. The
  /// first server then assigns the incarnation.
  Expected<std::vector<Message>>
  joinAll(const std::vector<Message> &handshakes);
  /// Returns the incarnation of this process. Call after the join.
  uint64_t incarnation() const { return sender.incarnation; }

  /// Returns the note that the previous incarnation attached to the request
  /// that is sent next. Call after the join. Empty if the previous incarnation
  /// left no note yet: then this incarnation starts from the beginning, and
  /// servers answer its requests as they answered those of the previous one.
  const std::optional<Message> &earlierNote() const { return noteToGoOnFrom; }
  /// Progress of the previous incarnation of this sender. Call `earlier` after
  /// the join.
  struct Earlier {
    /// Number of the first request that some server does not have; 1 if no
    /// request was sent.
    uint64_t firstMissing = 1;
    /// Last note attached to a request that all servers have, and the number of
    /// that request; 0 if there is none.
    uint64_t noted = 0;
    Message note;
  };
  Earlier earlier() const;
  /// Sets the number of the next request, at most `earlier().firstMissing`.
  /// Servers repeat their responses to requests that they already have.
  void goOnWith(uint64_t sequence);
  /// Returns the number of requests sent, including previous incarnations.
  uint64_t requestsSent() const { return sent; }

  /// Returns true if the previous incarnation sent the next request to some
  /// server. Then everything before that request was completed.
  bool wasSentBefore() const { return sent + 1 < firstUnsent; }
  /// Attaches a note to the next request to the first server.
  void leaveNote(Message note) { sessions[0]->leaveNote(std::move(note)); }

  /// Sends bytes of the next request to one server ahead of the request, which
  /// will say where they belong (see ServerSession). Any thread may call this
  /// while no request is open.
  void sendPart(size_t server, uint64_t number, const Message &bytes,
                std::function<void()> arrived) {
    sessions[server]->sendPart(number, bytes, std::move(arrived));
  }
  void placeParts(size_t server, std::vector<PartPlace> places) {
    sessions[server]->placeParts(std::move(places));
  }
  /// Makes current and future waits for servers end soon with an error. Called
  /// when another part of the trainer has failed, because a response may never
  /// come then. Thread-safe.
  void giveUp() { gaveUp.store(true, std::memory_order_relaxed); }

  /// Drops the parts of the next request at all servers, because it will not be
  /// sent. After the call, nothing reads their bytes.
  void dropParts() noexcept {
    for (const auto &session : sessions)
      session->dropParts();
  }

  /// Sends one request to each server concurrently and waits for all responses.
  /// After an error or a stop, only `leaveAll` may follow.
  Expected<std::vector<Message>> sendAll(MessageKind kind,
                                         std::vector<Message> payloads);
  /// Does the same in two halves: sends first, waits later.
  void beginAll(MessageKind kind, std::vector<Message> payloads);
  Expected<std::vector<Message>> awaitAll();
  /// Returns the time at which the last response to the last `sendAll` or
  /// `awaitAll` arrived.
  std::chrono::steady_clock::time_point lastResponse() const {
    return respondedAt;
  }

  /// Returns the reason why some server no longer responds, as far as is known;
  /// success while all servers work. Thread-safe after the join.
  Status failure() const;

  /// Predicate of a thread that waits for servers: true if that server has done
  /// what the thread waits for.
  using HasEnded = std::function<bool(size_t server)>;
  /// Returns an error if the caller must stop waiting, because of a stop or of
  /// a failure of another server. Reports the servers that it waits for when
  /// `nextReport` is reached. Call this about ten times a second.
  Status lookAround(const HasEnded &hasEnded,
                    std::chrono::steady_clock::time_point &nextReport) const;
  /// Returns the time of the first report of a wait that starts now.
  std::chrono::steady_clock::time_point firstReport() const {
    return std::chrono::steady_clock::now() + options.reportInterval;
  }

  /// Returns true if a server has said that a later incarnation of this trainer
  /// has replaced this one, or that another process has this rank. The rank is
  /// then in use, so this process must not leave any server: a server that the
  /// other process has not reached yet would treat that as a failure.
  bool placeIsTaken() const;
  /// Returns true if a server has died, or has ended before the job, as far as
  /// this group knows.
  bool hasLostServer() const;
  /// Records that another group of this process has lost a server. A later
  /// Leave reports it, so that servers do not wait for a restart of this
  /// trainer.
  void noteLostServer();
  /// Tells all joined servers that this trainer is done (empty text) or why it
  /// failed, and waits for their responses for at most `limit`. Without a
  /// failure, servers that did not respond in time are reported. With a
  /// failure, also tells servers that were only greeted and know no previous
  /// incarnation, because they would wait for this process. Does nothing if
  /// this process was replaced.
  void leaveAll(const std::string &sentence,
                std::chrono::milliseconds limit = std::chrono::seconds(2)) {
    leaveAll(sentence, codeOfUnknownFailure, limit);
  }
  /// Does the same with the outcome of this trainer, whose code is sent too.
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
  void leaveAll(const std::string &sentence, pdl_status code,
                std::chrono::milliseconds limit);
  Expected<std::vector<Message>> waitFor(Wave &wave);
  Status goOn();
  Status stopReason(const HasEnded &hasEnded) const;
  void reportIfDue(const HasEnded &hasEnded,
                   std::chrono::steady_clock::time_point &nextReport) const;
  std::string waitingLine(const HasEnded &hasEnded) const;
  bool waitsForSilent(const HasEnded &hasEnded) const;
  Status failureElsewhere(const HasEnded &hasEnded) const;

  SenderName sender;
  const ServerGroupOptions options;
  std::vector<std::unique_ptr<ServerSession>> sessions;
  std::vector<bool> joined;
  /// Handshakes with which servers would have admitted this process, by server.
  std::vector<std::optional<Message>> greeted;
  /// Set between `beginAll` and `awaitAll`.
  std::shared_ptr<Wave> open;
  std::chrono::steady_clock::time_point respondedAt;
  std::optional<Message> noteToGoOnFrom;
  /// Number of the last request of this process, and the first number that no
  /// server had at the join.
  uint64_t sent = 0, firstUnsent = 1;
  std::atomic<bool> gaveUp{false};
};

} // namespace pdlrt

#endif // PDLRT_PROTOCOL_SERVERGROUP_H
