//===- HttpHead.h - Rules of HTTP for the head of a request --- -*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLSERVE_HTTPHEAD_H
#define PDLSERVE_HTTPHEAD_H

#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/message.hpp>
#include <string>

namespace pdlserve {

/// Why a request is refused before its body is read.
struct HeadFault {
  /// Of HTTP; 0: there is no fault.
  unsigned status = 0;
  std::string sentence;
};

/// Checks what the parser lets pass and RFC 9112 does not: how the body's
/// length is found, on which peers have to agree, and the host.
HeadFault checkHead(const boost::beast::http::request_header<> &head);

} // namespace pdlserve

#endif // PDLSERVE_HTTPHEAD_H
