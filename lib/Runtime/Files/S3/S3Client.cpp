//===- S3Client.cpp - Signed requests to S3 with retries ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/S3/S3Client.h"

#include "Files/RequestMetrics.h"
#include "Files/S3/XmlReader.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/Stopwatch.h"
#include "pdlrt/Core/Trace.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <fmt/format.h>
#include <random>
#include <string_view>

using namespace pdlrt;

static constexpr double firstPauseSeconds = 0.1, maxPauseSeconds = 20;
static constexpr double pauseStepSeconds = 0.25;
static constexpr int attemptsBeforeLog = 3;

Expected<S3Address> S3Address::parse(const std::string &address) {
  static constexpr std::string_view scheme = "s3://";
  const std::string rest =
      address.starts_with(scheme) ? address.substr(scheme.size()) : "";
  const size_t slash = std::min(rest.find('/'), rest.size());
  S3Address parsed = {rest.substr(0, slash),
                      slash < rest.size() ? rest.substr(slash + 1) : ""};
  const bool isBucket = !parsed.bucket.empty() &&
                        parsed.bucket.find_first_not_of(
                            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMN"
                            "OPQRSTUVWXYZ0123456789-._") == std::string::npos;
  if (!isBucket)
    return Status::invalidArgument(address +
                                   ": names no bucket; write s3://BUCKET/NAME");
  return parsed;
}

S3Client::S3Client(HttpClient &http, S3Settings settings,
                   S3Environment environment, Sleep sleep)
    : http(http), settings(std::move(settings)),
      credentials(http, std::move(environment)), sleep(std::move(sleep)) {}

Expected<HttpRequest> S3Client::sign(const S3Call &call,
                                     const std::string &digest) {
  // With TLS, the name of a bucket with dots would not match the certificate.
  const S3Address &address = call.address;
  const bool isInPath =
      settings.hasBucketInPath || address.bucket.find('.') != std::string::npos;
  std::string endpoint = settings.endpoint;
  if (endpoint.empty())
    endpoint = "https://s3." + settings.region + ".amazonaws.com";
  const size_t hostAt = endpoint.find("://") + 3;
  S3Request request;
  request.method = call.method;
  request.host =
      (isInPath ? "" : address.bucket + ".") + endpoint.substr(hostAt);
  request.path =
      "/" + (isInPath ? address.bucket + "/" : std::string()) + address.key;
  request.query = call.query;
  request.headers = call.headers;
  request.bodyDigest = digest;

  const int64_t now = std::time(nullptr);
  auto secrets = credentials.get(now);
  PDLRT_RETURN_IF_ERROR(secrets.status());
  HttpRequest ready;
  ready.method = call.method;
  ready.url = endpoint.substr(0, hostAt) + request.host +
              encodeForUrl(request.path, true);
  if (!call.query.empty())
    ready.url += "?" + encodeQuery(call.query);
  ready.headers = signRequest(request, *secrets, settings.region, now);
  // HTTP needs the host in the URL only.
  std::erase_if(ready.headers,
                [](const auto &header) { return header.first == "host"; });
  ready.body = call.body;
  ready.authorities = settings.authorities;
  ready.out = call.out;
  ready.outBytes = call.outBytes;
  ready.cancel = call.cancel;
  return ready;
}

/// Returns the code of an error in the body of a response, such as `SlowDown`.
static std::string errorCodeOf(const HttpResponse &response,
                               std::string *message = nullptr) {
  const auto xml = readXml(response.body);
  if (!xml || xml->name != "Error")
    return {};
  if (message)
    *message = xml->textOf("Message");
  return std::string(xml->textOf("Code"));
}

/// Returns true if another attempt may succeed.
static bool isWorthRetrying(const HttpResponse &response) {
  if (!response.error.empty())
    return response.isTransient;
  if ((response.status >= 500 && response.status != 501) ||
      response.status == 429 || response.status == 408)
    return true;
  if (response.status != 400 && response.status != 409)
    return false;
  const std::string code = errorCodeOf(response);
  return code == "RequestTimeout" || code == "SlowDown" ||
         code == "ConditionalRequestConflict";
}

/// Returns advice for a refused request.
static std::string remedyOf(const HttpResponse &response,
                            const std::string &code) {
  if (response.status == 301 || code == "AuthorizationHeaderMalformed" ||
      code == "PermanentRedirect") {
    const std::string_view region = response.header("x-amz-bucket-region");
    return "set AWS_REGION to the region of the bucket" +
           (region.empty() ? "" : ", " + std::string(region)) +
           ", or AWS_ENDPOINT_URL_S3 to its store";
  }
  if (code == "RequestTimeTooSkewed")
    return "set the clock of this host";
  if (code == "NoSuchBucket")
    return "check the name of the bucket and AWS_ENDPOINT_URL_S3";
  if (response.status == 401 || response.status == 403)
    return "check the credentials and what they permit";
  return "check the address";
}

