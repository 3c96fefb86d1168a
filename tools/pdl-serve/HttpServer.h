//===- HttpServer.h - HTTP server -------------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_SERVE_HTTPSERVER_H
#define PDL_TOOLS_PDL_SERVE_HTTPSERVER_H

#include "HttpApi.h"
#include "MemoryBudget.h"
#include "pdlrt/Core/Status.h"

#include <cstddef>
#include <memory>
#include <string>

namespace pdlserve {

struct HttpOptions {
  unsigned threads = 1;
  /// Maximum size of a request's body in bytes.
  size_t maxBody = size_t(64) << 20;
  /// Maximum number of open connections.
  int64_t maxConnections = 4096;
  /// Time after which a connection is closed that has no request, or does not
  /// accept its answer.
  Clock::duration idle = std::chrono::seconds(300);
  /// Maximum time from the first to the last byte of a request.
  Clock::duration request = std::chrono::seconds(120);
};

/// Accepts connections and passes their requests to an HttpApi. The requests of
/// a connection are handled one after the other.
class HttpServer {
public:
  HttpServer(HttpApi &api, MemoryBudget &budget, ServingMetrics &metrics,
             HttpOptions options);
  HttpServer(const HttpServer &) = delete;
  HttpServer &operator=(const HttpServer &) = delete;
  ~HttpServer();

  /// Listens at HOST:PORT (port 0: a free one) or unix:PATH. Call before
  /// `start`. Returns the actual address.
  pdlrt::Expected<std::string> listen(const std::string &address);
  void start();
  /// Stops accepting connections, and closes each open one as soon as its
  /// request is answered.
  void stop();
  /// Waits until all connections are closed. Returns false if some are not.
  /// Call after `stop`.
  bool waitUntilClosed(Clock::time_point until);
  /// Ends the threads. Later answers are discarded.
  void join();

private:
  class Threads;
  std::unique_ptr<Threads> threads;
};

} // namespace pdlserve

#endif // PDL_TOOLS_PDL_SERVE_HTTPSERVER_H
