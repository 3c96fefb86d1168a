//===- OpenRound.cpp - The round that is under way ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Server/OpenRound.h"

#include <algorithm>

using namespace pdlrt;

uint32_t OpenRound::first() const {
  return static_cast<uint32_t>(
      std::find(content.hasCome.begin(), content.hasCome.end(), true) -
      content.hasCome.begin());
}

bool OpenRound::isComplete(const RoundPolicy &policy) const {
  for (uint32_t rank = 0; rank < content.hasCome.size(); ++rank)
    if (policy.isDue(content, rank))
      return false;
  return true;
}

void OpenRound::enter(MessageKind kind, uint32_t rank, ClockTime now) {
  if (!open) {
    open = true;
    content.kind = kind;
    begun = now;
  }
  content.hasCome[rank] = true;
}

RoundContent OpenRound::close() {
  open = false;
  const std::vector<bool> nobody(content.hasCome.size(), false);
  return {content.kind, std::exchange(content.hasCome, nobody)};
}

void OpenRound::keep(Frame frame) {
  const uint32_t rank = frame.head.trainer;
  frames[rank] = std::move(frame);
}

std::vector<std::optional<Frame>> OpenRound::releaseFrames() {
  next = 0;
  const size_t count = frames.size();
  return std::exchange(frames, std::vector<std::optional<Frame>>(count));
}
