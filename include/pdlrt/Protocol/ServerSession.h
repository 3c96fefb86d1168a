//===- ServerSession.h - One sender's requests to one server ----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Delivers the requests of one sender to one server exactly once, together with
// ReplayGuard on the server. A session numbers requests, and asks for the
// response again (Poll) until it arrives. If the server does not have the
// request, the session sends the same bytes again. It only gives up if the
// server refuses the request, or does not respond for too long.
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
  /// Deadline of one attempt. After it, the session asks for the response
  /// again; this is not an error, because a server that waits for other
  /// trainers may take longer. For numbered requests the deadline doubles with
  /// each attempt, up to 32 times the first one, because large requests are
  /// slow. For a join it is at most half of `silenceLimit`. Lost connections
  /// are detected without the deadline.
  ClockTime attemptDeadline = std::chrono::seconds(20);
  /// Pause before the second attempt. It doubles with each attempt, up to
  /// `longestPause`.
  ClockTime firstPause = std::chrono::milliseconds(20);
  ClockTime longestPause = std::chrono::seconds(1);
  /// Time for which a join is repeated if the server does not respond, because
  /// processes start in any order. There is no limit if the server responds
  /// that it is alive but not ready.
  ClockTime joinPatience = std::chrono::seconds(60);
  /// After the join, a server that answers no heartbeat for this time counts as
  /// lost. Zero disables the limit. If the server runs on this host and its
  /// process ends, it is lost immediately.
  ClockTime silenceLimit = std::chrono::seconds(10);
  /// After the join, a server whose address refuses connections for this time
  /// counts as lost, even if `silenceLimit` is longer. A refusal means that the
  /// host runs, but the process does not.
  ClockTime refusalLimit = std::chrono::seconds(10);
  ClockTime heartbeatInterval = std::chrono::seconds(1);
};

/// Callbacks for the information that a sender and its servers exchange in
/// heartbeats. Each may be empty. Threads of the transport call them, so they
/// must return quickly.
struct SessionEvents {
  /// Returns true if this process was asked to shut down. Servers report it to
  /// all trainers.
  std::function<bool()> wasStopRequested;
  /// Called when a server reports that some process of the job was asked to
  /// shut down. May be called several times.
  std::function<void()> onStopRequest;
};

/// Identity of a sender.
struct SenderName {
  uint32_t trainer = 0;
  uint32_t worker = 0;
  /// Number of the incarnation; 0 until a server has assigned one.
  uint64_t incarnation = 0;
  uint64_t epoch = 0;
  StartSign start = {};
};

/// Called when a request ends: with the payload of the response, or with an
/// error if the server has refused the request or is lost. The message names
/// the server.
using RequestDone = std::function<void(Expected<Message> response)>;

/// Sends the requests of one sender to one server; only one request may be open
/// at a time. Each callback is called once, on a thread of the transport or of
/// its clock, never within a call of this class except the destructor. Memory
/// of a payload that has no owner must stay valid until the callback. Memory of
/// parts must stay valid until the request to which they belong has a response,
/// or `dropParts` has returned. Thread-safe.
class ServerSession {
public:
  /// Ends an open request with an error before it returns.
  virtual ~ServerSession();

  /// Asks the server whether it would admit this process, with the handshake of
  /// a join. Changes nothing at the server. The message is repeated like a
  /// join. After the response, the session greets the server again with each
  /// heartbeat until the join, so that the server knows that this trainer will
  /// join.
  virtual void greet(Message handshake, RequestDone done) = 0;
  /// Returns the incarnation that the server has proposed. Call after `greet`
  /// has ended.
  virtual uint64_t proposedIncarnation() const = 0;
  /// Returns true if the previous incarnation of this trainer has left the
  /// server without an error. Call after `greet` has ended.
  virtual bool previousIncarnationIsDone() const = 0;
  /// Returns the random number by which the server identifies its job
  /// (`JoinResponse::job`). Call after `greet` or `join` has ended.
  virtual uint64_t jobId() const = 0;
  /// Sets the incarnation of this process, and the claim that it makes to a
  /// server with a previous incarnation (StartSign.h). Call before the join.
  virtual void becomeStart(uint64_t incarnation, StartSign::Claim claim) = 0;

