//===- Envelope.h - Header of requests and responses ------------*- C++ -*-===//
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
  // Requests. Those with a sequence number are applied once. Greet, Join,
  // Leave, Heartbeat, Poll and Part can be repeated without harm.
  Join = 1,      ///< a trainer starts; the payload is its handshake
  Exchange = 2,  ///< a step: its gradients, and the keys of the next one
  Norm = 3,      ///< the joint norms of a step, after the response to its
                 ///< exchange
  Pull = 4,      ///< rows for a frozen program; changes nothing
  Reduce = 5,    ///< sums over all trainers, such as metrics
  Save = 6,      ///< the server's part of a checkpoint
  Leave = 7,     ///< this trainer is finished, or failed for a given reason
  Heartbeat = 8, ///< heartbeat; payload and response are Heartbeats
  Greet = 9,     ///< would a join be accepted? Changes nothing; payload as Join
  Poll = 10,     ///< requests the response to a numbered request, without its
                 ///< payload
  Part = 11,     ///< bytes of the next exchange, sent in advance
  // Requests of readers, which are not trainers. They change nothing, and have
  // no sequence numbers.
  Visit = 12, ///< requests the server's description; the payload identifies the
              ///< reader
  Read = 13,  ///< rows of tables, or its parameters
  // A request of another server of the job. It carries no number, and may come
  // more than once without harm.
  Peer = 14, ///< what servers do together without trainers; JSON
  // Responses. A refusal's payload is one error message.
  Response = 32,
  Refusal = 33,
  Wait = 34, ///< to a greet or join: not yet; to an ask: send it. A Heartbeat
};

/// Returns true for requests of readers, which do not belong to the job.
inline bool isOfReaders(MessageKind kind) {
  return kind == MessageKind::Visit || kind == MessageKind::Read;
}

/// Returns true if the request asks to take part in the job.
inline bool requestsJoin(MessageKind kind) {
  return kind == MessageKind::Greet || kind == MessageKind::Join;
}

/// Returns true if such requests belong to steps, or to sums over trainers.
/// They may form rounds, and be answered later than they are received.
inline bool isOfSteps(MessageKind kind) {
  return kind == MessageKind::Exchange || kind == MessageKind::Norm ||
         kind == MessageKind::Reduce;
}

/// The header of every request and response: 40 bytes, little-endian, fields in
/// this order after a magic number and a version. A response repeats its
/// request's header except for the kind.
struct Envelope {
  MessageKind kind = MessageKind::Join;
  uint32_t trainer = 0;
  uint32_t worker = 0;
  /// Grows with each start of this trainer; assigned by the servers. 0 in a
  /// Greet. In the response to a Visit, and in a Read: the random number that
  /// the server has drawn for this job.
  uint64_t incarnation = 0;
  /// 1, 2, ... for the requests that a (trainer, worker) sends to one server; a
  /// retry has the same number. 0 in a Greet, a Join, a Leave and a Heartbeat.
  /// A Poll and a Part have the number of the request that they refer to.
  ///
  /// Special values:
  /// - response to a Join: the next number, more than 1 for a restarted
  ///   trainer;
  /// - response to a Greet: the incarnation that the start may take;
  /// - refusal of a Greet or Join: `sequenceOfTaken`, or 0;
  /// - refusal of a Read: `sequenceOfStranger`, or 0.
  uint64_t sequence = 0;
  /// Version of the map from blocks to servers.
  uint64_t epoch = 0;

  bool operator==(const Envelope &) const = default;
};

inline constexpr size_t envelopeSize = 40;

/// The note of a Leave whose trainer has lost a server: no restarted trainer
/// could resume, and no process need wait for one.
inline constexpr const char *noteOfLostServer = "a server is lost";

/// The sequence number in the refusal of a Greet or a Join because another
/// incarnation has joined.
inline constexpr uint64_t sequenceOfTaken = 1;

/// The sequence number in the refusal of a Read whose sender this server does
/// not know: the server was restarted, and the reader must send a Visit first.
inline constexpr uint64_t sequenceOfStranger = 1;

/// The incarnation in the refusal of a request because a later incarnation of
/// its trainer has joined. The number of the later one is secret.
inline constexpr uint64_t incarnationOfReplaced = 0;

/// Returns the name of a kind in messages, such as "exchange".
const char *nameOf(MessageKind kind);

/// Appends the bytes of the header.
void encodeEnvelope(const Envelope &envelope, std::string &out);

/// Removes the header from the front of `bytes`. Returns an error, and leaves
/// `bytes` unchanged, if they are too short or not a header. Safe for arbitrary
/// bytes.
Expected<Envelope> decodeEnvelope(std::string_view &bytes);

} // namespace pdlrt

#endif // PDLRT_TRANSPORT_ENVELOPE_H
