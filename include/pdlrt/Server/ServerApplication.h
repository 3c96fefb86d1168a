//===- ServerApplication.h - What requests do to a server -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The seam between the protocol and the state. The protocol (ServerCore) sorts
// out copies, retries and absent trainers; the application sees each request
// once, in an order that the network cannot change.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_SERVER_SERVERAPPLICATION_H
#define PDLRT_SERVER_SERVERAPPLICATION_H

#include "pdlrt/Core/Status.h"
#include "pdlrt/Server/RoundPolicy.h"
#include "pdlrt/Transport/Envelope.h"
#include "pdlrt/Transport/Message.h"

#include <vector>

namespace pdlrt {

/// State that trainers share. Calls come one at a time; a call may use threads
/// of its own.
class ServerApplication {
public:
  virtual ~ServerApplication();

  /// The same payload before the join: why the trainer would be refused, or
  /// what the answer's payload is. Changes nothing.
  virtual Expected<Message> greet(const Envelope &request,
                                  const Message &payload) = 0;
  /// The payload of a Join (the handshake): what the answer's payload is, or
  /// why the trainer is refused. May come again for a trainer that joined.
  virtual Expected<Message> join(const Envelope &request,
                                 const Message &payload) = 0;

  /// Of a Join that was refused: whether it came from a trainer of this very
  /// job, which was started with wrong flags. Others would wait for it.
  virtual bool isOfJob(const Message &handshake) const {
    (void)handshake;
    return false;
  }

  /// Of a Join that was refused, and is not of this very job: whether a wrong
  /// program may have been started for it. Others would wait for the right one.
  virtual bool mayBeOfJob(const Message &handshake) const {
    (void)handshake;
    return false;
  }

  /// Looks at a request when it arrives, before it counts. On an error it is
  /// refused with that sentence, and nothing has changed.
  virtual Status check(const Envelope &request, const Message &payload) = 0;

  /// Which requests form rounds, and who waits for whom. Outlives the
  /// application; always the same.
  virtual const RoundPolicy &roundPolicy() const = 0;
  bool formsRounds(MessageKind kind) const {
    return roundPolicy().formsRounds(kind);
  }

  /// A checked request that forms no round; returns its answer's payload. An
  /// error fails the job with its sentence.
  virtual Expected<Message> handle(const Envelope &request,
                                   Message payload) = 0;

  /// A checked request of the current round: called in ascending order of
  /// trainers, as soon as those before have come.
  virtual void contribute(const Envelope &request, Message payload) = 0;

  /// Nobody is due any more: finishes the round. Returns one payload for each
  /// trainer, by rank; those that are not answered are not looked at. An error
  /// fails the job with its sentence.
  virtual Expected<std::vector<Message>> closeRound(MessageKind kind) = 0;
};

} // namespace pdlrt

#endif // PDLRT_SERVER_SERVERAPPLICATION_H
