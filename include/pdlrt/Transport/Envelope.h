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
  // Requests of trainers. Requests with a sequence number are applied once.
  // Greet, Join, Leave, Heartbeat, Poll and Part can be repeated without harm.
  Join = 1,     ///< a trainer joins the job; the payload is its handshake
  Exchange = 2, ///< the gradients of a step, and the keys of the next one
  Norm =
      3, ///< the joint norms of a step; sent after the response to its Exchange
  Pull = 4,   ///< rows for a frozen program; changes nothing
  Reduce = 5, ///< sums over all trainers, such as metrics
  Save = 6,   ///< the server's part of a checkpoint
  Leave = 7, ///< this trainer has ended: with success, or with an error message
  Heartbeat =
      8, ///< heartbeat; the payloads of request and response are in Heartbeat.h
  Greet = 9, ///< asks if a Join would be accepted; changes nothing; same
             ///< payload as Join
  Poll = 10, ///< asks for the response to a numbered request; does not repeat
             ///< its payload
  Part = 11, ///< bytes of the next Exchange, sent in advance
  // Requests of readers, which are not trainers. They change nothing, and have
  // no sequence numbers.
  Visit = 12, ///< asks for a description of the server; the payload identifies
              ///< the reader
  Read = 13,  ///< asks for rows of tables, or for parameters
  // A request of another server of the job. It has no sequence number, and can
  // be repeated without harm.
  Peer = 14, ///< coordinates saves of servers without trainers; the payload is
             ///< JSON
  // Responses. The payload of a Refusal is an error message.
  Response = 32,
  Refusal = 33,
  Wait = 34, ///< to Greet or Join: not ready yet; to Poll: send the request
             ///< again; the payload is in Heartbeat.h
};

/// Returns true for requests of readers, which do not belong to the job.
inline bool isOfReaders(MessageKind kind) {
  return kind == MessageKind::Visit || kind == MessageKind::Read;
}

/// Returns true for requests that ask to take part in the job: Greet and Join.
inline bool requestsJoin(MessageKind kind) {
  return kind == MessageKind::Greet || kind == MessageKind::Join;
}

/// Returns true if requests of this kind belong to steps, or to sums over
/// trainers. They may be part of rounds, and may be answered later than they
/// are received.
inline bool isOfSteps(MessageKind kind) {
  return kind == MessageKind::Exchange || kind == MessageKind::Norm ||
         kind == MessageKind::Reduce;
}

/// The header of each request and response. It is encoded in 40 bytes: a magic
/// number, a version, and the members in this order, little-endian. A response
/// has the header of its request, except for the kind, and for the special
/// values of `incarnation` and `sequence` that are listed below.
struct Envelope {
  MessageKind kind = MessageKind::Join;
  uint32_t trainer = 0;
  uint32_t worker = 0;
  /// Incarnation number of the trainer's process. The servers assign it, and it
  /// grows with each restart. 0 in a Greet. In the response to a Visit, and in
  /// a Read: the random number that the server has chosen for this job.
  uint64_t incarnation = 0;
  /// Sequence number: 1, 2, ... for the requests that a (trainer, worker) sends
  /// to one server. A retry has the same number. A Poll and a Part have the
  /// number of the request to which they refer. 0 in a Greet, a Join, a Leave
  /// and a Heartbeat.
  ///
  /// Special values:
  /// - response to a Join: the next sequence number of the sender; it is larger
  ///   than 1 for a restarted trainer that has sent requests before;
  /// - response to a Greet: the incarnation number that the server proposes;
  /// - response to a Visit: the largest incarnation that has joined, or 0;
  /// - refusal of a Greet or Join: `sequenceOfTaken`, or 0;
  /// - refusal of a Read: `sequenceOfStranger`, or 0.
  uint64_t sequence = 0;
  /// Version of the map from blocks and shards to servers.
  uint64_t epoch = 0;

  bool operator==(const Envelope &) const = default;
};

inline constexpr size_t envelopeSize = 40;

/// Note of a Leave if the trainer has lost a server. Then no restarted trainer
/// could resume, so processes must not wait for one.
inline constexpr const char *noteOfLostServer = "a server is lost";

/// Sequence number in the refusal of a Greet or a Join if the reason is that
/// another incarnation has joined.
inline constexpr uint64_t sequenceOfTaken = 1;

/// Sequence number in the refusal of a Read if the reason is that the server
/// does not know the reader. The server was restarted, and the reader must send
/// a Visit first.
inline constexpr uint64_t sequenceOfStranger = 1;

/// Incarnation in the refusal of a request if the reason is that a later
/// incarnation of its trainer has joined. The number of the later incarnation
/// is secret, so it is not sent.
inline constexpr uint64_t incarnationOfReplaced = 0;

/// Returns the name of a kind in messages, such as "exchange".
const char *nameOf(MessageKind kind);

/// Appends the bytes of a header to `out`.
void encodeEnvelope(const Envelope &envelope, std::string &out);

/// Decodes the header at the front of `bytes`, and removes it from `bytes`. If
/// there is no valid header, returns an error and does not change `bytes`. Safe
/// for arbitrary bytes.
Expected<Envelope> decodeEnvelope(std::string_view &bytes);

} // namespace pdlrt

#endif // PDLRT_TRANSPORT_ENVELOPE_H
