//===- ReplayGuard.cpp - Deduplication of retried requests ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Protocol/ReplayGuard.h"

#include <algorithm>

using namespace pdlrt;

Expected<uint64_t> ReplayGuard::join(const Envelope &request) {
  Sender &sender = senders[nameOf(request)];
  if (request.incarnation < sender.incarnation)
    return Status::failedPrecondition(
        "trainer " + std::to_string(request.trainer) + " joins as start " +
        std::to_string(request.incarnation) + ", but start " +
        std::to_string(sender.incarnation) + " has joined: end the older one");
  sender.incarnation = request.incarnation;
  return sender.lastSequence + 1;
}

ReplayGuard::Verdict ReplayGuard::look(const Envelope &request) const {
  const auto found = senders.find(nameOf(request));
  if (found == senders.end())
    return Verdict::Unknown;
  const Sender &sender = found->second;
  if (request.incarnation < sender.incarnation)
    return Verdict::Fenced;
  if (request.incarnation > sender.incarnation)
    return Verdict::Unknown;
  if (request.sequence == 0)
    return Verdict::Gap;
  if (request.sequence <= sender.lastSequence) {
    if (request.sequence < sender.firstSequence())
      return Verdict::Stale;
    return request.sequence == sender.lastSequence && !sender.isRespondedTo()
               ? Verdict::Pending
               : Verdict::Repeat;
  }
  return request.sequence == sender.lastSequence + 1 && sender.isRespondedTo()
             ? Verdict::Fresh
             : Verdict::Gap;
}

ReplayGuard::Verdict ReplayGuard::admit(const Envelope &request,
                                        const Message &note) {
  const Verdict verdict = look(request);
  if (verdict != Verdict::Fresh)
    return verdict;
  Sender &sender = senders.at(nameOf(request));
  sender.lastSequence = request.sequence;
  if (sender.requests.size() >= (request.worker == 0 ? keptOfProcess : kept))
    sender.requests.pop_front();
  // Copied, because the note would keep all bytes of its request alive.
  sender.requests.push_back(
      {note.size() > 0 ? Message::ofString(note.toString()) : Message(), {}});
  return Verdict::Fresh;
}

void ReplayGuard::answered(const Envelope &request, Message payload,
                           MessageKind kind) {
  const auto found = senders.find(nameOf(request));
  if (found == senders.end() ||
      found->second.lastSequence != request.sequence ||
      found->second.isRespondedTo())
    return;
  found->second.requests.back().response = {kind, std::move(payload)};
}

const ReplayGuard::StoredResponse &
ReplayGuard::responseTo(const Envelope &request) const {
  const Sender &sender = senders.at(nameOf(request));
  return *sender.requests.at(request.sequence - sender.firstSequence())
              .response;
}

bool ReplayGuard::hasRequestsOf(uint32_t trainer) const {
  return std::any_of(senders.begin(), senders.end(), [&](const auto &each) {
    return each.first.first == trainer && each.second.lastSequence > 0;
  });
}

std::vector<NumberedNote> ReplayGuard::notesOf(const Sender &sender) {
  std::vector<NumberedNote> notes;
  uint64_t sequence = sender.firstSequence();
  for (const Request &each : sender.requests) {
    if (each.note.size() > 0)
      notes.push_back({sequence, each.note});
    ++sequence;
  }
  return notes;
}

std::vector<NumberedNote> ReplayGuard::notesOf(const Envelope &request) const {
  const auto found = senders.find(nameOf(request));
  return found == senders.end() ? std::vector<NumberedNote>()
                                : notesOf(found->second);
}

std::vector<SenderMark> ReplayGuard::marks() const {
  std::vector<SenderMark> all;
  for (const auto &[name, sender] : senders)
    all.push_back({name.first, name.second,
                   sender.lastSequence - (sender.isRespondedTo() ? 0 : 1),
                   sender.lastSequence, notesOf(sender)});
  return all;
}
