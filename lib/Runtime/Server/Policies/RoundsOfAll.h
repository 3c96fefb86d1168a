//===- RoundsOfAll.h - Rounds that wait for all trainers --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef LIB_RUNTIME_SERVER_POLICIES_ROUNDSOFALL_H
#define LIB_RUNTIME_SERVER_POLICIES_ROUNDSOFALL_H

#include "pdlrt/Server/RoundPolicy.h"

namespace pdlrt {

/// Rounds of all trainers.
class RoundsOfAll : public RoundPolicy {
public:
  bool isDue(const RoundContent &round, uint32_t rank) const override {
    return !round.hasCome[rank];
  }
};

/// Only sums are rounds, of all trainers.
class RoundsOfSums : public RoundsOfAll {
public:
  bool formsRounds(MessageKind kind, const StepFacts &) const override {
    return kind == MessageKind::Reduce;
  }
};

} // namespace pdlrt

#endif // LIB_RUNTIME_SERVER_POLICIES_ROUNDSOFALL_H
