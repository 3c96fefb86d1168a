//===- ServerSession.h - One sender's requests to one server ----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The client's half of exactly-once: numbers requests, sends the same bytes
// again until there is an answer, and gives up only where the server refuses or
// where nothing has been heard of it for too long.
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

/// How long a sender waits for what.
struct RetryOptions {
  /// One attempt; a server that waits for other trainers may take longer, so
  /// its end is no failure, and the request is sent again. For numbered
  /// requests it doubles each time, up to 32 times as long: large ones take
  /// their time. Lost connections show without a deadline. A join's is at most
  /// half of `silenceLimit`.
  ClockTime attemptDeadline = std::chrono::seconds(20);
  /// Pause before the first repetition; doubles up to `longestPause`.
  ClockTime firstPause = std::chrono::milliseconds(20);
  ClockTime longestPause = std::chrono::seconds(1);
  /// A join is repeated for that long: servers start in any order. A server
  /// that says it lives, and cannot answer yet, is waited for without a limit.
  ClockTime joinPatience = std::chrono::seconds(60);
  /// After a join: a server that answers nothing for that long, although it is
  /// asked, is lost. Zero: wait for ever. One whose process has ended on
  /// this host is lost at once.
  ClockTime silenceLimit = std::chrono::seconds(10);
  /// After a join: a server whose address refuses connections for that long is
  /// lost, however long silence may last. Its host is there, and its process is
  /// not.
  ClockTime refusalLimit = std::chrono::seconds(10);
  ClockTime beatInterval = std::chrono::seconds(1);
};

/// What a sender and its servers tell each other beside requests. Both may be
/// empty, are called by threads of the transport, and take moments.
struct SessionEvents {
  /// Whether this process was asked to stop: servers, and so all trainers, hear
  /// of it.
  std::function<bool()> wasAskedToStop;
  /// A server says that somebody of the job was asked to stop. May come often.
  std::function<void()> onStopRequest;
};

/// Who sends.
struct SenderName {
  uint32_t trainer = 0;
  uint32_t worker = 0;
  /// 0: the servers have not given one yet.
  uint64_t incarnation = 0;
  uint64_t epoch = 0;
  StartSign start = {};
};

/// The end of a request: the answer's payload, or one sentence that names the
/// server: refused, or lost.
using RequestDone = std::function<void(Expected<Message> answer)>;

/// One sender's requests to one server, one open at a time. Callbacks run where
/// the transport and its clock run theirs, never within these calls; each runs
/// once. Slices without an owner must stay until then, those of parts until the
/// request that they are of has been answered, or `dropParts` has returned.
/// Thread-safe.
class ServerSession {
public:
  /// Ends an open request with an error, before it returns.
  virtual ~ServerSession();

  /// Asks whether the server would let this start in, with the handshake of a
  /// join, and changes nothing there; repeated like a join. After the answer
  /// the server is greeted at each beat until the join, so that it knows that
  /// one will come.
  virtual void greet(Message handshake, RequestDone done) = 0;
  /// After a greeting: the incarnation that the server offers to this start.
  virtual uint64_t offeredIncarnation() const = 0;
  /// After a greeting: an earlier start of this trainer has left the server in
  /// order.
  virtual bool earlierStartIsDone() const = 0;
  /// After a greeting or the join: what the server has drawn to tell its job
  /// from others.
  virtual uint64_t jobId() const = 0;
  /// Which incarnation this start is, and what it claims. Before its join.
  virtual void becomeStart(uint64_t incarnation, StartSign::Claim claim) = 0;

  /// Joins with a handshake; repeated until a server answers or
  /// `joinPatience` is over. Before all other requests.
  virtual void join(Message handshake, RequestDone done) = 0;

  /// Sends the next request, which is applied exactly once. A Pull is numbered
  /// too. Beats are sent by the session itself, from the join to the end. A
  /// Leave may come at any time after the join: it ends an open request with an
  /// error. After an error nothing but a Leave is sent.
  virtual void send(MessageKind kind, Message payload, RequestDone done) = 0;

  /// Sends bytes of the next numbered request ahead of it, until they have
  /// arrived: `arrived`, which may be empty, is called then. Numbers count from
  /// 0 for each request. Not before the join or while a request is open, which
  /// ends the session; after an error it does nothing.
  virtual void sendPart(uint64_t number, const Message &bytes,
                        std::function<void()> arrived) = 0;
  /// Says where all the parts belong in the next numbered request.
  virtual void placeParts(std::vector<PartPlace> places) = 0;
  /// Where the next numbered request will not be sent: repeats none of its
  /// parts, and ends calls that bring some. Nothing reads their bytes when it
  /// returns.
  virtual void dropParts() noexcept = 0;

  /// Leaves a note with the next numbered request, for a later start of this
  /// sender. Its bytes are copied or owned.
  virtual void leaveNote(Message note) = 0;
  /// After the join: the notes of an earlier start that the server keeps, the
  /// oldest first. A server that waits for lost trainers keeps those of some
  /// last requests.
  virtual std::vector<NumberedNote> notes() const = 0;

  /// After the join: the number of the next request. More than 1 where an
  /// earlier start of this trainer has sent some.
  virtual uint64_t nextSequence() const = 0;
  /// Goes on with another number, where none is open: a trainer that started
  /// anew sends the last requests of its earlier start again, which the server
  /// answers from what it keeps (docs/Protocol.md).
  virtual void continueFrom(uint64_t sequence) = 0;

  /// What the server said last of itself, such as "waiting for trainer 1" or,
  /// before the join is answered, "loading saved/step-000000000100"; empty if
  /// nothing holds it up.
  virtual std::string waitingFor() const = 0;
  /// For how long the server has answered nothing although it was asked.
  virtual ClockTime silence() const = 0;
  /// Why nothing but a Leave is sent any more, such as the refusal of a beat or
  /// of a repeated greeting; success as long as all goes well. What an open
  /// request ends with comes there first.
  virtual Status failure() const = 0;
  /// The server has said that a later start of this trainer has joined in its
  /// place, or that another one has the place that it asks for: it is not this
  /// one that servers wait for.
  virtual bool placeIsTaken() const = 0;
  /// The session has failed because the server has died, or has ended, or was
  /// not heard of for too long.
  virtual bool serverIsLost() const = 0;
  /// Another server of the job is lost: a Leave says so (`noteOfLostServer`).
  virtual void noteLostServer() = 0;
  /// What messages call the server: "server a:7101".
  virtual const std::string &name() const = 0;
};

/// A session over `transport`, which outlives it. `name`: what messages call
/// the server; empty: by its address. An error where the address is malformed.
Expected<std::unique_ptr<ServerSession>>
createServerSession(Transport &transport, const std::string &address,
                    const SenderName &sender, const RetryOptions &options,
                    const SessionEvents &events = {},
                    const std::string &name = {});

} // namespace pdlrt

#endif // PDLRT_PROTOCOL_SERVERSESSION_H
