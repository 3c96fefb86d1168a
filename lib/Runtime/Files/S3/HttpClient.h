//===- HttpClient.h - HTTP requests of object stores ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_FILES_S3_HTTPCLIENT_H
#define LIB_RUNTIME_FILES_S3_HTTPCLIENT_H

#include "pdlrt/Core/Status.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pdlrt {

/// One HTTP request.
struct HttpRequest {
  std::string method;
  std::string url;
  /// Names in lower case, with values.
  std::vector<std::pair<std::string, std::string>> headers;
  /// Must outlive the request.
  std::string_view body;
  /// File with certificates of authorities; empty: those of the host.
  std::string authorities;
  int connectSeconds = 10, stallSeconds = 30;
  /// Destination of a successful response's body, of `outBytes`; null: the body
  /// is kept in `HttpResponse::body`.
  char *out = nullptr;
  size_t outBytes = 0;
  /// Ends the transfer once it is true; null: never.
  const std::atomic<bool> *cancel = nullptr;
};

/// The response to a request.
struct HttpResponse {
  /// Status code; 0: there was no complete response.
  int status = 0;
  /// Names in lower case, with values.
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  /// Number of bytes in `HttpRequest::out`.
  size_t outBytes = 0;
  /// Message about a transfer that failed; empty: it was complete.
  std::string error;
  bool isTransient = false;

  /// Returns the value of a header; empty if there is none.
  std::string_view header(std::string_view name) const;
};

/// A way to send HTTP requests. Thread-safe.
class HttpClient {
public:
  virtual ~HttpClient();
  virtual HttpResponse send(const HttpRequest &request) = 0;
};

/// Returns the client of libcurl, which lives as long as the program. Returns
/// an error with a remedy if libpdl-http.so.1 cannot be loaded.
Expected<HttpClient *> curlClient();

} // namespace pdlrt

#endif // LIB_RUNTIME_FILES_S3_HTTPCLIENT_H
