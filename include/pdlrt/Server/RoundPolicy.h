//===- RoundPolicy.h - Who waits for whom at a server -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_SERVER_ROUNDPOLICY_H
#define PDLRT_SERVER_ROUNDPOLICY_H

#include "pdlrt/Transport/Envelope.h"

#include <cstdint>
#include <vector>

namespace pdlrt {

/// What has come of a round: its kind, and by rank whether that trainer's
/// request is here.
struct RoundContent {
  MessageKind kind = MessageKind::Exchange;
  std::vector<bool> hasCome;
};

/// What distinguishes modes in the eyes of the protocol: which requests are
/// worked on together, when such a round is closed, and who is answered then.
/// A policy has no state. Thread-safe.
class RoundPolicy {
public:
  virtual ~RoundPolicy();

  /// Whether requests of that kind form rounds. Others are worked on by
  /// themselves as they come, and are answered right after that.
  virtual bool formsRounds(MessageKind kind) const = 0;
  /// Whether the round waits for that trainer's request. It is closed when
  /// nobody is due.
  virtual bool isDue(const RoundContent &round, uint32_t rank) const = 0;
  /// Whether the round's end answers that trainer, whose request has come.
  virtual bool isAnswered(const RoundContent &round, uint32_t rank) const = 0;
};

/// Mode sync: steps and sums are rounds of all trainers; pulls and saves are
/// not.
const RoundPolicy &roundsOfSteps();
/// Mode async: only sums are rounds of all trainers.
const RoundPolicy &roundsOfSums();

} // namespace pdlrt

#endif // PDLRT_SERVER_ROUNDPOLICY_H
