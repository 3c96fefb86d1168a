//===- HttpHead.cpp - Validates the head of an HTTP request ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HttpHead.h"

#include <algorithm>
#include <boost/beast/core/string.hpp>
#include <string_view>

using namespace pdlserve;
namespace http = boost::beast::http;

/// Removes the next element of a comma-separated list and returns it without
/// blanks at its ends. Returns an empty text for an empty element, which is
/// allowed and which the caller skips.
static std::string_view nextElement(std::string_view &list) {
  std::string_view element = list.substr(0, list.find(','));
  list.remove_prefix(std::min(list.size(), element.size() + 1));
  const size_t begin = element.find_first_not_of(" \t");
  if (begin == std::string_view::npos)
    return {};
  return element.substr(begin, element.find_last_not_of(" \t") - begin + 1);
}

/// Returns an error unless `chunked` is the only transfer coding, if the
/// request has any. If it is not the last one, the length of the body is
/// unknown (RFC 9112, 6.3).
static HeadFault checkCodings(const http::request_header<> &head) {
  const auto lines = head.equal_range(http::field::transfer_encoding);
  if (lines.first == lines.second)
    return {};
  if (head.version() < 11)
    return {400, "Transfer-Encoding is not of HTTP/1.0"};
  if (head.count(http::field::content_length) > 0)
    return {400, "the request has Transfer-Encoding and Content-Length"};
  size_t codings = 0;
  bool isChunked = false;
  for (auto line = lines.first; line != lines.second; ++line) {
    std::string_view list(line->value().data(), line->value().size());
    while (!list.empty()) {
      const std::string_view coding = nextElement(list);
      if (coding.empty())
        continue;
      if (isChunked)
        return {400, "'chunked' is not the last of the transfer codings"};
      isChunked =
          boost::beast::iequals({coding.data(), coding.size()}, "chunked");
      ++codings;
    }
  }
  if (!isChunked)
    return {400, "'chunked' is not the last of the transfer codings"};
  if (codings > 1)
    return {501, "'chunked' is the only transfer coding that the server knows"};
  return {};
}

bool pdlserve::isHost(std::string_view text) {
  const auto isPlain = [](char c) {
    return c > ' ' && c < 127 &&
           std::string_view("/?#@\\\"<>^`{|},[]").find(c) ==
               std::string_view::npos;
  };
  size_t end = std::min(text.find(':'), text.size());
  std::string_view name = text.substr(0, end);
  if (text.starts_with("[")) {
    end = text.find(']');
    if (end == std::string_view::npos)
      return false;
    name = text.substr(1, end++ - 1);
  }
  const std::string_view port = text.substr(end);
  return std::ranges::all_of(name, isPlain) &&
         (port.empty() || port.starts_with(":")) &&
         port.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

HeadFault pdlserve::checkHead(const http::request_header<> &head) {
  if (HeadFault fault = checkCodings(head); fault.status)
    return fault;
  if (head.count(http::field::content_length) > 1)
    return {400, "the request has Content-Length more than once"};
  const size_t hosts = head.count(http::field::host);
  if (hosts > 1 || (hosts == 0 && head.version() >= 11))
    return {400, "a request of HTTP/1.1 has one header Host"};
  const boost::beast::string_view host = head[http::field::host];
  if (!isHost({host.data(), host.size()}))
    return {400, "the header Host is no host"};
  const auto expected = head.equal_range(http::field::expect);
  for (auto line = expected.first; line != expected.second; ++line)
    if (!line->value().empty() &&
        !boost::beast::iequals(line->value(), "100-continue"))
      return {417, "the server meets no other expectation than 100-continue"};
  if (head.count("Inference-Header-Content-Length") > 1)
    return {400, "the request has Inference-Header-Content-Length more than "
                 "once"};
  return {};
}
