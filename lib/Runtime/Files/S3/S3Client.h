//===- S3Client.h - Signed requests to S3 with retries ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_FILES_S3_S3CLIENT_H
#define LIB_RUNTIME_FILES_S3_S3CLIENT_H

#include "Files/S3/CredentialSource.h"
#include "Files/S3/HttpClient.h"
#include "Files/S3/S3Settings.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pdlrt {

/// A parsed address `s3://bucket/key`.
struct S3Address {
  std::string bucket, key;

  /// Returns an error if `address` has no valid bucket. The key may be empty.
  static Expected<S3Address> parse(const std::string &address);
  /// Returns the address as text.
  std::string text() const { return "s3://" + bucket + "/" + key; }
};

/// One request to S3.
struct S3Call {
  const char *method = "GET";
  S3Address address;
  /// Verb for messages, such as `cannot be read`.
  const char *failure = "cannot be read";
  std::vector<std::pair<std::string, std::string>> query = {};
  std::vector<std::pair<std::string, std::string>> headers = {};
  /// Must outlive the call.
  std::string_view body = {};
  char *out = nullptr;
  size_t outBytes = 0;
  const std::atomic<bool> *cancel = nullptr;
};

/// The response to a call whose status is 2xx, or an expected one.
struct S3Response {
  HttpResponse http;
  /// True if an earlier attempt may have had its effect: its response was lost.
  bool isRepeated = false;
};

/// Signs and sends requests. Failures of the network and statuses such as 503
/// are retried, with pauses that grow and are drawn at random. Thread-safe.
class S3Client {
public:
  /// `sleep`: waits for seconds; replaced in tests.
  using Sleep = std::function<void(double seconds)>;
  S3Client(HttpClient &http, S3Settings settings, S3Environment environment,
           Sleep sleep);

  /// Returns the response if its status is 2xx or in `expected`. Otherwise
  /// returns an error that begins with the address and says what to do:
  /// PDL_NOT_FOUND for 404, PDL_FAILED_PRECONDITION for 409, 412 and refused
  /// credentials, PDL_UNAVAILABLE if no attempt succeeded.
  Expected<S3Response> send(const S3Call &call,
                            std::initializer_list<int> expected = {});

private:
  Expected<HttpRequest> sign(const S3Call &call, const std::string &digest);
  Status failureOf(const S3Call &call, const HttpResponse &response,
                   int attempts) const;

  HttpClient &http;
  const S3Settings settings;
  CredentialSource credentials;
  const Sleep sleep;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_FILES_S3_S3CLIENT_H
