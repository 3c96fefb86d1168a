//===- ServersFile.h - Servers with the values of a model -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The file `servers.json` of a version whose library requests rows from the
// servers of a running job.
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

/// Returns true if the path is that of such a file.
bool isServersFile(const std::string &path);

struct ServersFile {
  /// Addresses, separated by commas.
  std::string servers;
  /// Token of the servers' --reader-token-file.
  std::string token;
  /// Path from which libraries read parameters; empty: parameters are requested
  /// from the servers too.
  std::string parameters;
  int64_t cacheBytes = int64_t(256) << 20;
  int64_t rowAgeMillis = 1000, timeoutMillis = 1000;
  /// Maximum age of parameters before they are requested again.
  int64_t refreshMillis = 10000;

  /// Returns connection parameters that point into this object.
  pdl_serving_connection connection() const;
};

/// Reads a servers file. An error names the file and the problem. Relative
/// paths in the file refer to its folder.
pdlrt::Expected<ServersFile> readServersFile(const std::string &path);

} // namespace pdlserve

#endif // PDL_TOOLS_PDL_SERVE_SERVERSFILE_H
