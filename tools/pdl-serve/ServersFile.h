//===- ServersFile.h - Which servers have the values -----*- C++ -*- ===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The file `servers.json` of a version whose library asks the servers of a
// running job for rows.
//
//===----------------------------------------------------------------------===//

#ifndef PDLSERVE_SERVERSFILE_H
#define PDLSERVE_SERVERSFILE_H

#include "pdl/serving.h"
#include "pdlrt/Core/Status.h"

#include <cstdint>
#include <string>

namespace pdlserve {

inline constexpr const char *serversFileName = "servers.json";

/// Whether a path is that of such a file.
bool isServersFile(const std::string &path);

struct ServersFile {
  /// Addresses with commas between.
  std::string servers;
  /// Of the servers' --reader-token-file.
  std::string token;
  /// What libraries open, of which parameters are read; empty: servers are
  /// asked for them too.
  std::string parameters;
  int64_t cacheBytes = int64_t(256) << 20;
  int64_t rowAgeMillis = 1000, timeoutMillis = 1000;
  /// How old parameters may be before they are asked for again.
  int64_t refreshMillis = 10000;

  /// Refers to this.
  pdl_serving_connection connection() const;
};

/// An error names the file and what is wrong in it. A path in it is taken from
/// its folder on.
pdlrt::Expected<ServersFile> readServersFile(const std::string &path);

} // namespace pdlserve

#endif // PDLSERVE_SERVERSFILE_H
