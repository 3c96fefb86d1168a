//===- ServerSession.h - One sender's requests to one server ----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The client's part of exactly-once delivery. It numbers requests, and repeats
// the same bytes until a response arrives. It gives up only if the server
// refuses, or if the server was silent for too long.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_PROTOCOL_SERVERSESSION_H
#define PDLRT_PROTOCOL_SERVERSESSION_H

#include "pdlrt/Core/Clock.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Protocol/StartSign.h"
#include "pdlrt/Transport/Envelope.h"
#include "pdlrt/Transport/Frame.h"
#include "pdlrt/Transport/Message.h"
#include "pdlrt/Transport/Transport.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace pdlrt {

/// Timeouts and pauses of a sender.
struct RetryOptions {
  /// Deadline of one attempt. A timeout is no failure, because a server that
  /// waits for other trainers may take longer; the request is sent again. For
  /// numbered requests the deadline doubles each time, up to 32 times the first
  /// one, because large requests are slow. Lost connections are detected
  /// without it. For a join it is at most half of `silenceLimit`.
  ClockTime attemptDeadline = std::chrono::seconds(20);
  /// Pause before the first repetition; doubles up to `longestPause`.
  ClockTime firstPause = std::chrono::milliseconds(20);
  ClockTime longestPause = std::chrono::seconds(1);
  /// Time for which a join is repeated, because servers start in any order. A
  /// server that says it is alive but not ready is waited for without a limit.
  ClockTime joinPatience = std::chrono::seconds(60);
  /// After the join: a server that answers no heartbeat for this long is lost.
  /// Zero disables the limit. A server whose process has ended on this host is
  /// lost at once.
  ClockTime silenceLimit = std::chrono::seconds(10);
  /// After the join: a server whose address refuses connections for this long
  /// is lost, even if `silenceLimit` is longer: its host runs, but its process
  /// does not.
  ClockTime refusalLimit = std::chrono::seconds(10);
  ClockTime heartbeatInterval = std::chrono::seconds(1);
};

/// Information that a sender and its servers exchange in heartbeats. Both
/// callbacks may be empty. Threads of the transport call them, so they must
/// return quickly.
struct SessionEvents {
  /// Returns true if this process was asked to stop. Servers pass that on to
  /// all trainers.
  std::function<bool()> wasStopRequested;
  /// Called when a server says that some process of the job was asked to stop.
  /// May be called repeatedly.
  std::function<void()> onStopRequest;
};

/// Identity of a sender.
struct SenderName {
  uint32_t trainer = 0;
  uint32_t worker = 0;
  /// 0 until the servers have assigned one.
  uint64_t incarnation = 0;
  uint64_t epoch = 0;
  StartSign start = {};
};

/// Called when a request ends, with the response's payload, or with an error
/// message that names the server (refused or lost).
using RequestDone = std::function<void(Expected<Message> response)>;

/// Requests of one sender to one server, one open at a time. Callbacks run on
/// the threads of the transport and of its clock, never within calls of this
/// class; each runs once. Slices without an owner must stay valid until then.
/// Slices of parts must stay valid until their request has been answered or
/// `dropParts` has returned. Thread-safe.
class ServerSession {
public:
  /// Ends an open request with an error before it returns.
  virtual ~ServerSession();

  /// Asks whether the server would admit this process, with the handshake of a
  /// join. Changes nothing at the server. Repeated like a join. After the
  /// response, the session greets the server with each heartbeat until the
  /// join, so that the server knows that a trainer will come.
  virtual void greet(Message handshake, RequestDone done) = 0;
  /// Returns the incarnation that the server offers. Call after a greeting.
  virtual uint64_t proposedIncarnation() const = 0;
  /// Returns true if the previous incarnation of this trainer has left the
  /// server without an error. Call after a greeting.
  virtual bool previousIncarnationIsDone() const = 0;
  /// Returns the random number by which the server identifies its job. Call
  /// after a greeting or the join.
  virtual uint64_t jobId() const = 0;
  /// Sets the incarnation of this process and its claim. Call before the join.
  virtual void becomeStart(uint64_t incarnation, StartSign::Claim claim) = 0;

