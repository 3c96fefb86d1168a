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

/// The folder below which a server may write its files of checkpoints. The
/// server's flag names it. Without the flag, the first trainer that joins names
/// it, but only if the job has a token, because any process could join a job
/// without a token. Not thread-safe.
class SaveFolder {
public:
  /// Allows no folder until a trainer has named one.
  SaveFolder() = default;
  /// Allows files below `folder`. If `folder` is empty, never allows any.
  explicit SaveFolder(const std::string &folder);

  /// Also allows files below `folder` (--emergency-checkpoint), once there is a
  /// first folder.
  void allowAlso(const std::string &folder);
  /// Also allows folders that do not have the name of an unfinished checkpoint,
  /// for tools that save to a path of the user.
  void allowAnyName() { anyName = true; }

  /// Returns an error if a trainer that writes checkpoints to `folder` must not
  /// join. `folder` is empty if the trainer writes no checkpoints.
  Status check(const std::string &folder) const;
  /// Records the folder of a trainer that has joined. It becomes the allowed
  /// folder if there was none and trainers may name it.
  void take(const std::string &folder);
  /// Returns an error unless `path` is an allowed folder or below one, after
  /// symbolic links are resolved. Also returns an error if there is no first
  /// folder yet, even if `allowAlso` was called.
  Status allows(const std::string &path) const;
  /// Returns an error if files of a checkpoint must not be written to `folder`.
  /// It must be below an allowed folder, must not be a link or contain "..",
  /// and must have the name of an unfinished checkpoint
  /// (`publishedPathOf`).
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
