//===- EmptyGrpc.h - gRPC with nothing around it ----------------*- C++ -*-===//
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

/// A server process that answers calls of gRPC's generic interface, and its
/// client: bytes without protobuf, one thread and one completion queue at each
/// end, no memory of ours. What a transport over gRPC cannot be better than.
class EmptyGrpcServer {
public:
  /// Made before gRPC is used in this process.
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
  /// As RawPair's.
  void exchange(size_t size, size_t answerSize, int count, int depth);

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace pdlbench

#endif // PDL_BENCH_TRANSPORT_EMPTYGRPC_H
