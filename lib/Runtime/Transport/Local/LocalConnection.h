//===- LocalConnection.h - Client side of unix sockets ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_TRANSPORT_LOCAL_LOCALCONNECTION_H
#define LIB_RUNTIME_TRANSPORT_LOCAL_LOCALCONNECTION_H

#include "Transport/Local/SocketLoop.h"
#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Transport/Address.h"
#include "pdlrt/Transport/LocalTransport.h"

#include <memory>
#include <vector>

namespace pdlrt::localimpl {

class ClientCalls;

/// Shared by all connections of a transport.
struct ClientSide {
  ClientSide(RealClock &clock, const LocalOptions &options)
      : clock(clock), options(options),
        loop(clock, [this](ClockTime now) { return endLate(now); }) {}
  /// Ends calls whose deadline has passed. Returns the earliest remaining
  /// deadline.
  ClockTime endLate(ClockTime now);

  RealClock &clock;
  const LocalOptions options;
  Mutex mutex;
  std::vector<std::weak_ptr<ClientCalls>> connections PDLRT_GUARDED_BY(mutex);
  /// Last member, because its thread uses the others.
  SocketLoop loop;
};

/// Creates a connection to a unix socket. The first call connects. `side` must
/// outlive the connection, and its loop must be running.
std::unique_ptr<Connection> createConnection(ClientSide &side,
                                             const Address &address);

} // namespace pdlrt::localimpl

#endif // LIB_RUNTIME_TRANSPORT_LOCAL_LOCALCONNECTION_H
