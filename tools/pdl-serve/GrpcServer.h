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
  /// Maximum time from the start of a call until its message has arrived.
  Clock::duration request = std::chrono::seconds(120);
};

/// Responds to calls of proto/inference.proto and of grpc.health.v1, on threads
/// of gRPC.
class GrpcServer {
public:
  GrpcServer(const Repository &repository, Batcher &batcher,
             MemoryBudget &budget, ServingMetrics &metrics,
             const std::atomic<bool> &isStopping, GrpcOptions options);
  GrpcServer(const GrpcServer &) = delete;
  GrpcServer &operator=(const GrpcServer &) = delete;
  ~GrpcServer();

  /// Listens at HOST:PORT (any free port if the port is 0) or unix:PATH, and
  /// starts to respond. Returns the actual addresses.
  pdlrt::Expected<std::vector<std::string>>
  start(const std::vector<std::string> &addresses);
  /// Tells gRPC's health service which models are ready. The name "" stands for
  /// the whole server. Must always be called on the same thread.
  void updateHealth();
  /// Rejects new calls, and waits for the responses to all others. Calls
  /// without a response at the time `until` are abandoned; then returns false.
  /// Does nothing before `start`.
  bool stop(Clock::time_point until);

private:
  class Service;
  std::unique_ptr<Service> service;
};

} // namespace pdlserve

#endif // PDL_TOOLS_PDL_SERVE_GRPCSERVER_H
