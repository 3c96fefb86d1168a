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

/// Passes each request on exactly once, although senders repeat requests.
/// Stores the responders of all copies of a request until it has a response,
/// parts until their request is complete, and responses for later copies. Not
/// thread-safe.
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

  /// Returns the reason why no sender that has joined can have sent a request,
  /// or an empty text if one can.
  std::string strangerFault(const Envelope &head) const;
  /// Handles a request for the application. Returns true if the caller must
  /// pass it on: it is new and complete. Otherwise it is a copy, it is stored
  /// until its parts arrive, or it was refused.
  bool admit(Frame &frame, Responder responder, Outbox &out);
  /// Handles a part of a request. Returns true if the request is complete now.
  /// Then `frame` is the request, which the caller must pass on.
  bool admitPart(Frame &frame, Responder responder, Outbox &out);
  /// Handles a Poll, which requests the response to an earlier request: sends
  /// the stored response, or stores the Poll until there is one. If the earlier
  /// request has not arrived, does nothing and returns false.
  bool admitAsk(const Envelope &head, Responder &responder, Outbox &out);
  /// Stores the response to a request, and sends it to the senders of all its
  /// copies.
  void respond(const Envelope &head, MessageKind kind, const Message &payload,
               Outbox &out);
  /// Refuses all requests without a response.
  void refuseAll(const Status &why, Outbox &out);

  //===--------------------------------------------------------------------===//
  // Senders
  //===--------------------------------------------------------------------===//

  /// Admits a sender. Returns the number of its next request.
  Expected<uint64_t> join(const Envelope &head) { return guard.join(head); }
  /// Refuses the copies, and drops the parts, of the previous incarnation of a
  /// trainer. Requests of it that are in a round stay there.
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