  /// Joins the job with a handshake. The message is repeated until the server
  /// responds or `joinPatience` has passed. Call before all other requests.
  virtual void join(Message handshake, RequestDone done) = 0;

  /// Sends the next request, which the server applies exactly once. All kinds
  /// of requests except Leave are numbered, also a Pull. A Leave may be sent at
  /// any time after the join; it ends an open request with an error. After an
  /// error, only a Leave is sent. Heartbeats are sent in the background, from
  /// the join on.
  virtual void send(MessageKind kind, Message payload, RequestDone done) = 0;

  /// Sends bytes of the next numbered request before the request itself (a
  /// part). Repeats them until they have arrived, then calls `arrived`, which
  /// may be empty. `number` counts the parts of a request from 0. If called
  /// before the join or while a request is open, ends the session with an
  /// error. After an error, does nothing.
  virtual void sendPart(uint64_t number, const Message &bytes,
                        std::function<void()> arrived) = 0;
  /// Sets the positions that the bytes of the parts have in the next numbered
  /// request. Call before the request is sent.
  virtual void placeParts(std::vector<PartPlace> places) = 0;
  /// Stops sending the parts of the next numbered request, which will not be
  /// sent. After the call, the memory of the parts is not read any more.
  virtual void dropParts() noexcept = 0;

  /// Attaches a note to the next request that is not a join. With a numbered
  /// request, servers store it for a later incarnation of this sender. Memory
  /// of the note that has no owner must stay valid like that of the payload.
  virtual void leaveNote(Message note) = 0;
  /// Returns the notes of the previous incarnation that the server has stored,
  /// oldest first. Call after the join. With --on-failure=wait, a server stores
  /// the notes of several last requests.
  virtual std::vector<NumberedNote> notes() const = 0;

  /// Returns the sequence number of the next request. Call after the join. It
  /// is larger than 1 if a previous incarnation of this trainer has sent
  /// requests.
  virtual uint64_t nextSequence() const = 0;
  /// Sets the sequence number of the next request. No request may be open. So a
  /// restarted trainer can repeat the last requests of its previous
  /// incarnation, to which the server sends its stored responses
  /// (docs/Protocol.md).
  virtual void continueFrom(uint64_t sequence) = 0;

  /// Returns the reason for which the server waits, as it has reported last,
  /// such as "waiting for trainer 1" or, before the join, "loading
  /// saved/step-000000000100". For a silent server, says for how long it has
  /// been silent. Empty if the server does not wait.
  virtual std::string waitingFor() const = 0;
  /// Returns the time for which the server has answered no heartbeat.
  virtual ClockTime silence() const = 0;
  /// Returns the error after which only a Leave is sent, for example that the
  /// server has refused a heartbeat or a repeated greeting. Returns success
  /// while the session works. When an open request ends with such an error,
  /// this function already returns it.
  virtual Status failure() const = 0;
  /// Returns true if the server has reported that a later incarnation of this
  /// trainer has replaced this one, or that another process has this rank.
  virtual bool placeIsTaken() const = 0;
  /// Returns true if the session has failed because the server has died or
  /// ended, or has not responded for too long.
  virtual bool serverIsLost() const = 0;
  /// Records that another server of the job is lost. A Leave message then
  /// reports it (`noteOfLostServer`).
  virtual void noteLostServer() = 0;
  /// Returns the name of the server in messages, such as "server a:7101".
  virtual const std::string &name() const = 0;
};

/// Creates a session. `transport` must outlive the session. `name` is the name
/// of the server in messages; if it is empty, the address is used. Returns an
/// error if the address is malformed.
Expected<std::unique_ptr<ServerSession>>
createServerSession(Transport &transport, const std::string &address,
                    const SenderName &sender, const RetryOptions &options,
                    const SessionEvents &events = {},
                    const std::string &name = {});

} // namespace pdlrt

#endif // PDLRT_PROTOCOL_SERVERSESSION_H
