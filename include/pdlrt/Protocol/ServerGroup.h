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
  /// Asked about ten times a second while a call waits; true ends the call with
  /// an error. May be empty.
  std::function<bool()> shouldStop;
  /// Where `events.wasAskedToStop`: a server that is silent for that long ends
  /// the call too. No stop can be in order without it.
  std::chrono::milliseconds stopPatience{3000};
  /// Gets a line for the user, such as "server a:1: waiting for trainer 1 to
  /// join (5 s)", each time a call has waited for another `reportInterval`. May
  /// be empty.
  std::function<void(const std::string &line)> report;
  std::chrono::milliseconds reportInterval{5000};
  /// After one server's error, also behind its answer, others are waited for
  /// that long.
  std::chrono::milliseconds errorPatience{1000};
  /// What a start does where servers know requests of an earlier one.
  enum class EarlierStart {
    /// Joining them is an error.
    Refuse,
    /// It goes back to the last request with a note that all servers have, and
    /// goes on from there (docs/Protocol.md).
    GoOn,
    /// What it asks changes nothing: each server goes on with its own number.
    Ignore,
    /// The caller decides, by what `earlier` says: before all else it calls
    /// `goOnWith`.
    Ask,
  };
  EarlierStart earlierStart = EarlierStart::Refuse;
  /// What messages call the servers; those without one go by their address.
  std::vector<std::string> names = {};
};

/// Sessions to all servers of a job, for a thread that waits. Needs a transport
/// whose clock runs by itself. One thread at a time. Slices of payloads without
/// an owner must stay until the call has ended, and after an error until the
/// group has.
class ServerGroup {
public:
  /// An error where an address is malformed. `transport` outlives the group.
  static Expected<std::unique_ptr<ServerGroup>>
  connect(Transport &transport, const std::vector<std::string> &addresses,
          const SenderName &sender, const ServerGroupOptions &options);
  ~ServerGroup();
  ServerGroup(const ServerGroup &) = delete;
  ServerGroup &operator=(const ServerGroup &) = delete;

  size_t size() const { return sessions.size(); }
  ServerSession &session(size_t server) { return *sessions[server]; }

  /// Joins all servers, with one handshake each. Returns their answers by
  /// server, or the error of the first server that has one. Before all else.
  /// A sender without an incarnation greets all of them first: nobody's place
  /// is taken where one refuses. The first server then gives the incarnation.
  Expected<std::vector<Message>>
  joinAll(const std::vector<Message> &handshakes);
  /// Of this start, after the join.
  uint64_t incarnation() const { return sender.incarnation; }

  /// After the join, where this start goes on from an earlier one: what that
  /// one noted with the request that is sent next. Empty where it left no note
  /// yet: then this start begins as the first one, and its requests are
  /// answered as those of the earlier one.
  const std::optional<Message> &earlierNote() const { return noteToGoOnFrom; }
  /// After the join, of an earlier start of this sender.
  struct Earlier {
    /// The first request that not all servers have; 1: there was none.
    uint64_t firstMissing = 1;
    /// The last note that came with a request before it, and the number of that
    /// request, which all servers have; 0: there is none.
    uint64_t noted = 0;
    Message note;
  };
  Earlier earlier() const;
  /// The next request has that number, up to `earlier().firstMissing`: servers
  /// answer those that they have as they did.
  void goOnWith(uint64_t sequence);
  /// How many requests were sent, with those of earlier starts.
  uint64_t requestsSent() const { return sent; }

  /// Whether the next request was sent to some server by an earlier start:
  /// all that came before it was done.
  bool wasSentBefore() const { return sent + 1 < firstUnsent; }
  /// Leaves a note with the next request, at the first server.
  void leaveNote(Message note) { sessions[0]->leaveNote(std::move(note)); }

