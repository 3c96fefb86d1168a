//===- GrpcServer.h - gRPC server of the V2 protocol ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_SERVE_GRPCSERVER_H
#define PDL_TOOLS_PDL_SERVE_GRPCSERVER_H

#include "Batcher.h"
#include "MemoryBudget.h"
#include "Repository.h"
#include "pdlrt/Core/Status.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace pdlserve {

struct GrpcOptions {
  /// Maximum size of a message in bytes.
  size_t maxBody = size_t(64) << 20;
  /// Maximum bytes of all incomplete messages.
  size_t readingBytes = size_t(256) << 20;
  /// Maximum number of open connections.
  int64_t maxConnections = 4096;
  /// Maximum number of samples in a request.
  int64_t maxSamples = int64_t(1) << 16;
  /// Time after which a connection without calls is closed.
  Clock::duration idle = std::chrono::seconds(300);
  /// Maximum time until a call has received its message.
  Clock::duration request = std::chrono::seconds(120);
};

/// Answers calls of proto/inference.proto and of grpc.health.v1 on threads of
/// gRPC.
class GrpcServer {
public:
  GrpcServer(const Repository &repository, Batcher &batcher,
             MemoryBudget &budget, ServingMetrics &metrics,
             const std::atomic<bool> &isStopping, GrpcOptions options);
  GrpcServer(const GrpcServer &) = delete;
  GrpcServer &operator=(const GrpcServer &) = delete;
  ~GrpcServer();

  /// Starts to listen at HOST:PORT (port 0: a free one) or unix:PATH, and to
  /// answer. Returns the actual addresses.
  pdlrt::Expected<std::vector<std::string>>
  start(const std::vector<std::string> &addresses);
  /// Reports to gRPC's health service which models are ready, and, under the
  /// name "", whether the server is. Must always be called by the same thread.
  void updateHealth();
  /// Rejects new calls and waits until all others are answered. Returns false
  /// if some are not; these are abandoned. Has no effect without `start`.
  bool stop(Clock::time_point until);

private:
  class Service;
  std::unique_ptr<Service> service;
};

} // namespace pdlserve

#endif // PDL_TOOLS_PDL_SERVE_GRPCSERVER_H
