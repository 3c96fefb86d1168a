//===- Envelope.h - Who sends which request ---------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_RPC_ENVELOPE_H
#define PDLRT_RPC_ENVELOPE_H

#include "pdlrt/Core/Status.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace pdlrt {

enum class MessageKind : uint16_t {
  // Requests.
  Join = 1,
  Exchange = 2,
  Leave = 3,
  // Responses. A refusal's payload is one sentence.
  Answer = 4,
  Refusal = 5,
};

/// The head of every request and response, 40 bytes, little-endian, fields in
/// this order behind a mark and a version. A response repeats its request's
/// head except for the kind.
struct Envelope {
  MessageKind kind = MessageKind::Join;
  uint32_t trainer = 0;
  uint32_t worker = 0;
  /// Grows with each start of this trainer.
  uint64_t incarnation = 0;
  /// 1, 2, ... for what a (trainer, worker) sends to one server; a retry keeps
  /// its number. 0 in a Join.
  uint64_t sequence = 0;
  /// Of the map from blocks to servers.
  uint64_t epoch = 0;

  bool operator==(const Envelope &) const = default;
};

inline constexpr size_t envelopeSize = 40;

/// Appends the head's bytes.
void encodeEnvelope(const Envelope &envelope, std::string &out);

/// Takes the head off the front of `bytes`; an error, with `bytes` untouched,
/// where they are too short or foreign. Any bytes are safe.
Expected<Envelope> decodeEnvelope(std::string_view &bytes);

} // namespace pdlrt

#endif // PDLRT_RPC_ENVELOPE_H
