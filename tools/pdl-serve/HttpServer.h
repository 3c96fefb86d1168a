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
  /// Time after which a connection is closed if it has no request, or if the
  /// client does not read its response.
  Clock::duration idle = std::chrono::seconds(300);
  /// Maximum time from the first to the last byte of a request.
  Clock::duration request = std::chrono::seconds(120);
};

/// Accepts connections and passes their requests to an HttpApi. The requests of
/// one connection are handled one after the other.
class HttpServer {
public:
  HttpServer(HttpApi &api, MemoryBudget &budget, ServingMetrics &metrics,
             HttpOptions options);
  HttpServer(const HttpServer &) = delete;
  HttpServer &operator=(const HttpServer &) = delete;
  ~HttpServer();

  /// Listens at HOST:PORT (any free port if the port is 0) or unix:PATH. Call
  /// before `start`. Returns the actual address.
  pdlrt::Expected<std::string> listen(const std::string &address);
  void start();
  /// Stops accepting connections. Closes idle connections now, and each other
  /// connection after the response to its request.
  void stop();
  /// Waits until all connections are closed. Returns false if some are still
  /// open at the time `until`. Call after `stop`.
  bool waitUntilClosed(Clock::time_point until);
  /// Ends the threads. Later responses are discarded.
  void join();

private:
  class Threads;
  std::unique_ptr<Threads> threads;
};

} // namespace pdlserve

#endif // PDL_TOOLS_PDL_SERVE_HTTPSERVER_H
