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
#include "Repository.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace pdlserve {

struct HttpRequest {
  std::string_view method, target;
  /// Of the header Inference-Header-Content-Length.
  std::string_view jsonSize;
  /// Of the header Content-Encoding.
  std::string_view encoding;
  std::string body;
};

struct HttpAnswer {
  unsigned status = 200;
  const char *contentType = "application/json";
  std::string body;
  /// How much of the body is JSON, if tensors follow as bytes.
  std::optional<size_t> jsonSize;
};

/// Who waits for an answer.
class HttpClient {
public:
  virtual ~HttpClient() = default;
  /// Called once for each request, by any thread.
  virtual void answer(HttpAnswer answer) = 0;
};

/// Answers requests of HTTP, whoever brings them. Threads may share it.
class HttpApi {
public:
  HttpApi(const Repository &repository, Batcher &batcher, Metrics &metrics,
          const std::atomic<bool> &isStopping)
      : repository(repository), batcher(batcher), metrics(metrics),
        isStopping(isStopping) {}

  /// Answers now, or later from another thread. Views of `request` are not used
  /// after the call.
  void handle(HttpRequest request, std::shared_ptr<HttpClient> client);

private:
  HttpAnswer answerOf(const HttpRequest &request, std::string_view path);
  HttpAnswer modelAnswer(std::string_view method, const std::string &name,
                         const std::string &version, std::string_view rest);
  HttpAnswer metadataOf(const std::string &name, const std::string &version);
  HttpAnswer indexOf(const std::string &body);
  void infer(HttpRequest request, const std::string &name,
             const std::string &version, std::shared_ptr<HttpClient> client);

  const Repository &repository;
  Batcher &batcher;
  Metrics &metrics;
  const std::atomic<bool> &isStopping;
};

/// What is answered where a request is refused.
HttpAnswer refusal(const Outcome &outcome);
HttpAnswer refusal(unsigned status, std::string_view sentence);

} // namespace pdlserve

#endif // PDLSERVE_HTTPAPI_H
