//===- Envelope.h - Who sends which request ---------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TRANSPORT_ENVELOPE_H
#define PDLRT_TRANSPORT_ENVELOPE_H

#include "pdlrt/Core/Status.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace pdlrt {

enum class MessageKind : uint16_t {
  // Requests. Those that carry a sequence are applied once. Greet, Join, Leave,
  // Beat, Ask and Part may come more than once without harm.
  Join = 1,     ///< a trainer starts; the payload is its handshake
  Exchange = 2, ///< a step: gradients of this one, keys of the next one
  Norm = 3,     ///< the joint norms of a step whose exchange was answered
  Pull = 4,     ///< rows for a frozen program; changes nothing
  Reduce = 5,   ///< sums over all trainers, such as metrics
  Save = 6,     ///< the server's part of a checkpoint
  Leave = 7,    ///< this trainer is done, or failed and says why
  Beat = 8,     ///< this process lives; payload and answer are LifeSigns
  Greet = 9,    ///< would a join be let in? Changes nothing; payload as Join
  Ask = 10,     ///< the answer to a numbered request, without its payload
  Part = 11,    ///< bytes of the exchange that comes next, ahead of it
  // Requests of readers, who are no trainers. They change nothing, and carry
  // no numbers.
  Visit = 12, ///< what the server holds; the payload says who asks
  Read = 13,  ///< rows of tables, or its parameters
  // Responses. A refusal's payload is one sentence.
  Answer = 32,
  Refusal = 33,
  Wait = 34, ///< to a greet or join: not yet; to an ask: send it. A LifeSign
};

/// Whether readers send it, which are not of the job.
inline bool isOfReaders(MessageKind kind) {
  return kind == MessageKind::Visit || kind == MessageKind::Read;
}

/// Whether a request asks to take part in the job.
inline bool asksToJoin(MessageKind kind) {
  return kind == MessageKind::Greet || kind == MessageKind::Join;
}

/// Whether such requests are parts of steps, or of sums over trainers: those
/// that may form rounds, and be answered later than they are taken.
inline bool isOfSteps(MessageKind kind) {
  return kind == MessageKind::Exchange || kind == MessageKind::Norm ||
         kind == MessageKind::Reduce;
}

/// The head of every request and response, 40 bytes, little-endian, fields in
/// this order behind a mark and a version. A response repeats its request's
/// head except for the kind.
struct Envelope {
  MessageKind kind = MessageKind::Join;
  uint32_t trainer = 0;
  uint32_t worker = 0;
  /// Grows with each start of this trainer; the servers give it. 0 in a Greet.
  /// In the answer to a Visit, and in a Read: the number that the server has
  /// drawn for this job.
  uint64_t incarnation = 0;
  /// 1, 2, ... for what a (trainer, worker) sends to one server; a retry keeps
  /// its number. 0 in a Greet, a Join, a Leave and a Beat; in an Ask and a Part
  /// that of the request which they are of. In the answer to a
  /// Join: the one which comes next, more than 1 for a trainer that started
  /// anew. In the answer to a Greet: the incarnation that the start may take.
  /// In a refusal of either: `sequenceOfTaken`, or 0. Of a Read:
  /// `sequenceOfStranger`, or 0.
  uint64_t sequence = 0;
  /// Of the map from blocks to servers.
  uint64_t epoch = 0;

  bool operator==(const Envelope &) const = default;
};

inline constexpr size_t envelopeSize = 40;

/// The note of a Leave whose trainer has lost a server: no new start could go
/// on, and nobody need wait for one.
inline constexpr const char *noteOfLostServer = "a server is lost";

/// The sequence of the refusal of a Greet or a Join because another start has
/// the place.
inline constexpr uint64_t sequenceOfTaken = 1;

/// The sequence of the refusal of a Read whose sender this server does not
/// know: it was started anew since, and is to be visited first.
inline constexpr uint64_t sequenceOfStranger = 1;

/// The incarnation in the refusal of a request because a later start of its
/// trainer has joined. That of the later start is a secret.
inline constexpr uint64_t incarnationOfReplaced = 0;

/// What people call a kind, such as "exchange".
const char *nameOf(MessageKind kind);

/// Appends the head's bytes.
void encodeEnvelope(const Envelope &envelope, std::string &out);

/// Takes the head off the front of `bytes`; an error, with `bytes` untouched,
/// where they are too short or foreign. Any bytes are safe.
Expected<Envelope> decodeEnvelope(std::string_view &bytes);

} // namespace pdlrt

#endif // PDLRT_TRANSPORT_ENVELOPE_H
