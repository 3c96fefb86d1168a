//===- TcpDoor.h - Accepts connections for gRPC -----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// gRPC permanently gives up a listening socket when a process has reached its
// limit of open files. Therefore the listener accepts connections itself, and
// reserves some files for saves.
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
/// accepts connections. While the process has no spare files (FileLimit.h),
/// connections wait, and the thread checks again ten times a second.
class TcpDoor {
public:
  /// Gets a nonblocking socket, which it owns.
  using TakeConnection = std::function<void(int listener, int connection)>;

  TcpDoor() = default;
  /// Accepts no more connections after it returns.
  ~TcpDoor();
  TcpDoor(const TcpDoor &) = delete;
  TcpDoor &operator=(const TcpDoor &) = delete;

  /// Binds the sockets. Port 0 is replaced by the chosen port. Returns false if
  /// the address cannot be bound (`whyNotBound`).
  bool bind(Address &address);
  /// Starts the thread. Returns an error if it cannot be started.
  Status start(TakeConnection takeConnection);
  void stop();

private:
  bool bindOne(const void *name, unsigned size, int family, uint16_t &port);
  void work();
  /// Accepts all waiting connections of a socket. Returns false if there are no
  /// spare files.
  bool takeAll(int listener);

  std::vector<int> listeners;
  /// Becomes readable when the thread must end.
  int ending = -1;
  TakeConnection take;
  std::thread thread;
};

} // namespace pdlrt::grpcimpl

#endif // LIB_RUNTIME_TRANSPORT_GRPC_TCPDOOR_H
