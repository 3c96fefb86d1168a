//===- TcpDoor.h - Takes connections for gRPC -------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// gRPC gives a listening socket up for good when a process has as many files
// open as it may. So the listener takes connections itself, and leaves some
// files for saves.
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

/// Sockets that listen at all addresses of a host name, and a thread that takes
/// connections. While the process has no files to spare (FileLimit.h),
/// connections wait, and it looks again ten times a second.
class TcpDoor {
public:
  /// Gets a socket that does not block, which it owns.
  using TakeConnection = std::function<void(int listener, int connection)>;

  TcpDoor() = default;
  /// Takes no connection any more when it returns.
  ~TcpDoor();
  TcpDoor(const TcpDoor &) = delete;
  TcpDoor &operator=(const TcpDoor &) = delete;

  /// Binds. Port 0 becomes the port that was chosen. False: the address cannot
  /// be bound (`whyNotBound`).
  bool bind(Address &address);
  /// Starts the thread. An error where none can be started.
  Status start(TakeConnection takeConnection);
  void stop();

private:
  bool bindOne(const void *name, unsigned size, int family, uint16_t &port);
  void work();
  /// Takes all who wait at a socket; false where there are no files to spare.
  bool takeAll(int listener);

  std::vector<int> listeners;
  /// Readable once the thread is to end.
  int ending = -1;
  TakeConnection take;
  std::thread thread;
};

} // namespace pdlrt::grpcimpl

#endif // LIB_RUNTIME_TRANSPORT_GRPC_TCPDOOR_H
