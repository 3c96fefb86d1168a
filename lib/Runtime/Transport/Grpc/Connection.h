//===- Connection.h - Client side of gRPC -----------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_TRANSPORT_GRPC_CONNECTION_H
#define LIB_RUNTIME_TRANSPORT_GRPC_CONNECTION_H

#include "Transport/Grpc/Poller.h"
#include "pdlrt/Transport/Address.h"
#include "pdlrt/Transport/GrpcTransport.h"

#include <grpcpp/completion_queue.h>
#include <memory>

namespace pdlrt::grpcimpl {

/// Shared by all connections of a transport.
struct ClientSide {
  ClientSide(RealClock &onClock, const GrpcOptions &with)
      : clock(onClock), options(with) {}

  RealClock &clock;
  const GrpcOptions options;
  grpc::CompletionQueue queue;
  Poller poller{[this](Tag *&tag, bool &ok) {
    return queue.Next(reinterpret_cast<void **>(&tag), &ok);
  }};
  LiveCount live;
};

std::unique_ptr<Connection> createConnection(ClientSide &side,
                                             const Address &address);

} // namespace pdlrt::grpcimpl

#endif // LIB_RUNTIME_TRANSPORT_GRPC_CONNECTION_H
