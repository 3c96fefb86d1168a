//===- HttpServer.h - Connections of HTTP -----------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLSERVE_HTTPSERVER_H
#define PDLSERVE_HTTPSERVER_H

#include "HttpApi.h"
#include "MemoryBudget.h"
#include "pdlrt/Core/Status.h"

#include <cstddef>
#include <memory>
#include <string>

namespace pdlserve {

struct HttpOptions {
  unsigned threads = 1;
  /// The largest body of a request, in bytes.
  size_t maxBody = size_t(64) << 20;
  /// The most connections that are open at the same time.
  int64_t maxConnections = 4096;
  /// A connection without a request, or that does not take its answer, is
  /// closed after this time.
  Clock::duration idle = std::chrono::seconds(300);
  /// The longest time from a request's first byte to its last one.
  Clock::duration request = std::chrono::seconds(120);
};

/// Takes connections and brings their requests to an HttpApi, one after the
/// other of each connection.
class HttpServer {
public:
  HttpServer(HttpApi &api, MemoryBudget &budget, Metrics &metrics,
             HttpOptions options);
  HttpServer(const HttpServer &) = delete;
  HttpServer &operator=(const HttpServer &) = delete;
  ~HttpServer();

  /// Listens at HOST:PORT (port 0: a free one) or unix:PATH; before `start`.
  /// Returns the address that was taken.
  pdlrt::Expected<std::string> listen(const std::string &address);
  void start();
  /// Takes no more connections, and closes each as soon as its request is
  /// answered.
  void stop();
  /// After `stop`: waits until all connections are closed; false: some are not.
  bool waitUntilClosed(Clock::time_point until);
  /// Ends the threads; answers that come later go nowhere.
  void join();

private:
  class Threads;
  std::unique_ptr<Threads> threads;
};

} // namespace pdlserve

#endif // PDLSERVE_HTTPSERVER_H
