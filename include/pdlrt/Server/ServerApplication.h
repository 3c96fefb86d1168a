//===- ServerApplication.h - Interface of protocol and state ----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Interface between the protocol of a server (ServerCore) and the state (the
// application). ServerCore handles duplicates, retries and lost trainers. The
// application gets each request once, in an order that does not depend on the
// network unless the mode allows it.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_SERVER_SERVERAPPLICATION_H
#define PDLRT_SERVER_SERVERAPPLICATION_H

#include "pdlrt/Core/Status.h"
#include "pdlrt/Server/RoundPolicy.h"
#include "pdlrt/Transport/Envelope.h"
#include "pdlrt/Transport/Message.h"

#include <cstdint>
#include <span>
#include <vector>

namespace pdlrt {

/// Relation of a request to rounds when it is taken.
enum class Turn {
  /// It is not part of a round.
  Alone,
  /// It is part of the open round. It is answered when the round is closed, or
  /// earlier.
  InRound,
  /// Its own round is already closed. Its gradients are added to the open
  /// round.
  Late,
  /// Its own round is already closed. Its gradients are dropped.
  Dropped,
};

/// The state that trainers share on a server. Only one call is in progress at a
/// time; a call may use several threads.
class ServerApplication {
public:
  virtual ~ServerApplication();

  /// Handles a Greet, which has the same payload as a later Join. Returns the
  /// payload of the response, or an error with the reason of a refusal. Changes
  /// nothing.
  virtual Expected<Message> greet(const Envelope &request,
                                  const Message &payload) = 0;
  /// Handles a Join, whose payload is a handshake. Returns the payload of the
  /// response, or an error with the reason of a refusal. May be called again
  /// for a trainer that has joined.
  virtual Expected<Message> join(const Envelope &request,
                                 const Message &payload) = 0;

  /// Called for a refused Greet or Join. Returns true if the sender is a
  /// trainer of this job that was started with wrong flags. The server then
  /// records the refusal and usually fails the job, because the other trainers
  /// would wait forever for a trainer with the right flags.
  virtual bool isOfJob(const Message &handshake) const {
    (void)handshake;
    return false;
  }

  /// Called for a refused Greet or Join for which `isOfJob` returned false.
  /// Returns true if the sender may be a wrong program that was started for
  /// this job. The sender may also belong to another job, so the server fails
  /// the job only if no trainer of that rank joins within a time limit.
  virtual bool mayBeOfJob(const Message &handshake) const {
    (void)handshake;
    return false;
  }

  /// `respondToVisit` and `respondToRead` handle a Visit and a Read of a
  /// reader, which is not part of the job (ReadCodec.h). They return the
  /// payload of the response, or an error with the reason of a refusal. They
  /// change nothing that others can see. They throw std::bad_alloc, which is
  /// reported only to the reader.
  virtual Expected<Message> respondToVisit(const Message &payload);
  virtual Expected<Message> respondToRead(const Message &payload);

  /// Checks a request before it enters a round or is handled. May keep its
  /// content for `take`. Returns its role among the steps of its sender. If it
  /// returns an error, the request is refused with the message of the error;
  /// with PDL_OUT_OF_MEMORY, the job fails instead.
  virtual Expected<StepFacts> check(const Envelope &request,
                                    const Message &payload) = 0;

  /// Returns the rules of rounds. Always returns the same object, which must
  /// outlive the application.
  virtual const RoundPolicy &roundPolicy() const = 0;

  /// Handles a request that has passed `check` and for which `isOfSteps` is
  /// false. Returns the payload of the response. If it returns an error, the
  /// job fails with this error.
  virtual Expected<Message> handle(const Envelope &request,
                                   Message payload) = 0;

  /// Takes a request that has passed `check` and belongs to a step or to sums.
  /// Makes all changes of the state, except for those at the end of its round.
  /// In a round that waits for all trainers, a request is taken as soon as it
  /// and the requests of all lower ranks have arrived. In another round, all
  /// requests are taken in the order of ranks when the round waits for no
  /// further request. Requests that are not part of a round are taken one by
  /// one. If it returns an error, the job fails with this error.
  virtual Status take(const Envelope &request, Message payload, Turn turn) = 0;

  /// Ends the round whose requests were taken: applies their sums. If it
  /// returns an error, the job fails with this error.
  virtual Status closeRound(MessageKind kind) = 0;

  /// Returns the payloads of the responses to `requests`. These were taken, and
  /// are not part of a round that is still open, or are answered before its
  /// end. Each request is answered once, before the next request of its sender
  /// is taken; the order is arbitrary. Responses contain the current state. If
  /// it returns an error, the job fails with this error.
  virtual Expected<std::vector<Message>>
  respond(std::span<const Envelope> requests) = 0;
};

} // namespace pdlrt

#endif // PDLRT_SERVER_SERVERAPPLICATION_H
