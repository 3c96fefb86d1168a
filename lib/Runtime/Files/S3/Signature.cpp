//===- Signature.cpp - Signatures of requests to S3 -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/S3/Signature.h"

#include "pdlrt/Core/Sha256.h"

#include <algorithm>
#include <ctime>
#include <fmt/format.h>

using namespace pdlrt;

static std::string_view digestBytes(const Sha256Digest &digest) {
  return {reinterpret_cast<const char *>(digest.data()), digest.size()};
}

static std::string hexOf(std::string_view bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const unsigned char byte : bytes)
    fmt::format_to(std::back_inserter(text), "{:02x}", byte);
  return text;
}

std::string pdlrt::hexSha256(std::string_view bytes) {
  return hexOf(digestBytes(sha256(bytes)));
}

std::string pdlrt::encodeForUrl(std::string_view text, bool keepsSlashes) {
  std::string encoded;
  for (const unsigned char c : text) {
    // Independent of the locale.
    const bool isPlain = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                         (c >= '0' && c <= '9') || c == '-' || c == '.' ||
                         c == '_' || c == '~' || (c == '/' && keepsSlashes);
    if (isPlain)
      encoded += char(c);
    else
      fmt::format_to(std::back_inserter(encoded), "%{:02X}", c);
  }
  return encoded;
}

std::string pdlrt::encodeQuery(
    const std::vector<std::pair<std::string, std::string>> &query) {
  std::vector<std::pair<std::string, std::string>> encoded;
  for (const auto &[name, value] : query)
    encoded.emplace_back(encodeForUrl(name, false), encodeForUrl(value, false));
  std::ranges::sort(encoded);
  std::string text;
  for (const auto &[name, value] : encoded) {
    text += text.empty() ? "" : "&";
    text += name;
    text += '=';
    text += value;
  }
  return text;
}

std::vector<std::pair<std::string, std::string>>
pdlrt::signRequest(const S3Request &request, const S3Credentials &credentials,
                   std::string_view region, int64_t time) {
  std::tm parts = {};
  const std::time_t seconds = time;
  ::gmtime_r(&seconds, &parts);
  const std::string date = fmt::format("{:04}{:02}{:02}", parts.tm_year + 1900,
                                       parts.tm_mon + 1, parts.tm_mday);
  const std::string moment = fmt::format(
      "{}T{:02}{:02}{:02}Z", date, parts.tm_hour, parts.tm_min, parts.tm_sec);

  auto headers = request.headers;
  headers.emplace_back("host", request.host);
  headers.emplace_back("x-amz-content-sha256", request.bodyDigest);
  headers.emplace_back("x-amz-date", moment);
  if (!credentials.token.empty())
    headers.emplace_back("x-amz-security-token", credentials.token);
  std::ranges::sort(headers);
  std::string lines, names;
  for (const auto &[name, value] : headers) {
    lines += name + ":" + value + "\n";
    names += (names.empty() ? "" : ";") + name;
  }

  const std::string canonical = request.method + "\n" +
                                encodeForUrl(request.path, true) + "\n" +
                                encodeQuery(request.query) + "\n" + lines +
                                "\n" + names + "\n" + request.bodyDigest;
  const std::string scope = fmt::format("{}/{}/s3/aws4_request", date, region);
  const std::string text = "AWS4-HMAC-SHA256\n" + moment + "\n" + scope + "\n" +
                           hexSha256(canonical);
  Sha256Digest key = hmacSha256("AWS4" + credentials.secretKey, date);
  for (const std::string_view part :
       {region, std::string_view("s3"), std::string_view("aws4_request")})
    key = hmacSha256(digestBytes(key), part);
  headers.emplace_back(
      "authorization",
      fmt::format("AWS4-HMAC-SHA256 Credential={}/{}, SignedHeaders={}, "
                  "Signature={}",
                  credentials.accessKey, scope, names,
                  hexOf(digestBytes(hmacSha256(digestBytes(key), text)))));
  return headers;
}
