//===- HttpApi.h - The V2 protocol in JSON ----------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLSERVE_HTTPAPI_H
#define PDLSERVE_HTTPAPI_H

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
  /// The header Inference-Header-Content-Length.
  std::string_view jsonSize;
  /// The header Content-Encoding.
  std::string_view encoding;
  std::string body;
  /// What the body takes of the bytes of all requests in flight.
  Reservation memory;
};

struct HttpAnswer {
  unsigned status = 200;
  const char *contentType = "application/json";
  std::string body;
  /// How much of the body is JSON, if tensors follow as bytes.
  std::optional<size_t> jsonSize = {};
  /// The methods that the path takes; null: the answer does not say so.
  const char *allow = nullptr;
  /// What the body takes of the bytes of all requests in flight.
  Reservation memory = {};
};

/// Whoever waits for an answer.
class HttpClient {
public:
  virtual ~HttpClient() = default;
  /// Called once for each request, by any thread. May throw std::bad_alloc, and
  /// then nothing was answered.
  virtual void answer(HttpAnswer answer) = 0;
  /// Ends the connection without an answer. Called by any thread.
  virtual void abandon() noexcept {}
  /// Whether the client has closed the connection. Called by any thread.
  virtual bool isGone() const noexcept { return false; }
};

struct ApiOptions {
  /// The most samples that a request may have.
  int64_t maxSamples = int64_t(1) << 16;
  /// Threads that read large requests.
  unsigned readers = 1;
};

/// Answers requests of HTTP, whoever brings them. Threads may share it.
class HttpApi {
public:
  HttpApi(const Repository &repository, Batcher &batcher, MemoryBudget &budget,
          Metrics &metrics, const std::atomic<bool> &isStopping,
          ApiOptions options)
      : repository(repository), batcher(batcher), budget(budget),
        metrics(metrics), isStopping(isStopping), options(options),
        readers(options.readers) {}

  /// Answers now, or later from another thread. Views of `request` have to be
  /// valid until then. Throws std::bad_alloc, and then nothing was answered.
  void handle(HttpRequest request, std::shared_ptr<HttpClient> client);

private:
  /// A model's path: MODEL[/versions/VERSION] and what is asked of it.
  struct ModelPath {
    std::string model, version;
    std::string_view rest;
  };

  HttpAnswer answerOf(const HttpRequest &request, std::string_view path);
  HttpAnswer modelAnswer(std::string_view method, const ModelPath &path);
  HttpAnswer metadataOf(const ModelPath &path);
  HttpAnswer indexOf(const std::string &body);
  HttpAnswer metricsAnswer();
  void infer(HttpRequest &request, const ModelPath &path,
             std::shared_ptr<HttpClient> client);

  const Repository &repository;
  Batcher &batcher;
  MemoryBudget &budget;
  Metrics &metrics;
  const std::atomic<bool> &isStopping;
  const ApiOptions options;
  /// Read large requests, and write metrics: threads of connections, which
  /// answer whether the server is alive, do not wait for either.
  boost::asio::thread_pool readers;
  boost::asio::thread_pool metricsWriter{1};
};

/// What is answered if a request is refused.
HttpAnswer refusal(const Outcome &outcome);
HttpAnswer refusal(unsigned status, std::string_view sentence);

} // namespace pdlserve

#endif // PDLSERVE_HTTPAPI_H
