//===- EmptyGrpc.h - Measures plain gRPC ------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_BENCH_TRANSPORT_EMPTYGRPC_H
#define PDL_BENCH_TRANSPORT_EMPTYGRPC_H

#include <cstddef>
#include <memory>
#include <string>
#include <sys/types.h>

namespace pdlbench {

/// A server process for calls of gRPC's generic interface, and its client.
/// Bytes without protobuf, one thread and one completion queue on each side, no
/// own memory management. This is the upper limit for a transport over gRPC.
class EmptyGrpcServer {
public:
  /// Must be created before gRPC is used in this process.
  explicit EmptyGrpcServer(bool unixSocket, bool tuned);
  ~EmptyGrpcServer();
  EmptyGrpcServer(const EmptyGrpcServer &) = delete;
  EmptyGrpcServer &operator=(const EmptyGrpcServer &) = delete;
  const std::string &address() const { return where; }
  pid_t serverProcess() const { return process; }

private:
  std::string where;
  pid_t process = -1;
};

class EmptyGrpcClient {
public:
  explicit EmptyGrpcClient(const std::string &address);
  ~EmptyGrpcClient();
  /// Like `RawPair::exchange`.
  void exchange(size_t size, size_t responseSize, int count, int depth);

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace pdlbench

#endif // PDL_BENCH_TRANSPORT_EMPTYGRPC_H
