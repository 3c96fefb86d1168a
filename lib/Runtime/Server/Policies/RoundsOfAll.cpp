//===- RoundsOfAll.cpp - Policies for rounds of all trainers --------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Server/Policies/RoundsOfAll.h"

using namespace pdlrt;

namespace {

class RoundsOfSteps final : public RoundsOfAll {
public:
  bool formsRounds(MessageKind kind, const StepFacts &) const override {
    return isOfSteps(kind);
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
