//===- GrpcServer.h - The V2 protocol by gRPC -------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLSERVE_GRPCSERVER_H
#define PDLSERVE_GRPCSERVER_H

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
  /// The largest message, in bytes.
  size_t maxBody = size_t(64) << 20;
  /// Bytes of all messages that arrive, until each is there as a whole.
  size_t readingBytes = size_t(256) << 20;
  /// The most connections that are open at the same time.
  int64_t maxConnections = 4096;
  /// The most samples that a request may have.
  int64_t maxSamples = int64_t(1) << 16;
  /// A connection without a call is closed after this time.
  Clock::duration idle = std::chrono::seconds(300);
  /// The longest time until a call has its message.
  Clock::duration request = std::chrono::seconds(120);
};

/// Answers calls of proto/inference.proto and of grpc.health.v1, in threads of
/// gRPC.
class GrpcServer {
public:
  GrpcServer(const Repository &repository, Batcher &batcher,
             MemoryBudget &budget, Metrics &metrics,
             const std::atomic<bool> &isStopping, GrpcOptions options);
  GrpcServer(const GrpcServer &) = delete;
  GrpcServer &operator=(const GrpcServer &) = delete;
  ~GrpcServer();

  /// Listens at HOST:PORT (port 0: a free one) and unix:PATH, and begins to
  /// answer. Returns the addresses that were taken.
  pdlrt::Expected<std::vector<std::string>>
  start(const std::vector<std::string> &addresses);
  /// Tells gRPC's health service what is ready: the server by the name "", and
  /// each model. One thread calls it.
  void updateHealth();
  /// Takes no more calls, and waits until those that were taken are answered;
  /// false: some are not, and are given up. Without `start` nothing is done.
  bool stop(Clock::time_point until);

private:
  class Service;
  std::unique_ptr<Service> service;
};

} // namespace pdlserve

#endif // PDLSERVE_GRPCSERVER_H
