//===- TcpDoor.h - Accepts connections for gRPC -----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// gRPC permanently stops using a listening socket if the process has reached
// its limit of open files. So the listener accepts connections itself, and
// keeps some file descriptors free for saves.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_TRANSPORT_GRPC_TCPDOOR_H
#define LIB_RUNTIME_TRANSPORT_GRPC_TCPDOOR_H

#include "pdlrt/Core/Status.h"
#include "pdlrt/Transport/Address.h"

#include <functional>
#include <thread>
#include <vector>

namespace pdlrt::grpcimpl {

/// Sockets that listen at all addresses of a host name, and a thread that
/// accepts connections. If the process has no spare file descriptors
/// (FileLimit.h), connections wait, and the thread checks ten times a second.
class TcpDoor {
public:
  /// Receives the nonblocking socket `connection` and owns it.
  using TakeConnection = std::function<void(int listener, int connection)>;

  TcpDoor() = default;
  /// Stops accepting connections.
  ~TcpDoor();
  TcpDoor(const TcpDoor &) = delete;
  TcpDoor &operator=(const TcpDoor &) = delete;

  /// Binds the sockets. If the port is 0, sets it to the port that the system
  /// has chosen. Returns false if the address cannot be bound; `whyNotBound`
  /// tells the reason.
  bool bind(Address &address);
  /// Starts the thread. Returns an error if it could not be started.
  Status start(TakeConnection takeConnection);
  void stop();

private:
  bool bindOne(const void *name, unsigned size, int family, uint16_t &port);
  void work();
  /// Accepts all waiting connections of a socket. Returns false if the process
  /// has no spare file descriptors, or if accepting fails.
  bool takeAll(int listener);

  std::vector<int> listeners;
  /// Becomes readable when the thread must end.
  int ending = -1;
  TakeConnection take;
  std::thread thread;
};

} // namespace pdlrt::grpcimpl

#endif // LIB_RUNTIME_TRANSPORT_GRPC_TCPDOOR_H