Status S3Client::failureOf(const S3Call &call, const HttpResponse &response,
                           int attempts) const {
  const std::string what = call.address.text() + ": " + call.failure + ": ";
  const std::string tried =
      attempts > 1 ? fmt::format(" ({} attempts)", attempts) : "";
  if (!response.error.empty()) {
    if (call.cancel && call.cancel->load())
      return Status::cancelled(what + "no reader wants the rest of it");
    const std::string text =
        what + response.error + tried + "; check " +
        (settings.endpoint.empty() ? std::string("the network")
                                   : settings.endpoint + " and the network");
    return response.isTransient ? Status::unavailable(text)
                                : Status::ioError(text);
  }
  std::string message;
  const std::string code = errorCodeOf(response, &message);
  const std::string text =
      what + std::to_string(response.status) + (code.empty() ? "" : " ") +
      code + (message.empty() ? "" : " (" + message + ")") + tried + "; ";
  const std::string remedy = remedyOf(response, code);
  switch (response.status) {
  case 404:
    return Status::notFound(text + remedy);
  case 401:
  case 403:
    return Status::failedPrecondition(text + remedy);
  case 409:
  case 412:
    return Status::failedPrecondition(text +
                                      "another process has changed the object");
  default:
    return isWorthRetrying(response)
               ? Status::unavailable(text + "the store does not serve now")
               : Status::ioError(text + remedy);
  }
}

static StoreRequest kindOf(const S3Call &call) {
  const std::string_view method = call.method;
  if (method == "HEAD")
    return StoreRequest::Find;
  if (method == "DELETE")
    return StoreRequest::Remove;
  if (method != "GET")
    return StoreRequest::Write;
  return call.address.key.empty() ? StoreRequest::List : StoreRequest::Read;
}

/// Returns the pause before an attempt: a random part of a limit that doubles.
static double pauseBefore(int attempt) {
  static thread_local std::minstd_rand random{std::random_device()()};
  const double limit =
      std::min(maxPauseSeconds, firstPauseSeconds * std::ldexp(1.0, attempt));
  return std::uniform_real_distribution<double>(limit / 10, limit)(random);
}

Expected<S3Response> S3Client::send(const S3Call &call,
                                    std::initializer_list<int> expected) {
  const std::string digest = hexSha256(call.body);
  S3Response result;
  for (int attempt = 1;; ++attempt) {
    // Signed anew, because a signature is valid for some minutes only.
    auto request = sign(call, digest);
    if (!request)
      return std::move(request).status().withContext(call.address.text());
    Stopwatch watch;
    {
      const TraceSpan span(call.body.empty() ? "store read" : "store write");
      result.http = http.send(*request);
    }
    HttpResponse &response = result.http;
    const bool isBodyShort = response.error.empty() && response.status == 206 &&
                             call.out && response.outBytes < call.outBytes;
    if (isBodyShort) {
      response.error = "the response is too short";
      response.isTransient = true;
    }
    const bool isGood =
        response.error.empty() &&
        ((response.status >= 200 && response.status < 300) ||
         std::ranges::find(expected, response.status) != expected.end());
    const bool isCancelled = call.cancel && call.cancel->load();
    const bool isLast = isGood || isCancelled ||
                        attempt >= settings.maxAttempts ||
                        !isWorthRetrying(response);
    countStoreRequest(kindOf(call),
                      isGood   ? StoreOutcome::Ok
                      : isLast ? StoreOutcome::Failed
                               : StoreOutcome::Retried,
                      watch.lap(),
                      int64_t(response.outBytes + response.body.size()),
                      int64_t(call.body.size()));
    if (isGood)
      return result;
    if (isLast)
      return failureOf(call, response, attempt);
    result.isRepeated = true;
    const double pause = pauseBefore(attempt);
    // Single failures are normal and pass unnoticed.
    if (attempt >= attemptsBeforeLog)
      logInfo(fmt::format("{}: {}: {}; attempt {} in {:.1f} s",
                          call.address.text(), call.failure,
                          response.error.empty()
                              ? std::to_string(response.status)
                              : response.error,
                          attempt + 1, pause));
    // In short pieces, so that a reader that is closed does not wait.
    double slept = 0;
    while (slept < pause) {
      if (!call.cancel || !call.cancel->load())
        sleep(std::min(pauseStepSeconds, pause - slept));
      slept += pauseStepSeconds;
    }
  }
}
