//===- Frame.h - Head and payload as one message ----------------*- C++ -*-===//
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

/// Takes the first `size` bytes off a message that has as many.
Message takeFront(Message &message, size_t size);

/// Where bytes of a part stand in the request that it belongs to.
struct PartPlace {
  /// Behind so many of the payload's own bytes.
  uint64_t position = 0;
  /// Which part, from 0, and which of its bytes.
  uint64_t part = 0;
  uint64_t offset = 0;
  uint64_t size = 0;
  bool operator==(const PartPlace &) const = default;
};

/// How many of them a request has at most: each stands for a section of its
/// payload.
inline constexpr uint64_t mostPlaces = uint64_t(1) << 16;

/// A request or response, taken apart.
struct Frame {
  Envelope head;
  /// Shares the message's bytes.
  Message payload;
  /// What a sender leaves with a request for a later start of itself, or gets
  /// back of it; mostly empty. Shares the message's bytes.
  Message note;
  /// Bytes that have travelled ahead of a request, by position; mostly none.
  std::vector<PartPlace> parts = {};
};

/// A message of a head, which it owns, and the slices of note and payload.
Message joinFrame(const Envelope &head, const Message &payload,
                  const Message &note = {},
                  const std::vector<PartPlace> &parts = {});

/// Takes a message apart, wherever its slices end; an error where it does not
/// start with a head. Any bytes are safe.
Expected<Frame> splitFrame(const Message &message);

/// The head of a message, of which at least the first bytes are there; an error
/// where they are none. Any bytes are safe.
Expected<Envelope> readHead(const Message &front);

/// A note and the number of the request that it came with.
struct NumberedNote {
  uint64_t sequence = 0;
  Message note;
};

/// A list of notes as one.
Message encodeNotes(const std::vector<NumberedNote> &notes);
/// Reads that; an error where the bytes are none. Any bytes are safe.
Expected<std::vector<NumberedNote>> decodeNotes(const Message &message);

} // namespace pdlrt

#endif // PDLRT_TRANSPORT_FRAME_H
