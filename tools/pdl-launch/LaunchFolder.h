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

/// A temporary folder that only this user can enter, for the sockets and the
/// secret of one job. It is removed with the object, or by a later launch if
/// this one dies.
class LaunchFolder {
public:
  virtual ~LaunchFolder();
  virtual const std::string &path() const = 0;

  /// Also removes the folders of this user's launches that have died.
  static pdlrt::Expected<std::unique_ptr<LaunchFolder>> make();
};

/// Draws a secret and writes it to a new file `token` in the folder. Returns
/// the path of the file.
pdlrt::Expected<std::string> writeToken(const LaunchFolder &folder);

} // namespace pdllaunch

#endif // PDL_TOOLS_PDL_LAUNCH_LAUNCHFOLDER_H
