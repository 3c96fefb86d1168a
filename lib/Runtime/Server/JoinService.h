//===- JoinService.h - Greets and joins of trainers -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_SERVER_JOINSERVICE_H
#define LIB_RUNTIME_SERVER_JOINSERVICE_H

#include "Server/Outbox.h"
#include "Server/ProtocolState.h"
#include "pdlrt/Protocol/StartSign.h"
#include "pdlrt/Transport/Frame.h"

#include <cstdint>
#include <set>
#include <tuple>

namespace pdlrt {

/// Admits processes as trainers of the job. Thread-safe.
class JoinService {
public:
  /// `core` must outlive this object.
  explicit JoinService(ProtocolState &core) : core(core) {}

  /// Handles a Greet or a Join. If the application must decide, it is called on
  /// the executor.
  void handle(const Frame &frame, Responder responder, Outbox &out);

private:
  /// Identifies a Greet or a Join that is queued on the executor: trainer,
  /// worker, kind, incarnation, and `StartSign::id`.
  using OpenJoin =
      std::tuple<uint32_t, uint32_t, MessageKind, uint64_t, uint64_t>;
  static OpenJoin openJoinOf(const Envelope &head, const StartSign &start) {
    return {head.trainer, head.worker, head.kind, head.incarnation, start.id};
  }
  bool enqueues(const Envelope &head, const StartSign &start,
                Responder &responder, Outbox &out);
  void join(const Frame &frame, const StartSign &start, Responder responder,
            Outbox &out);
  void noteRefusal(const Frame &frame, const Status &why, Outbox &out)
      PDLRT_REQUIRES(core.applicationMutex);
  void admit(const Frame &frame, const StartSign &start, const Message &reply,
             Responder responder, Outbox &out);
  bool isAdmissible(const Envelope &head, const StartSign &start,
                    Responder &responder, Outbox &out)
      PDLRT_REQUIRES(core.mutex);

  ProtocolState &core;
  std::set<OpenJoin> openJoins PDLRT_GUARDED_BY(core.mutex);
};

} // namespace pdlrt

#endif // LIB_RUNTIME_SERVER_JOINSERVICE_H
