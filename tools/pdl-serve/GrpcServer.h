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
#include "Repository.h"
#include "pdlrt/Core/LockFile.h"
#include "pdlrt/Core/Status.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace pdlserve {

/// Answers calls of proto/inference.proto, in threads of gRPC.
class GrpcServer {
public:
  GrpcServer(const Repository &repository, Batcher &batcher, Metrics &metrics,
             const std::atomic<bool> &isStopping, size_t mostBody);
  GrpcServer(const GrpcServer &) = delete;
  GrpcServer &operator=(const GrpcServer &) = delete;
  ~GrpcServer();

  /// Listens at HOST:PORT (port 0: a free one) and unix:PATH, and begins to
  /// answer. Returns the addresses that were taken.
  pdlrt::Expected<std::vector<std::string>>
  start(const std::vector<std::string> &addresses);
  /// Takes no more calls, and waits until those that were taken are answered;
  /// false: some are not, and are given up. Without `start` nothing is done.
  bool stop(Clock::time_point until);

private:
  class Service;
  /// Of sockets' paths, for as long as the service has them.
  std::vector<pdlrt::LockFile> claims;
  std::unique_ptr<Service> service;
};

} // namespace pdlserve

#endif // PDLSERVE_GRPCSERVER_H
