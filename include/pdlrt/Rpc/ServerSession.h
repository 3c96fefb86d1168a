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

#ifndef PDLRT_RPC_SERVERSESSION_H
#define PDLRT_RPC_SERVERSESSION_H

#include "pdlrt/Core/Clock.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Rpc/Envelope.h"
#include "pdlrt/Rpc/Frame.h"
#include "pdlrt/Rpc/Message.h"
#include "pdlrt/Rpc/Transport.h"

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
  /// requests it doubles each time, up to 32 times as long: a long wait must
  /// not cost a copy of all bytes each time. Lost connections show without a
  /// deadline. A join's is at most half of `silenceLimit`.
  ClockTime attemptDeadline = std::chrono::seconds(20);
  /// Pause before the first repetition; doubles up to `longestPause`.
  ClockTime firstPause = std::chrono::milliseconds(20);
  ClockTime longestPause = std::chrono::seconds(1);
  /// A join is repeated for that long: servers start in any order.
  ClockTime joinPatience = std::chrono::seconds(60);
  /// After a join: a server that nothing has been heard of for that long is
  /// lost. Zero: wait for ever.
  ClockTime silenceLimit = std::chrono::seconds(10);
  ClockTime beatInterval = std::chrono::seconds(1);
};

/// Who sends.
struct SenderName {
  uint32_t trainer = 0;
  uint32_t worker = 0;
  uint64_t incarnation = 0;
  uint64_t epoch = 0;
};

/// The end of a request: the answer's payload, or one sentence that names the
/// server: refused, or lost.
using RequestDone = std::function<void(Expected<Message> answer)>;

/// One sender's requests to one server, one open at a time. Callbacks run where
/// the transport and its clock run theirs, never within these calls; each runs
/// once. Slices without an owner must stay until then. Thread-safe.
class ServerSession {
public:
  /// Ends an open request with an error, before it returns.
  virtual ~ServerSession();

  /// Joins with a handshake; repeated until a server answers or
  /// `joinPatience` is over. Before all other requests.
  virtual void join(Message handshake, RequestDone done) = 0;

  /// Sends the next request, which is applied exactly once. A Pull is numbered
  /// too. Beats are sent by the session itself, from the join to the end. A
  /// Leave may come at any time after the join: it ends an open request with an
  /// error. After an error nothing but a Leave is sent.
  virtual void send(MessageKind kind, Message payload, RequestDone done) = 0;

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

  /// What the last beat's answer said, such as "waiting for trainer 1"; empty
  /// if nobody is waited for.
  virtual std::string waitingFor() const = 0;
  virtual const std::string &address() const = 0;
};

/// A session over `transport`, which outlives it. An error where the address is
/// malformed.
Expected<std::unique_ptr<ServerSession>>
createServerSession(Transport &transport, const std::string &address,
                    const SenderName &sender, const RetryOptions &options);

} // namespace pdlrt

#endif // PDLRT_RPC_SERVERSESSION_H
