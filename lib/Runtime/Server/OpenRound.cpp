//===- OpenRound.cpp - Rounds in progress ---------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Server/OpenRound.h"

#include "Server/Roster.h"

#include <algorithm>
#include <utility>

using namespace pdlrt;

uint32_t RoundMembers::first() const {
  return static_cast<uint32_t>(
      std::find(content.hasCome.begin(), content.hasCome.end(), true) -
      content.hasCome.begin());
}

void RoundMembers::open(MessageKind kind, ClockTime now) {
  isOpened = true;
  content.kind = kind;
  begun = now;
}

void RoundMembers::enter(MessageKind kind, uint32_t rank, ClockTime now) {
  // If the round had no waiting trainer, because it has only late gradients or
  // was paused, the wait for other trainers starts now.
  if (first() == content.hasCome.size())
    open(kind, now);
  content.hasCome[rank] = true;
}

void RoundMembers::enterResponded(MessageKind kind, ClockTime now) {
  if (!isOpened)
    open(kind, now);
  ++content.answered;
}

void RoundMembers::noteProgress(const StepProgress &progress) {
  for (uint32_t rank = 0; rank < content.takesPart.size(); ++rank) {
    content.takesPart[rank] = progress.takesPart(rank);
    content.steps[rank] = progress.stepsOf({.trainer = rank});
  }
}

void RoundMembers::pause() {
  ++counts.completed;
  content.answered += static_cast<uint32_t>(
      std::count(content.hasCome.begin(), content.hasCome.end(), true));
  content.hasCome.assign(content.hasCome.size(), false);
}

void RoundMembers::close() {
  isOpened = false;
  ++counts.completed;
  ++counts.closed;
  content.answered = 0;
  content.hasCome.assign(content.hasCome.size(), false);
}

void RoundMembers::closeResponded() {
  content.answered = 0;
  isOpened = first() < content.hasCome.size();
}

void RoundRequests::keep(Frame frame) {
  const uint32_t rank = frame.head.trainer;
  frames[rank] = std::move(frame);
}

std::vector<Envelope> RoundRequests::release() {
  next = 0;
  std::vector<Envelope> heads;
  for (std::optional<Frame> &frame : frames)
    if (frame) {
      heads.push_back(frame->head);
      frame.reset();
    }
  return heads;
}

const RoundMembers *OpenRounds::thatWaitsFor(uint32_t trainer) const {
  for (const RoundMembers &round : members)
    if (policy && round.waitsFor(*policy, trainer))
      return &round;
  return nullptr;
}

void OpenRounds::noteSlowest(std::vector<uint32_t> trainers, ClockTime now) {
  if (!trainers.empty() && slowest.empty())
    heldSince = now;
  slowest = std::move(trainers);
}

std::string OpenRounds::describeWait(ClockTime atLeast, ClockTime now,
                                     const std::string &troubles) const {
  const auto brackets = [&](ClockTime since) {
    return " (" + inSeconds(now - since) +
           (troubles.empty() ? "" : "; " + troubles) + ")";
  };
  for (const RoundMembers &round : members) {
    std::vector<uint32_t> due;
    for (uint32_t rank = 0; rank < round.trainers(); ++rank)
      if (policy && now - round.since() >= atLeast &&
          round.waitsFor(*policy, rank))
        due.push_back(rank);
    if (!due.empty())
      return "waiting for the " + std::string(nameOf(round.kind())) + " of " +
             trainerNames(due) + brackets(round.since());
  }
  if (!slowest.empty() && now - heldSince >= atLeast)
    return "waiting for " + trainerNames(slowest) +
           ", which others are as far ahead of as --max-staleness allows" +
           brackets(heldSince);
  return {};
}
