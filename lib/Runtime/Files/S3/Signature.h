//===- Signature.h - Signatures of requests to S3 ---------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Signature Version 4 of AWS, with which S3-compatible stores authenticate
// requests.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_FILES_S3_SIGNATURE_H
#define LIB_RUNTIME_FILES_S3_SIGNATURE_H

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pdlrt {

/// Secrets of a user of a store. Must never be logged.
struct S3Credentials {
  std::string accessKey, secretKey;
  /// Token of temporary credentials; empty: none.
  std::string token;
  /// Time at which they expire, in seconds since 1970; 0: never.
  int64_t expires = 0;
};

/// A request to S3 before it is signed.
struct S3Request {
  std::string method;
  /// Host with the port, if it is not the default one of the scheme.
  std::string host;
  /// Path that begins with a slash, not encoded.
  std::string path;
  /// Parameters, not encoded.
  std::vector<std::pair<std::string, std::string>> query;
  /// Further headers that are signed; names in lower case.
  std::vector<std::pair<std::string, std::string>> headers;
  /// SHA-256 of the body in hexadecimal digits.
  std::string bodyDigest;
};

/// Returns the text with each byte except A-Z a-z 0-9 - . _ ~ as %XX. A slash
/// remains if `keepsSlashes`.
std::string encodeForUrl(std::string_view text, bool keepsSlashes);

/// Returns the encoded parameters in the order in which they are signed.
std::string
encodeQuery(const std::vector<std::pair<std::string, std::string>> &query);

/// Returns the digest in hexadecimal digits.
std::string hexSha256(std::string_view bytes);

/// Returns all headers of the signed request: those of the request, the time,
/// the digest of the body, the token and the signature. `time`: seconds since
/// 1970.
std::vector<std::pair<std::string, std::string>>
signRequest(const S3Request &request, const S3Credentials &credentials,
            std::string_view region, int64_t time);

} // namespace pdlrt

#endif // LIB_RUNTIME_FILES_S3_SIGNATURE_H
