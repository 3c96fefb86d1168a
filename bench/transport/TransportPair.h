//===- TransportPair.h - Measures the transport -----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_BENCH_TRANSPORT_TRANSPORTPAIR_H
#define PDL_BENCH_TRANSPORT_TRANSPORTPAIR_H

#include "pdlrt/Transport/Transport.h"

#include <memory>
#include <string>
#include <sys/types.h>

namespace pdlbench {

/// A server process with the transport that programs use: its own frames over
/// unix sockets, gRPC over TCP, both with seals unless `sealed` is false. Must
/// be created before gRPC is used in this process.
class TransportServer {
public:
  explicit TransportServer(bool unixSocket, bool tuned, bool sealed = true);
  ~TransportServer();
  TransportServer(const TransportServer &) = delete;
  TransportServer &operator=(const TransportServer &) = delete;
  const std::string &address() const { return where; }
  pid_t serverProcess() const { return process; }

private:
  std::string where;
  int lifeline = -1;
  pid_t process = -1;
};

/// The client of a TransportServer.
class TransportClient {
public:
  explicit TransportClient(const std::string &address, bool sealed = true);
  /// Like `RawPair::exchange`; responses have the requested size.
  void exchange(size_t size, size_t responseSize, int count, int depth);

private:
  pdlrt::RealClock clock;
  std::unique_ptr<pdlrt::Transport> network;
  std::unique_ptr<pdlrt::Connection> connection;
  std::shared_ptr<std::string> payload = std::make_shared<std::string>();
};

} // namespace pdlbench

#endif // PDL_BENCH_TRANSPORT_TRANSPORTPAIR_H
