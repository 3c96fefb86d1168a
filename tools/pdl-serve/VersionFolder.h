//===- VersionFolder.h - What lies in the folder of a version - -*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLSERVE_VERSIONFOLDER_H
#define PDLSERVE_VERSIONFOLDER_H

#include "pdlrt/Core/Status.h"

#include <cstdint>
#include <string>

namespace pdlserve {

/// What is at a path, so that a change is seen.
struct Stamp {
  std::string path;
  uint64_t device = 0, number = 0, size = 0;
  int64_t seconds = 0, nanoseconds = 0;

  bool operator==(const Stamp &) const = default;
};

/// What a version consists of at one look.
struct FolderContent {
  Stamp library;
  /// The newest checkpoint, the export, the dump or the file of servers.
  Stamp values;
  /// The folder of checkpoints; empty of others.
  std::string checkpoints;

  bool operator==(const FolderContent &) const = default;
};

/// Returns what a version consists of. No file is opened. An error says what is
/// missing, or of what there are several.
pdlrt::Expected<FolderContent> contentOf(const std::string &folder);

/// Returns a digest of the names, sizes and times of all files below a folder,
/// links followed. It changes while somebody copies something into the folder.
/// Names that begin with a dot, and temporary ones of trainings, do not count.
uint64_t digestOfNames(const std::string &folder);

} // namespace pdlserve

#endif // PDLSERVE_VERSIONFOLDER_H
