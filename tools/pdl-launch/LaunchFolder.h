//===- LaunchFolder.h - The private folder of a launch ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_LAUNCH_LAUNCHFOLDER_H
#define PDL_TOOLS_PDL_LAUNCH_LAUNCHFOLDER_H

#include "pdlrt/Core/Status.h"

#include <memory>
#include <string>

namespace pdllaunch {

/// A temporary folder for the sockets and the secret of one job. Only this user
/// has access. The destructor removes it. If this process dies before, a later
/// launch removes it.
class LaunchFolder {
public:
  virtual ~LaunchFolder();
  virtual const std::string &path() const = 0;

  /// Creates the folder. Also removes folders that launches of this user have
  /// left when they died.
  static pdlrt::Expected<std::unique_ptr<LaunchFolder>> make();
};

/// Generates a secret and writes it to a new file `token` in the folder.
/// Returns the path of the file.
pdlrt::Expected<std::string> writeToken(const LaunchFolder &folder);

} // namespace pdllaunch

#endif // PDL_TOOLS_PDL_LAUNCH_LAUNCHFOLDER_H
