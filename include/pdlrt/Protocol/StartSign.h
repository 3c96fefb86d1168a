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

/// Note of a Greet and of a Join. Identifies the incarnation of a trainer
/// before and while it gets its incarnation number (docs/Protocol.md,
/// "Incarnations of a trainer").
struct StartSign {
  /// Request to a server that knows a previous incarnation.
  enum class Claim : uint32_t {
    /// Admit me if this server considers the previous incarnation lost.
    Judged,
    /// Admit me, because the job's first server has decided.
    Decided,
    /// Refuse me if there is another incarnation: I must not replace it.
    OnlyIfFirst,
  };
  /// Random number of this incarnation. It distinguishes two processes that
  /// were offered the same incarnation number.
  uint64_t id = 0;
  Claim claim = Claim::Decided;
  /// Process of the sender, for servers on the same host.
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
