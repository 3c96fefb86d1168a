//===- Places.h - Free addresses on this host -------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_LAUNCH_PLACES_H
#define PDL_TOOLS_PDL_LAUNCH_PLACES_H

#include "pdlrt/Core/Status.h"

#include <memory>
#include <string>
#include <vector>

namespace pdllaunch {

/// Addresses of the processes of one job.
class Places {
public:
  virtual ~Places();
  /// Returns the addresses of the servers, followed by those of the trainers.
  const std::vector<std::string> &addresses() const { return list; }

protected:
  std::vector<std::string> list;
};

/// Finds unused ports of the loopback interface. The ports are not reserved, so
/// another program may use one of them before the job's process does. That
/// process then reports an error.
pdlrt::Expected<std::unique_ptr<Places>> freePorts(unsigned count);

/// Returns addresses of unix sockets in a folder.
std::unique_ptr<Places> unixSockets(const std::string &folder, unsigned servers,
                                    unsigned trainers);

} // namespace pdllaunch

#endif // PDL_TOOLS_PDL_LAUNCH_PLACES_H
