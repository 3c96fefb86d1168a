//===- RoundPolicy.cpp - Rounds and waiting rules of a mode ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "pdlrt/Server/RoundPolicy.h"

using namespace pdlrt;

RoundPolicy::~RoundPolicy() = default;

bool RoundPolicy::isComplete(const RoundContent &round) const {
  for (uint32_t rank = 0; rank < round.hasCome.size(); ++rank)
    if (isExpected(round, rank))
      return false;
  return true;
}
