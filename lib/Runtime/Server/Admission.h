//===- Admission.h - Requests that are new, and copies ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_SERVER_ADMISSION_H
#define LIB_RUNTIME_SERVER_ADMISSION_H

#include "Server/Outbox.h"
#include "Server/Roster.h"
#include "pdlrt/Protocol/PartBox.h"
#include "pdlrt/Protocol/ReplayGuard.h"
#include "pdlrt/Server/ServerCore.h"
#include "pdlrt/Transport/Frame.h"

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace pdlrt {

/// Admits each request once. Stores the copies of a request until it has a
/// response, its parts until it is complete, and its response for later copies.
/// Not thread-safe.
class Admission {
public:
  explicit Admission(const ServerCoreOptions &options)
      : guard(options.onFailure == FailurePolicy::Wait ? options.keptResponses
                                                       : 1,
              options.onFailure == FailurePolicy::Wait ? options.keptOfProcess
                                                       : 1),
        parts(options.maxPartBytes) {}

  //===--------------------------------------------------------------------===//
  // Requests
  //===--------------------------------------------------------------------===//

  /// Returns why a request cannot be from a sender that has joined; empty if it
  /// can.
  std::string strangerFault(const Envelope &head) const;
  /// Handles a request for the application. Returns true if it is new and
  /// complete; then it must be passed on. Otherwise it is a copy, or is stored
  /// until its parts arrive.
  bool admit(Frame &frame, Responder responder, Outbox &out);
  /// Handles a part of a request. Returns true if the request is now complete;
  /// then `frame` is that request, to be passed on.
  bool admitPart(Frame &frame, Responder responder, Outbox &out);
  /// Handles an Ask, which does not count as a request: stores it until the
  /// response is ready, or sends the stored response. Returns false, and does
  /// nothing, if the request that it asks for has not arrived.
  bool admitAsk(const Envelope &head, Responder &responder, Outbox &out);
  /// Stores the response to a request and sends it to all copies.
  void respond(const Envelope &head, MessageKind kind, const Message &payload,
               Outbox &out);
  /// Refuses all requests without a response.
  void refuseAll(const Status &why, Outbox &out);

  //===--------------------------------------------------------------------===//
  // Senders
  //===--------------------------------------------------------------------===//

  /// Admits a sender. Returns the number of its next request.
  Expected<uint64_t> join(const Envelope &head) { return guard.join(head); }
  /// Drops the copies and parts of a trainer's previous incarnation. Its
  /// requests stay in their round.
  void replace(uint32_t trainer, const Roster &roster, Outbox &out);
  /// Drops the parts of a trainer that has left.
  void forgetParts(uint32_t trainer) { parts.forgetTrainer(trainer); }
  /// Returns true if any incarnation of the trainer has sent a request.
  bool hasRequestsOf(uint32_t trainer) const {
    return guard.hasRequestsOf(trainer);
  }
  std::vector<NumberedNote> notesOf(const Envelope &head) const {
    return guard.notesOf(head);
  }
  std::vector<SenderMark> marks() const { return guard.marks(); }

  /// Copy of a request that has no response yet.
  struct Waiting {
    Envelope head;
    Responder responder;
  };
  using SenderKey = std::pair<uint32_t, uint32_t>;
  using Copies = std::map<SenderKey, std::deque<Waiting>>;
  /// Removes all copies, which the caller destroys without a lock.
  Copies takeCopies() { return std::exchange(waiting, {}); }

private:
  static SenderKey keyOf(const Envelope &head) {
    return {head.trainer, head.worker};
  }
  bool isWhole(Frame &frame, Outbox &out);
  void hold(const Envelope &head, Responder responder, Outbox &out);
  void sort(const Envelope &head, ReplayGuard::Verdict verdict,
            Responder responder, Outbox &out);

  ReplayGuard guard;
  PartBox parts;
  Copies waiting;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_SERVER_ADMISSION_H
