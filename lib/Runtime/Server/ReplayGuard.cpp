//===- ReplayGuard.cpp - A push is applied once ---------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Server/ReplayGuard.h"

using namespace pdlrt;

Expected<uint64_t> ReplayGuard::join(const Envelope &request) {
  Sender &sender = senders[nameOf(request)];
  if (request.incarnation < sender.incarnation)
    return Status::invalid(
        "trainer " + std::to_string(request.trainer) + " joins as start " +
        std::to_string(request.incarnation) + ", but start " +
        std::to_string(sender.incarnation) + " has joined: end the older one");
  sender.incarnation = request.incarnation;
  return sender.lastSequence + 1;
}

ReplayGuard::Verdict ReplayGuard::admit(const Envelope &request) {
  const auto found = senders.find(nameOf(request));
  if (found == senders.end())
    return Verdict::Unknown;
  Sender &sender = found->second;
  if (request.incarnation < sender.incarnation)
    return Verdict::Fenced;
  if (request.incarnation > sender.incarnation)
    return Verdict::Unknown;
  if (request.sequence == 0)
    return Verdict::Gap;
  if (request.sequence == sender.lastSequence && !sender.hasAnswer)
    return Verdict::Pending;
  if (request.sequence <= sender.lastSequence)
    return request.sequence + sender.answers.size() > sender.answeredSequence()
               ? Verdict::Repeat
               : Verdict::Stale;
  if (request.sequence != sender.lastSequence + 1 || !sender.hasAnswer)
    return Verdict::Gap;
  sender.lastSequence = request.sequence;
  sender.hasAnswer = false;
  if (sender.answers.size() >= kept)
    sender.answers.pop_front();
  return Verdict::Fresh;
}

void ReplayGuard::answered(const Envelope &request, Message payload,
                           MessageKind kind) {
  const auto found = senders.find(nameOf(request));
  if (found == senders.end() ||
      found->second.lastSequence != request.sequence || found->second.hasAnswer)
    return;
  Sender &sender = found->second;
  sender.answers.push_back({kind, std::move(payload)});
  sender.hasAnswer = true;
}

const ReplayGuard::StoredAnswer &
ReplayGuard::answerTo(const Envelope &request) const {
  const Sender &sender = senders.at(nameOf(request));
  const uint64_t back = sender.answeredSequence() - request.sequence;
  return sender.answers.at(sender.answers.size() - 1 - back);
}
