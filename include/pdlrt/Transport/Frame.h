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

/// Removes the first `size` bytes from a message, which must have as many.
Message takeFront(Message &message, size_t size);

/// Position of a part's bytes in the request that it belongs to.
struct PartPlace {
  /// Number of the payload's own bytes that precede them.
  uint64_t position = 0;
  /// Number of the part, from 0, and the range of its bytes.
  uint64_t part = 0;
  uint64_t offset = 0;
  uint64_t size = 0;
  bool operator==(const PartPlace &) const = default;
};

/// Maximum number of such positions in a request; each represents a section of
/// its payload.
inline constexpr uint64_t maxPlaces = uint64_t(1) << 16;

/// A parsed request or response.
struct Frame {
  Envelope head;
  /// Shares the message's bytes.
  Message payload;
  /// A recovery record: a sender attaches it to a request, for a later
  /// incarnation of itself, which gets it back. Usually empty. Shares the
  /// message's bytes.
  Message note;
  /// Positions of bytes that were sent ahead of a request; usually none.
  std::vector<PartPlace> parts = {};
};

/// Returns a message with a copy of the header, and the slices of note and
/// payload.
Message joinFrame(const Envelope &head, const Message &payload,
                  const Message &note = {},
                  const std::vector<PartPlace> &parts = {});

/// Parses a message, whatever its slices are. Returns an error if it does not
/// start with a header. Safe for arbitrary bytes.
Expected<Frame> splitFrame(const Message &message);

/// Parses the header of a message, of which at least the first bytes must be
/// there. Returns an error if they are not a header. Safe for arbitrary bytes.
Expected<Envelope> readHead(const Message &front);

/// A note and the sequence number of its request.
struct NumberedNote {
  uint64_t sequence = 0;
  Message note;
};

/// Encodes a list of notes as one message.
Message encodeNotes(const std::vector<NumberedNote> &notes);
/// Decodes such a list. Returns an error if it is malformed. Safe for arbitrary
/// bytes.
Expected<std::vector<NumberedNote>> decodeNotes(const Message &message);

} // namespace pdlrt

#endif // PDLRT_TRANSPORT_FRAME_H
