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

void OpenRound::open(MessageKind kind, ClockTime now) {
  isOpened = true;
  content.kind = kind;
  begun = now;
}

void OpenRound::enter(MessageKind kind, uint32_t rank, ClockTime now) {
  // Nobody waits in a round of late gradients, or in one that pauses.
  if (first() == content.hasCome.size())
    open(kind, now);
  content.hasCome[rank] = true;
}

void OpenRound::enterAnswered(MessageKind kind, ClockTime now) {
  if (!isOpened)
    open(kind, now);
  ++content.answered;
}

void OpenRound::noteProgress(const StepProgress &progress) {
  for (uint32_t rank = 0; rank < content.takesPart.size(); ++rank) {
    content.takesPart[rank] = progress.takesPart(rank);
    content.steps[rank] = progress.stepsOf({.trainer = rank});
  }
}

void OpenRound::pause() {
  ++counts.completed;
  content.answered += static_cast<uint32_t>(
      std::count(content.hasCome.begin(), content.hasCome.end(), true));
  content.hasCome.assign(content.hasCome.size(), false);
}

void OpenRound::close() {
  isOpened = false;
  ++counts.completed;
  ++counts.closed;
  content.answered = 0;
  content.hasCome.assign(content.hasCome.size(), false);
}

void OpenRound::keep(Frame frame) {
  const uint32_t rank = frame.head.trainer;
  frames[rank] = std::move(frame);
}

std::vector<Envelope> OpenRound::releaseFrames() {
  next = 0;
  std::vector<Envelope> heads;
  for (std::optional<Frame> &frame : frames)
    if (frame) {
      heads.push_back(frame->head);
      frame.reset();
    }
  return heads;
}
