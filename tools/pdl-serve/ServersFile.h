//===- ServersFile.h - Servers with the values of a model -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the file `servers.json` of a version. It names the servers of a running
// job from which the library requests rows.
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_SERVE_SERVERSFILE_H
#define PDL_TOOLS_PDL_SERVE_SERVERSFILE_H

#include "pdl/serving.h"
#include "pdlrt/Core/Status.h"

#include <cstdint>
#include <string>

namespace pdlserve {

inline constexpr const char *serversFileName = "servers.json";

/// Returns true if `path` is the path of a servers file.
bool isServersFile(const std::string &path);

struct ServersFile {
  /// Addresses, separated by commas.
  std::string servers;
  /// Token of the servers' --reader-token-file.
  std::string token;
  /// Path from which the library reads parameters. If it is empty, parameters
  /// are requested from the servers.
  std::string parameters;
  int64_t cacheBytes = int64_t(256) << 20;
  int64_t rowAgeMillis = 1000, timeoutMillis = 1000;
  /// Age at which parameters are requested again.
  int64_t refreshMillis = 10000;

  /// Returns connection parameters that point into this object.
  pdl_serving_connection connection() const;
};

/// Reads a servers file. Relative paths in it refer to its folder. An error
/// names the file and says what is wrong.
pdlrt::Expected<ServersFile> readServersFile(const std::string &path);

} // namespace pdlserve

#endif // PDL_TOOLS_PDL_SERVE_SERVERSFILE_H
