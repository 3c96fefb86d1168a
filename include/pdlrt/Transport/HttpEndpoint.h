//===- HttpEndpoint.h - Pages over HTTP -------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TRANSPORT_HTTPENDPOINT_H
#define PDLRT_TRANSPORT_HTTPENDPOINT_H

#include "pdlrt/Core/Status.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace pdlrt {

/// A response to a request for a page.
struct HttpPage {
  unsigned status = 200;
  std::string body;
  std::string contentType = "text/plain; charset=utf-8";
};

/// Serves a few pages over HTTP/1.1 on one thread of its own, for monitoring.
/// Accepts only GET and HEAD without a body, one request per connection, and
/// few connections at a time. Memory and time of a request are bounded.
class HttpEndpoint {
public:
  /// Returns the page at `path`, which has no query. Called on the thread of
  /// the endpoint.
  using Handler = std::function<HttpPage(std::string_view path)>;

  /// Listens at HOST:PORT (any free port if the port is 0) or unix:PATH.
  /// Returns an error that names the address if it cannot listen there.
  static Expected<std::unique_ptr<HttpEndpoint>>
  start(const std::string &address, Handler handler);
  virtual ~HttpEndpoint();

  /// Returns the actual address, including the port.
  virtual const std::string &address() const = 0;
};

} // namespace pdlrt

#endif // PDLRT_TRANSPORT_HTTPENDPOINT_H
