//===- StartSign.h - Which start of a trainer joins -------------*- C++ -*-===//
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

/// The note of a Greet and of a Join: which start of its trainer the sender is,
/// before and while it gets a number (docs/Protocol.md, "Starts of a trainer").
struct StartSign {
  /// What the sender asks of a server that knows an earlier start.
  enum class Claim : uint32_t {
    /// To be let in if that one is lost, as this server sees it.
    Judged,
    /// To be let in: the job's first server has judged.
    Decided,
    /// To be refused: it takes nobody's place.
    OnlyIfFirst,
  };
  /// Drawn by each start for itself: two processes that were given the same
  /// number differ in it.
  uint64_t id = 0;
  Claim claim = Claim::Decided;
  /// The sender, for servers on its host.
  ProcessIdentity process = {};

  /// Of this process, with an id that no other one has.
  static StartSign ofThisProcess();
};

Message encodeStartSign(const StartSign &sign);
/// An error where the bytes are none. Empty bytes are a sign that says nothing.
Expected<StartSign> decodeStartSign(const Message &message);

} // namespace pdlrt

#endif // PDLRT_PROTOCOL_STARTSIGN_H
