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

#include <cstdint>
#include <span>
#include <vector>

namespace pdlrt {

/// How a request is taken.
enum class Turn {
  /// By itself: it forms no round.
  Alone,
  /// In the round that is open; answered when that is closed, or before.
  InRound,
  /// Its own round is closed: its gradients count in the one that is open.
  Late,
  /// Its own round is closed: its gradients do not count.
  Dropped,
};

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

  /// The payloads of who reads and is not of the job: a Visit and a Read
  /// (ReadCodec.h); what their answers' payloads are, or why they are refused.
  /// Changes nothing that others can see. Throws std::bad_alloc, which harms
  /// nobody else.
  virtual Expected<Message> answerVisit(const Message &payload);
  virtual Expected<Message> answerRead(const Message &payload);

  /// Looks at a request when it arrives, before it counts; what it is to the
  /// steps of its sender. On an error it is refused with that sentence, and
  /// nothing has changed.
  virtual Expected<StepFacts> check(const Envelope &request,
                                    const Message &payload) = 0;

  /// Which requests form rounds, and who waits for whom. Outlives the
  /// application; always the same.
  virtual const RoundPolicy &roundPolicy() const = 0;

  /// A checked request that is no part of any step (`isOfSteps`); returns its
  /// answer's payload. An error fails the job with its sentence.
  virtual Expected<Message> handle(const Envelope &request,
                                   Message payload) = 0;

  /// Takes up a checked request of a step, or of sums: all that it does to the
  /// state, but for what the end of its round does. Requests of a round that
  /// waits for all come in ascending order of trainers, as soon as those before
  /// have come; of another one, in that order, when nobody else is waited for,
  /// and by themselves those that are answered at once.
  /// An error fails the job with its sentence.
  virtual Status take(const Envelope &request, Message payload, Turn turn) = 0;

  /// Ends the round whose requests were taken. An error fails the job with its
  /// sentence.
  virtual Status closeRound(MessageKind kind) = 0;

  /// The payloads that answer requests which were taken, and whose round, if
  /// they are of one, is closed or goes on without them: each once, in any
  /// order, and no further request of its sender was taken before. Answers have
  /// the state of now. An error fails the job with its sentence.
  virtual Expected<std::vector<Message>>
  answer(std::span<const Envelope> requests) = 0;
};

} // namespace pdlrt

#endif // PDLRT_SERVER_SERVERAPPLICATION_H
