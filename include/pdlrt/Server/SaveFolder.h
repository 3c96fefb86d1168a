//===- SaveFolder.h - Folder for a server's checkpoints ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_SERVER_SAVEFOLDER_H
#define PDLRT_SERVER_SAVEFOLDER_H

#include "pdlrt/Core/Status.h"

#include <string>

namespace pdlrt {

/// The only folder below which a server writes its part of a checkpoint. It
/// comes from the server's flag. Without the flag, the job's first trainer
/// names it in its join, if not everybody can join. Not thread-safe.
class SaveFolder {
public:
  /// Allows no folder until a trainer names one.
  SaveFolder() = default;
  /// Allows files below `folder`. An empty path allows none, permanently.
  explicit SaveFolder(const std::string &folder);

  /// Also allows files below `folder` (--emergency-checkpoint).
  void allowAlso(const std::string &folder);
  /// Also allows saves into folders of any name, for tools that save where the
  /// user says.
  void allowAnyName() { anyName = true; }

  /// Returns an error if a trainer that writes checkpoints to `folder` cannot
  /// join. An empty path means that it writes none.
  Status check(const std::string &folder) const;
  /// Records the folder of a trainer that has joined.
  void take(const std::string &folder);
  /// Returns an error if `path` is not below an allowed folder. Symbolic links
  /// are resolved first.
  Status allows(const std::string &path) const;
  /// Returns an error if files must not be written into `folder`: it must be
  /// below an allowed folder, be no link, have no "..", and have the name of an
  /// unfinished checkpoint (`isUnfinishedCheckpoint`).
  Status allowsSave(const std::string &folder) const;

private:
  bool isOpen = true;
  /// Path without symbolic links; empty: no folder is allowed.
  std::string root;
  /// Second allowed path, if there is one.
  std::string otherRoot;
  bool anyName = false;
};

} // namespace pdlrt

#endif // PDLRT_SERVER_SAVEFOLDER_H
