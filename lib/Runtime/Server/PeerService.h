//===- PeerService.h - Requests of other servers of the job -----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_SERVER_PEERSERVICE_H
#define LIB_RUNTIME_SERVER_PEERSERVICE_H

#include "Server/Outbox.h"
#include "Server/ProtocolState.h"
#include "Server/RoundCoordinator.h"
#include "pdlrt/Server/ServerCore.h"
#include "pdlrt/Transport/Transport.h"

#include <cstdint>
#include <string>

namespace pdlrt {

/// Handles what servers do without trainers: requests of other servers, and
/// tasks between the requests of trainers. Thread-safe.
class PeerService {
public:
  /// The arguments must outlive this object.
  PeerService(ProtocolState &core, RoundCoordinator &rounds)
      : core(core), rounds(rounds) {}

  /// Sets the handler of requests (`ServerCore::respondToPeers`).
  void setHandler(ServerCore::PeerHandler to);
  /// Returns why a request of `size` bytes is refused, or an empty text.
  std::string fault(uint64_t size) const;
  void handle(const Message &request, Responder responder);
  /// Implements `ServerCore::betweenRequests`.
  void betweenRequests(ServerCore::BetweenTask task,
                       ServerCore::BetweenEnd ended);

private:
  ProtocolState &core;
  RoundCoordinator &rounds;
  ServerCore::PeerHandler handler PDLRT_GUARDED_BY(core.mutex);
};

} // namespace pdlrt

#endif // LIB_RUNTIME_SERVER_PEERSERVICE_H
