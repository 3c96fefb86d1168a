//===- ReplayGuard.h - A push is applied once -------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_SERVER_REPLAYGUARD_H
#define PDLRT_SERVER_REPLAYGUARD_H

#include "pdlrt/Core/Status.h"
#include "pdlrt/Rpc/Envelope.h"
#include "pdlrt/Rpc/Message.h"

#include <cstdint>
#include <map>
#include <utility>

namespace pdlrt {

/// Tells new requests from retried and duplicated ones: keeps, for each
/// (trainer, worker) that joined, its incarnation, its last sequence and the
/// answer to that. Not thread-safe.
class ReplayGuard {
public:
  enum class Verdict {
    /// New, and now the sender's last: handle it, then call `answered`.
    Fresh,
    /// The last one, and it is still being handled: wait for its answer.
    Pending,
    /// The last one, answered: repeat `lastAnswer`, and do nothing else.
    Repeat,
    /// Before the last one: its sender has its answer; do nothing.
    Stale,
    /// Neither the last nor the next one, or the next one although the last
    /// has no answer yet: the sender is wrong.
    Gap,
    /// Of an earlier start of this trainer: it must not do anything any more.
    Fenced,
    /// The sender, in this incarnation, has not joined.
    Unknown,
  };

  /// Lets an incarnation in and fences earlier ones; joining again is
  /// harmless. Returns the sequence that comes next: a trainer that started
  /// anew goes on from there. An error where a later incarnation has joined.
  Expected<uint64_t> join(const Envelope &request);
  Verdict admit(const Envelope &request);
  /// The answer to the sender's last request.
  void answered(const Envelope &request, Message answer);
  /// Valid after the verdict Repeat.
  const Message &lastAnswer(const Envelope &request) const;

private:
  struct Sender {
    uint64_t incarnation = 0;
    uint64_t lastSequence = 0;
    bool hasAnswer = true;
    Message answer;
  };
  static std::pair<uint32_t, uint32_t> nameOf(const Envelope &request) {
    return {request.trainer, request.worker};
  }
  std::map<std::pair<uint32_t, uint32_t>, Sender> senders;
};

} // namespace pdlrt

#endif // PDLRT_SERVER_REPLAYGUARD_H
