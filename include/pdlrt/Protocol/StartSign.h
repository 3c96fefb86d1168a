//===- StartSign.h - Identity of a trainer's incarnation --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_PROTOCOL_STARTSIGN_H
#define PDLRT_PROTOCOL_STARTSIGN_H

#include "pdlrt/Core/ProcessIdentity.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Transport/Message.h"

#include <cstdint>

namespace pdlrt {

/// Content of the note in a Greet and in a Join message. Identifies a process
/// of a trainer before it has an incarnation number (docs/Protocol.md,
/// "Incarnations of a trainer").
struct StartSign {
  /// Tells a server that knows a previous incarnation of the trainer when to
  /// admit this one.
  enum class Claim : uint32_t {
    /// Admit this process if the server considers the previous incarnation
    /// lost.
    Judged,
    /// Admit this process, because the job's first server has admitted it.
    Decided,
    /// Refuse this process if there is another incarnation, which it must not
    /// replace.
    OnlyIfFirst,
  };
  /// Random number of this process. It distinguishes two processes to which
  /// servers have proposed the same incarnation number.
  uint64_t id = 0;
  Claim claim = Claim::Decided;
  /// Identity of the sender's process. A server on the same host uses it to
  /// notice the end of the sender.
  ProcessIdentity process = {};

  /// Returns a sign for this process with a new random id.
  static StartSign ofThisProcess();
};

Message encodeStartSign(const StartSign &sign);
/// Decodes a sign. Returns an error if the bytes are not one. Empty bytes
/// decode to a sign with default values.
Expected<StartSign> decodeStartSign(const Message &message);

} // namespace pdlrt

#endif // PDLRT_PROTOCOL_STARTSIGN_H
