//===- HttpClient.cpp - Opens the library of HTTP requests ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/S3/HttpClient.h"

#include "Files/S3/HttpLibrary.h"
#include "pdlrt/Core/CompanionLibrary.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>

using namespace pdlrt;

HttpClient::~HttpClient() = default;

std::string_view HttpResponse::header(std::string_view name) const {
  for (const auto &[key, value] : headers)
    if (key == name)
      return value;
  return {};
}

namespace {

/// The state of one transfer.
struct Transfer {
  const HttpRequest &request;
  HttpResponse &response;
  /// Status code of the latest status line.
  int status = 0;

  void addHeader(std::string_view line);
  bool addBody(std::string_view bytes);
};

class CurlClient final : public HttpClient {
public:
  explicit CurlClient(pdlrt_http_perform *perform) : perform(perform) {}
  HttpResponse send(const HttpRequest &request) override;

private:
  pdlrt_http_perform *const perform;
};

} // namespace

/// Longest body of a response that has no destination: error messages and
/// pages of lists.
static constexpr size_t maxBodyBytes = size_t(64) << 20;

void Transfer::addHeader(std::string_view line) {
  if (line.starts_with("HTTP/")) {
    // A proxy may send several responses.
    response.headers.clear();
    status = 0;
    if (const size_t space = line.find(' '); space != std::string_view::npos)
      std::from_chars(line.data() + space + 1, line.data() + line.size(),
                      status);
    return;
  }
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos)
    return;
  std::string name(line.substr(0, colon));
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return char(std::tolower(c)); });
  std::string_view value = line.substr(colon + 1);
  while (!value.empty() && value.front() == ' ')
    value.remove_prefix(1);
  response.headers.emplace_back(std::move(name), value);
}

bool Transfer::addBody(std::string_view bytes) {
  const bool isSuccess = status >= 200 && status < 300;
  if (!request.out || !isSuccess) {
    if (response.body.size() + bytes.size() > maxBodyBytes)
      return false;
    response.body += bytes;
    return true;
  }
  if (bytes.size() > request.outBytes - response.outBytes)
    return false;
  std::memcpy(request.out + response.outBytes, bytes.data(), bytes.size());
  response.outBytes += bytes.size();
  return true;
}

HttpResponse CurlClient::send(const HttpRequest &request) {
  HttpResponse response;
  Transfer transfer = {request, response};
  std::vector<std::string> lines;
  for (const auto &[name, value] : request.headers)
    // libcurl sends a header without a value only in this form.
    lines.push_back(value.empty() ? name + ";" : name + ": " + value);
  // libcurl would add them.
  lines.emplace_back("Expect:");
  if (!request.body.empty())
    lines.emplace_back("Content-Type: application/octet-stream");
  else
    lines.emplace_back("Content-Type:");
  std::vector<const char *> texts;
  for (const std::string &line : lines)
    texts.push_back(line.c_str());
  pdlrt_http_call call = {};
  call.method = request.method.c_str();
  call.url = request.url.c_str();
  call.headers = texts.data();
  call.headerCount = texts.size();
  call.body = request.body.data();
  call.bodyBytes = request.body.size();
  call.authorities =
      request.authorities.empty() ? nullptr : request.authorities.c_str();
  call.connectSeconds = request.connectSeconds;
  call.stallSeconds = request.stallSeconds;
  call.context = &transfer;
  call.onHeader = [](void *to, const char *line, size_t size) {
    static_cast<Transfer *>(to)->addHeader({line, size});
  };
  call.onBody = [](void *to, const char *bytes, size_t size) {
    return int(static_cast<Transfer *>(to)->addBody({bytes, size}));
  };
  call.isCancelled = [](void *from) {
    const auto *const cancel = static_cast<Transfer *>(from)->request.cancel;
    return int(cancel && cancel->load(std::memory_order_relaxed));
  };
  if (perform(&call) != 0) {
    response.error = *call.error ? call.error : "the transfer failed";
    response.isTransient = call.isTransient != 0;
    return response;
  }
  response.status = call.status;
  return response;
}

static Expected<HttpClient *> openCurlClient() {
  const Expected<void *> found =
      findInCompanion("libpdl-http.so.1", "pdlrt_http_library");
  if (!found)
    return Status::failedPrecondition(
        "object stores need libpdl-http.so.1 next to the program or serving "
        "library, and libcurl on this host: " +
        found.status().message() +
        "; copy the folder of the program as a whole, or the file from the "
        "folder lib/pdl of PDL, and install libcurl (Debian: libcurl4)");
  const auto query = reinterpret_cast<decltype(&pdlrt_http_library)>(*found);
  pdlrt_http_perform *const perform = query(PDLRT_HTTP_VERSION);
  if (!perform)
    return Status::failedPrecondition(
        "libpdl-http.so.1 is of another version of PDL; copy the folder of "
        "the program as a whole");
  return new CurlClient(perform);
}

Expected<HttpClient *> pdlrt::curlClient() {
  static const Expected<HttpClient *> client = openCurlClient();
  return client;
}
