//===- ServerApplication.h - Interface of protocol and state ----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Interface between the protocol and the state. The protocol (ServerCore)
// handles copies, retries and absent trainers. The application receives each
// request once, in an order that the network cannot change.
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

/// Role of a request when it is taken.
enum class Turn {
  /// It forms no round.
  Alone,
  /// It is in the open round. It is answered when the round is closed, or
  /// earlier.
  InRound,
  /// Its own round is closed. Its gradients count in the open round.
  Late,
  /// Its own round is closed. Its gradients do not count.
  Dropped,
};

/// Shared state of the trainers. Calls come one at a time; a call may use its
/// own threads.
class ServerApplication {
public:
  virtual ~ServerApplication();

  /// Handles a Greet, which has the payload of a later join. Returns the
  /// payload of the response, or the reason for a refusal. Changes nothing.
  virtual Expected<Message> greet(const Envelope &request,
                                  const Message &payload) = 0;
  /// Handles a Join, whose payload is the handshake. Returns the payload of the
  /// response, or the reason for a refusal. May be called again for a trainer
  /// that has joined.
  virtual Expected<Message> join(const Envelope &request,
                                 const Message &payload) = 0;

  /// Called for a refused Join. Returns true if it came from a trainer of this
  /// job that was started with wrong flags; other trainers would wait for it in
  /// vain.
  virtual bool isOfJob(const Message &handshake) const {
    (void)handshake;
    return false;
  }

  /// Called for a refused Join that is not known to be of this job. Returns
  /// true if a wrong program may have been started for this job; others would
  /// wait for the right one.
  virtual bool mayBeOfJob(const Message &handshake) const {
    (void)handshake;
    return false;
  }

  /// Handle a Visit and a Read of a reader, which is not part of the job
  /// (ReadCodec.h). Return the payload of the response, or the reason for a
  /// refusal. Change nothing that others can see. Throw std::bad_alloc; that
  /// affects only the reader.
  virtual Expected<Message> respondToVisit(const Message &payload);
  virtual Expected<Message> respondToRead(const Message &payload);

  /// Checks a request when it arrives, before it counts. Returns its role among
  /// the steps of its sender. On an error the request is refused with that
  /// message, and nothing has changed.
  virtual Expected<StepFacts> check(const Envelope &request,
                                    const Message &payload) = 0;

  /// Returns the policy that forms rounds and decides who waits. Always the
  /// same; must outlive the application.
  virtual const RoundPolicy &roundPolicy() const = 0;

  /// Handles a checked request that is not part of a step (`isOfSteps`).
  /// Returns the payload of the response. An error fails the job with its
  /// message.
  virtual Expected<Message> handle(const Envelope &request,
                                   Message payload) = 0;

  /// Takes a checked request of a step or of sums: makes all its changes to the
  /// state, except for those at the end of its round. In a round that waits for
  /// all, requests come in ascending rank order, as soon as all lower ranks
  /// have arrived. In another round they come in that order when it waits for
  /// no further request; requests that are answered at once come one by one. An
  /// error fails the job with its message.
  virtual Status take(const Envelope &request, Message payload, Turn turn) = 0;

  /// Ends the round whose requests were taken. An error fails the job with its
  /// message.
  virtual Status closeRound(MessageKind kind) = 0;

  /// Returns the payloads of the responses to requests that were taken and
  /// whose round, if any, is closed or continues without them. Each request is
  /// answered once, in any order, before the next request of its sender is
  /// taken. Responses contain the current state. An error fails the job with
  /// its message.
  virtual Expected<std::vector<Message>>
  respond(std::span<const Envelope> requests) = 0;
};

} // namespace pdlrt

#endif // PDLRT_SERVER_SERVERAPPLICATION_H
