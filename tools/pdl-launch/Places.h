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

/// Where processes of one job are reached.
class Places {
public:
  virtual ~Places();
  /// Those of servers, then those of trainers.
  const std::vector<std::string> &addresses() const { return list; }

protected:
  std::vector<std::string> list;
};

/// Ports of the loopback that nobody uses now. They are not kept: another
/// program may take one before its process does, which then says so.
pdlrt::Expected<std::unique_ptr<Places>> freePorts(unsigned count);

/// Sockets in a folder.
std::unique_ptr<Places> unixSockets(const std::string &folder, unsigned servers,
                                    unsigned trainers);

} // namespace pdllaunch

#endif // PDL_TOOLS_PDL_LAUNCH_PLACES_H
