//===- CredentialSource.h - Credentials of S3 that expire -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_FILES_S3_CREDENTIALSOURCE_H
#define LIB_RUNTIME_FILES_S3_CREDENTIALSOURCE_H

#include "Files/S3/HttpClient.h"
#include "Files/S3/S3Settings.h"
#include "pdlrt/Core/Mutex.h"

#include <cstdint>
#include <optional>
#include <string>

namespace pdlrt {

/// Returns the credentials for each request: those of variables and files, or
/// those that the container's or the virtual machine's service hands out, which
/// are requested again before they expire. Thread-safe.
class CredentialSource {
public:
  CredentialSource(HttpClient &http, S3Environment environment)
      : http(http), environment(std::move(environment)) {}

  /// `now`: seconds since 1970. Errors say which variables to set.
  Expected<S3Credentials> get(int64_t now);

private:
  Expected<S3Credentials> fetch() const;
  Expected<S3Credentials> fetchOfContainer(const std::string &url) const;
  Expected<S3Credentials> fetchOfInstance() const;

  HttpClient &http;
  const S3Environment environment;
  Mutex mutex;
  std::optional<S3Credentials> current PDLRT_GUARDED_BY(mutex);
};

} // namespace pdlrt

#endif // LIB_RUNTIME_FILES_S3_CREDENTIALSOURCE_H
