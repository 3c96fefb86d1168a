//===- Admission.cpp - Requests that are new, and copies ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Server/Admission.h"

using namespace pdlrt;

/// Maximum number of copies of an open request that are stored. If more arrive,
/// the oldest ones are dropped, because their attempts have timed out.
static constexpr size_t heldCopies = 16;

std::string Admission::strangerFault(const Envelope &head) const {
  if (head.sequence > 0 && guard.look(head) == ReplayGuard::Verdict::Unknown)
    return "worker " + std::to_string(head.worker) + " of " +
           trainerName(head.trainer) +
           " sends before its join: this is a fault of PDL, please report it";
  return {};
}

/// Returns true if all parts of a new request have arrived; they are then in
/// `frame`. If parts are missing, stores the request until they arrive. If the
/// parts do not fit together, forgets them and refuses all copies of the
/// request.
bool Admission::isWhole(Frame &frame, Outbox &out) {
  const Envelope head = frame.head;
  const Expected<bool> whole = parts.putTogether(frame);
  if (whole && !*whole)
    parts.wait(std::move(frame));
  if (whole)
    return *whole;
  parts.forget(head);
  for (Waiting &copy : std::exchange(waiting[keyOf(head)], {}))
    out.refuse(std::move(copy.responder), copy.head, whole.status().message());
  return false;
}

bool Admission::admitPart(Frame &frame, Responder responder, Outbox &out) {
  const Envelope head = frame.head;
  std::string fault = parts.sizeFault(envelopeSize + frame.payload.size());
  const ReplayGuard::Verdict verdict = guard.look(head);
  if (fault.empty() && verdict == ReplayGuard::Verdict::Gap) {
    sort(head, verdict, std::move(responder), out);
    return false;
  }
  const bool isNew = verdict == ReplayGuard::Verdict::Fresh;
  if (fault.empty() && isNew)
    fault = parts.add(head, frame.payload).message();
  if (!fault.empty()) {
    out.refuse(std::move(responder), head, fault);
    return false;
  }
  out.add(std::move(responder), head, MessageKind::Response, {});
  if (!isNew)
    return false;
  std::optional<Frame> request = parts.takeWaiting(head);
  if (!request)
    return false;
  frame = std::move(*request);
  if (!isWhole(frame, out))
    return false;
  guard.admit(frame.head, frame.note);
  return true;
}

bool Admission::admit(Frame &frame, Responder responder, Outbox &out) {
  const Envelope head = frame.head;
  const ReplayGuard::Verdict verdict = guard.look(head);
  if (verdict != ReplayGuard::Verdict::Fresh) {
    sort(head, verdict, std::move(responder), out);
    return false;
  }
  hold(head, std::move(responder), out);
  if (frame.parts.empty())
    parts.forget(head);
  else if (!isWhole(frame, out))
    return false;
  guard.admit(head, frame.note);
  return true;
}

/// Stores the responder of a copy until the response is ready. If there are
/// more than `heldCopies`, drops the oldest one.
void Admission::hold(const Envelope &head, Responder responder, Outbox &out) {
  std::deque<Waiting> &copies = waiting[keyOf(head)];
  copies.push_back({head, std::move(responder)});
  if (copies.size() > heldCopies) {
    out.drop(std::move(copies.front().responder));
    copies.pop_front();
  }
}

bool Admission::admitAsk(const Envelope &head, Responder &responder,
                         Outbox &out) {
  const ReplayGuard::Verdict verdict = guard.look(head);
  if (verdict == ReplayGuard::Verdict::Fresh)
    return false;
  sort(head, verdict, std::move(responder), out);
  return true;
}

/// Handles a request that must not be passed on. A copy of an open request
/// waits for its response, and a copy of an answered one gets the stored
/// response. A request that arrives before one with a smaller number is
/// refused. A request whose response the sender already has is dropped.
void Admission::sort(const Envelope &head, ReplayGuard::Verdict verdict,
                     Responder responder, Outbox &out) {
  switch (verdict) {
  case ReplayGuard::Verdict::Pending:
    hold(head, std::move(responder), out);
    return;
  case ReplayGuard::Verdict::Repeat: {
    const ReplayGuard::StoredResponse &response = guard.responseTo(head);
    out.add(std::move(responder), head, response.kind, response.payload);
    return;
  }
  case ReplayGuard::Verdict::Gap:
    out.refuse(std::move(responder), head,
               trainerName(head.trainer) + " sends request " +
                   std::to_string(head.sequence) +
                   " out of turn: this is a fault of PDL, please report it");
    return;
  // The sender already has the response, so the request needs none.
  case ReplayGuard::Verdict::Stale:
  // The caller has handled these cases before.
  case ReplayGuard::Verdict::Fresh:
  case ReplayGuard::Verdict::Fenced:
  case ReplayGuard::Verdict::Unknown:
    out.drop(std::move(responder));
    return;
  }
}

void Admission::respond(const Envelope &head, MessageKind kind,
                        const Message &payload, Outbox &out) {
  guard.answered(head, payload, kind);
  for (Waiting &copy : std::exchange(waiting[keyOf(head)], {}))
    out.add(std::move(copy.responder), copy.head, kind, payload);
}

void Admission::refuseAll(const Status &why, Outbox &out) {
  for (auto &[key, copies] : waiting)
    for (Waiting &copy : std::exchange(copies, {}))
      out.refuse(std::move(copy.responder), copy.head, why);
}

void Admission::replace(uint32_t trainer, const Roster &roster, Outbox &out) {
  parts.forgetTrainer(trainer);
  for (auto &[key, copies] : waiting)
    if (key.first == trainer)
      for (Waiting &copy : std::exchange(copies, {})) {
        const std::string fence = roster.fenceFault(copy.head);
        out.refuse(std::move(copy.responder), roster.fenceHead(copy.head),
                   fence.empty() ? strangerFault(copy.head) : fence);
      }
}
