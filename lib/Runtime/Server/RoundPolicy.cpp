//===- RoundPolicy.cpp - Who waits for whom at a server -------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Server/RoundPolicy.h"

using namespace pdlrt;

RoundPolicy::~RoundPolicy() = default;

namespace {

/// Rounds of all trainers.
class RoundsOfAll : public RoundPolicy {
public:
  bool isDue(const RoundContent &round, uint32_t rank) const override {
    return !round.hasCome[rank];
  }
  bool isAnswered(const RoundContent &, uint32_t) const override {
    return true;
  }
};

class RoundsOfSteps final : public RoundsOfAll {
public:
  bool formsRounds(MessageKind kind) const override {
    return kind == MessageKind::Exchange || kind == MessageKind::Norm ||
           kind == MessageKind::Reduce;
  }
};

class RoundsOfSums final : public RoundsOfAll {
public:
  bool formsRounds(MessageKind kind) const override {
    return kind == MessageKind::Reduce;
  }
};

} // namespace

const RoundPolicy &pdlrt::roundsOfSteps() {
  static const RoundsOfSteps policy;
  return policy;
}

const RoundPolicy &pdlrt::roundsOfSums() {
  static const RoundsOfSums policy;
  return policy;
}
