//===- Frame.h - Header and payload as one message --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TRANSPORT_FRAME_H
#define PDLRT_TRANSPORT_FRAME_H

#include "pdlrt/Core/Status.h"
#include "pdlrt/Transport/Envelope.h"
#include "pdlrt/Transport/Message.h"

#include <cstdint>
#include <vector>

namespace pdlrt {

/// Removes the first `size` bytes from `message`, which must have at least
/// `size` bytes. Returns them.
Message takeFront(Message &message, size_t size);

/// Position that bytes of a part have in the request to which the part belongs
/// (ServerSession::sendPart).
struct PartPlace {
  /// Number of the payload's own bytes that come before the bytes of the part.
  uint64_t position = 0;
  /// Number of the part, from 0, and the range of bytes in the part.
  uint64_t part = 0;
  uint64_t offset = 0;
  uint64_t size = 0;
  bool operator==(const PartPlace &) const = default;
};

/// Maximum number of PartPlaces in a request. Each stands for one section of
/// the payload.
inline constexpr uint64_t maxPlaces = uint64_t(1) << 16;

/// A parsed request or response.
struct Frame {
  Envelope head;
  /// Shares the message's bytes.
  Message payload;
  /// Note of the message; usually empty. In a Greet or a Join request, it is a
  /// StartSign, and in the response to it a JoinResponse. In a Leave request,
  /// it says why the trainer leaves. In numbered requests, it is a recovery
  /// record: a server returns it to the next incarnation of the sender. In a
  /// refusal, it is a failure code. Shares the message's bytes.
  Message note;
  /// Positions of bytes that were sent in advance as parts; usually empty.
  std::vector<PartPlace> parts = {};
};

/// Returns a message with a copy of the header. Refers to the bytes of note and
/// payload without copying them.
Message joinFrame(const Envelope &head, const Message &payload,
                  const Message &note = {},
                  const std::vector<PartPlace> &parts = {});

/// Parses a message. Its division into slices does not matter. Returns an error
/// if it does not start with a header. Safe for arbitrary bytes.
Expected<Frame> splitFrame(const Message &message);

/// Parses the header of a message of which only the front may have arrived.
/// Returns an error if the front is too short or does not start with a header.
/// Safe for arbitrary bytes.
Expected<Envelope> readHead(const Message &front);

/// A note, and the sequence number of the request to which it was attached.
struct NumberedNote {
  uint64_t sequence = 0;
  Message note;
};

/// Encodes a list of notes as one message.
Message encodeNotes(const std::vector<NumberedNote> &notes);
/// Decodes a list of notes. Returns an error if it is malformed. Safe for
/// arbitrary bytes.
Expected<std::vector<NumberedNote>> decodeNotes(const Message &message);

} // namespace pdlrt

#endif // PDLRT_TRANSPORT_FRAME_H
