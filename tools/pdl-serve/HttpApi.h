//===- HttpApi.h - The V2 protocol in JSON ----------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_SERVE_HTTPAPI_H
#define PDL_TOOLS_PDL_SERVE_HTTPAPI_H

#include "Batcher.h"
#include "MemoryBudget.h"
#include "Repository.h"

#include <atomic>
#include <boost/asio/thread_pool.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace pdlserve {

struct HttpRequest {
  std::string_view method, target;
  /// Value of the header Inference-Header-Content-Length.
  std::string_view jsonSize;
  /// Value of the header Content-Encoding.
  std::string_view encoding;
  std::string body;
  /// Memory of the body, out of the budget of all requests.
  Reservation memory;
};

struct HttpResponse {
  unsigned status = 200;
  const char *contentType = "application/json";
  std::string body;
  /// Size of the JSON part of the body, if binary tensors follow it.
  std::optional<size_t> jsonSize = {};
  /// Value of the header Allow. Null: the response has no such header.
  const char *allow = nullptr;
  /// Memory of the body, out of the budget of all requests.
  Reservation memory = {};
};

/// Receiver of a response.
class HttpClient {
public:
  virtual ~HttpClient() = default;
  /// Sends the response. Called once for each request, on any thread. May throw
  /// std::bad_alloc; then nothing was sent.
  virtual void respond(HttpResponse response) = 0;
  /// Closes the connection without a response. Called on any thread.
  virtual void abandon() noexcept {}
  /// Returns true if the client has closed the connection. May be called on any
  /// thread.
  virtual bool isGone() const noexcept { return false; }
};

struct ApiOptions {
  /// Maximum number of samples in a request.
  int64_t maxSamples = int64_t(1) << 16;
  /// Number of threads that parse large requests.
  unsigned readers = 1;
};

/// Responds to HTTP requests. Does not depend on the server that receives them.
/// Thread-safe.
class HttpApi {
public:
  HttpApi(const Repository &repository, Batcher &batcher, MemoryBudget &budget,
          ServingMetrics &metrics, const std::atomic<bool> &isStopping,
          ApiOptions options)
      : repository(repository), batcher(batcher), budget(budget),
        metrics(metrics), isStopping(isStopping), options(options),
        readers(options.readers) {}

  /// Responds to a request, now or later on another thread. Views in `request`
  /// must be valid until the response. Throws std::bad_alloc; then nothing was
  /// sent.
  void handle(HttpRequest request, std::shared_ptr<HttpClient> client);

private:
  /// Components of a model's path: MODEL[/versions/VERSION] and the rest.
  struct ModelPath {
    std::string model, version;
    std::string_view rest;
  };

  HttpResponse responseOf(const HttpRequest &request, std::string_view path);
  HttpResponse modelResponse(std::string_view method, const ModelPath &path);
  HttpResponse metadataOf(const ModelPath &path);
  HttpResponse indexOf(const std::string &body);
  HttpResponse metricsResponse();
  void infer(HttpRequest &request, const ModelPath &path,
             std::shared_ptr<HttpClient> client);

  const Repository &repository;
  Batcher &batcher;
  MemoryBudget &budget;
  ServingMetrics &metrics;
  const std::atomic<bool> &isStopping;
  const ApiOptions options;
  /// Threads that parse large requests (`readers`) and write metrics
  /// (`metricsWriter`). So neither delays the threads of connections, which
  /// respond to liveness probes.
  boost::asio::thread_pool readers;
  boost::asio::thread_pool metricsWriter{1};
};

/// Returns the response to a rejected request.
HttpResponse refusal(const Outcome &outcome);
HttpResponse refusal(unsigned status, std::string_view message);

} // namespace pdlserve

#endif // PDL_TOOLS_PDL_SERVE_HTTPAPI_H