  /// Joins with a handshake. Repeated until the server responds or
  /// `joinPatience` has passed. Call before all other requests.
  virtual void join(Message handshake, RequestDone done) = 0;

  /// Sends the next request, which is applied exactly once. A Pull is numbered
  /// too. The session sends heartbeats by itself, from the join to the end. A
  /// Leave is allowed at any time after the join; it ends an open request with
  /// an error. After an error only a Leave is sent.
  virtual void send(MessageKind kind, Message payload, RequestDone done) = 0;

  /// Sends bytes of the next numbered request ahead of it, and repeats them
  /// until they have arrived; then calls `arrived`, which may be empty. Part
  /// numbers start at 0 for each request. Calling this before the join or while
  /// a request is open ends the session with an error. After an error it does
  /// nothing.
  virtual void sendPart(uint64_t number, const Message &bytes,
                        std::function<void()> arrived) = 0;
  /// Sets the positions of all parts in the next numbered request.
  virtual void placeParts(std::vector<PartPlace> places) = 0;
  /// Drops the parts of the next numbered request, because it will not be sent:
  /// stops repeating them and ends their calls. After the call, nothing reads
  /// their bytes.
  virtual void dropParts() noexcept = 0;

  /// Attaches a note to the next numbered request, for a later incarnation of
  /// this sender. Its bytes are copied or have an owner.
  virtual void leaveNote(Message note) = 0;
  /// Returns the notes of the previous incarnation that the server stores,
  /// oldest first. Call after the join. With --on-failure=wait a server stores
  /// the notes of several last requests.
  virtual std::vector<NumberedNote> notes() const = 0;

  /// Returns the number of the next request. Call after the join. Larger than 1
  /// if a previous incarnation of this trainer has sent requests.
  virtual uint64_t nextSequence() const = 0;
  /// Sets the number of the next request. No request may be open. A restarted
  /// trainer repeats the last requests of its previous incarnation, which the
  /// server answers from its stored responses (docs/Protocol.md).
  virtual void continueFrom(uint64_t sequence) = 0;

  /// Returns the last status that the server reported, such as "waiting for
  /// trainer 1" or, before the join, "loading saved/step-000000000100"; empty
  /// if the server does not wait.
  virtual std::string waitingFor() const = 0;
  /// Returns the time for which the server has answered no heartbeat.
  virtual ClockTime silence() const = 0;
  /// Returns the reason why only a Leave is sent from now on, such as the
  /// refusal of a heartbeat or of a repeated greeting; success while the
  /// session works. Set before an open request ends with that error.
  virtual Status failure() const = 0;
  /// Returns true if the server has said that a later incarnation of this
  /// trainer has replaced this one, or that another process has this rank.
  virtual bool placeIsTaken() const = 0;
  /// Returns true if the session failed because the server died, ended, or was
  /// silent for too long.
  virtual bool serverIsLost() const = 0;
  /// Records that another server of the job is lost. A Leave reports it
  /// (`noteOfLostServer`).
  virtual void noteLostServer() = 0;
  /// Returns the name of the server in messages: "server a:7101".
  virtual const std::string &name() const = 0;
};

/// Creates a session. `transport` must outlive it. `name` is the name of the
/// server in messages; if empty, its address. Returns an error if the address
/// is malformed.
Expected<std::unique_ptr<ServerSession>>
createServerSession(Transport &transport, const std::string &address,
                    const SenderName &sender, const RetryOptions &options,
                    const SessionEvents &events = {},
                    const std::string &name = {});

} // namespace pdlrt

#endif // PDLRT_PROTOCOL_SERVERSESSION_H
