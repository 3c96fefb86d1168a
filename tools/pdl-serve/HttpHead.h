//===- HttpHead.h - Validates the head of an HTTP request -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_SERVE_HTTPHEAD_H
#define PDL_TOOLS_PDL_SERVE_HTTPHEAD_H

#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/message.hpp>
#include <string>
#include <string_view>

namespace pdlserve {

/// Reason for rejecting a request before its body is read.
struct HeadFault {
  /// HTTP status; 0: the head is valid.
  unsigned status = 0;
  std::string message;
};

/// Returns true if a text is empty, or has the form of a host with an optional
/// port (RFC 3986, 3.2.2 and 3.2.3). A user name is not allowed.
bool isHost(std::string_view text);

/// Checks rules of RFC 9112 that the parser does not check: those about the
/// length of the body, which each peer must compute equally, and those about
/// the host.
HeadFault checkHead(const boost::beast::http::request_header<> &head);

} // namespace pdlserve

#endif // PDL_TOOLS_PDL_SERVE_HTTPHEAD_H