  /// Sends bytes of the next request to one server ahead of it, which says
  /// where they belong: see ServerSession. By any thread, while no request is
  /// open.
  void sendPart(size_t server, uint64_t number, const Message &bytes,
                std::function<void()> arrived) {
    sessions[server]->sendPart(number, bytes, std::move(arrived));
  }
  void placeParts(size_t server, std::vector<PartPlace> places) {
    sessions[server]->placeParts(std::move(places));
  }
  /// What waits for servers now, or will, ends soon with an error, as the
  /// trainer has failed elsewhere: an answer may not come before it goes on. By
  /// any thread.
  void giveUp() { gaveUp.store(true, std::memory_order_relaxed); }

  /// At all servers, where the next request will not be sent: nothing reads the
  /// bytes of its parts any more.
  void dropParts() noexcept {
    for (const auto &session : sessions)
      session->dropParts();
  }

  /// Sends one request to each server at once and waits for all answers. An
  /// error, or a stop, ends the group: only `leaveAll` may follow.
  Expected<std::vector<Message>> sendAll(MessageKind kind,
                                         std::vector<Message> payloads);
  /// The same in two halves: sends, and later waits.
  void beginAll(MessageKind kind, std::vector<Message> payloads);
  Expected<std::vector<Message>> awaitAll();
  /// When the last server answered the last request to all.
  std::chrono::steady_clock::time_point lastAnswer() const {
    return answeredAt;
  }

  /// Why some server answers no more, as far as is known; success as long as
  /// all goes well. Any thread, after the join.
  Status failure() const;

  /// For a thread that waits for some of the servers: whether one has done what
  /// it waits for.
  using HasEnded = std::function<bool(size_t server)>;
  /// An error where it must wait no longer, because of a stop or of what has
  /// failed elsewhere. Reports who is waited for, when `nextReport` has come.
  /// To be asked about ten times a second.
  Status lookAround(const HasEnded &hasEnded,
                    std::chrono::steady_clock::time_point &nextReport) const;
  /// When a wait that begins now is reported first.
  std::chrono::steady_clock::time_point firstReport() const {
    return std::chrono::steady_clock::now() + options.reportInterval;
  }

  /// Some server has said that a later start of this trainer has joined in its
  /// place, or that another one has the place that it asks for. The trainer
  /// lives, so no group of this start leaves any server: those that the other
  /// one has not reached yet would take it for a failure.
  bool placeIsTaken() const;
  /// Some server has died, or ended before its job, as far as this group knows.
  bool hasLostServer() const;
  /// Another group of this process knows so: what leaves says it, so that
  /// nobody waits for a new start of this trainer.
  void noteLostServer();
  /// Tells the servers that were joined that this trainer is done (an empty
  /// sentence) or why it failed, and waits for their answers, `limit` at most.
  /// Without a failure, servers that did not answer until then are reported.
  /// A failure is also told to servers that were only greeted, and know no
  /// earlier start: they would wait for this one. Does nothing where it is
  /// replaced.
  void leaveAll(const std::string &sentence,
                std::chrono::milliseconds limit = std::chrono::seconds(2));

private:
  class Wave;
  ServerGroup(const SenderName &who, const ServerGroupOptions &given)
      : sender(who), options(given) {}
  Status greetAll(const std::vector<Message> &handshakes);
  Expected<std::vector<Message>> join(size_t first, size_t end,
                                      const std::vector<Message> &handshakes);
  void joinToLeave(std::chrono::steady_clock::time_point until);
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
  /// By server, where it would have let this start in: with what.
  std::vector<std::optional<Message>> greeted;
  /// Between the halves of a request to all.
  std::shared_ptr<Wave> open;
  std::chrono::steady_clock::time_point answeredAt;
  std::optional<Message> noteToGoOnFrom;
  /// The last request of this start, and the first one that no server had when
  /// it joined.
  uint64_t sent = 0, firstUnsent = 1;
  std::atomic<bool> gaveUp{false};
};

} // namespace pdlrt

#endif // PDLRT_PROTOCOL_SERVERGROUP_H
