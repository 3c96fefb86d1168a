//===- S3Settings.h - Settings of S3-compatible stores ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Settings come from the variables and files that other programs of S3 read
// too: AWS_ENDPOINT_URL_S3, AWS_REGION, AWS_PROFILE, ~/.aws/config and so on.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_FILES_S3_S3SETTINGS_H
#define LIB_RUNTIME_FILES_S3_S3SETTINGS_H

#include "Files/S3/Signature.h"
#include "pdlrt/Core/Status.h"

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace pdlrt {

/// Address of a store, and how requests reach it.
struct S3Settings {
  /// Scheme and host, such as `http://localhost:9000`; empty: AWS.
  std::string endpoint;
  std::string region = "us-east-1";
  /// True if the bucket is part of the path instead of the host's name.
  bool hasBucketInPath = false;
  /// File with certificates of authorities; empty: those of the host.
  std::string authorities;
  /// Number of attempts of a request.
  int maxAttempts = 10;
};

/// Source of settings.
struct S3Environment {
  /// Returns the value of an environment variable; null if it is not set.
  std::function<const char *(const char *)> variable;
};

/// Returns the environment of this process.
S3Environment s3Environment();

/// Settings of one profile in the files of AWS.
using S3Profile = std::map<std::string, std::string>;

/// Reads the chosen profile (AWS_PROFILE) from the files `credentials` and
/// `config`. Missing files are empty. Returns an error if AWS_PROFILE names a
/// profile that is in none.
Expected<S3Profile> readS3Profile(const S3Environment &environment);

/// Returns the settings. Errors name the variable or file.
Expected<S3Settings> readS3Settings(const S3Environment &environment,
                                    const S3Profile &profile);

/// Returns the credentials of environment variables or of the profile; none if
/// there are none. Returns an error if they are incomplete, or if the profile
/// needs a way to sign in that PDL does not have.
Expected<std::optional<S3Credentials>>
readS3Credentials(const S3Environment &environment, const S3Profile &profile);

} // namespace pdlrt

#endif // LIB_RUNTIME_FILES_S3_S3SETTINGS_H
