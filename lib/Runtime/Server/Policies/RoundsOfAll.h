//===- RoundsOfAll.h - Policies for rounds of all trainers ------*- C++ -*-===//
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

/// Policy whose rounds wait for all trainers.
class RoundsOfAll : public RoundPolicy {
public:
  bool isExpected(const RoundContent &round, uint32_t rank) const override {
    return !round.hasCome[rank];
  }
};

/// Policy in which only sums form rounds, which wait for all trainers.
class RoundsOfSums : public RoundsOfAll {
public:
  bool formsRounds(MessageKind kind, const StepFacts &) const override {
    return kind == MessageKind::Reduce;
  }
};

} // namespace pdlrt

#endif // LIB_RUNTIME_SERVER_POLICIES_ROUNDSOFALL_H
