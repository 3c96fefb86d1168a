//===- VersionFolder.h - Contents of a version's folder ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_SERVE_VERSIONFOLDER_H
#define PDL_TOOLS_PDL_SERVE_VERSIONFOLDER_H

#include "pdlrt/Core/Status.h"

#include <cstdint>
#include <string>

namespace pdlserve {

/// State of a file or folder, used to detect changes.
struct Stamp {
  std::string path;
  uint64_t device = 0, number = 0, size = 0;
  int64_t seconds = 0, nanoseconds = 0;

  bool operator==(const Stamp &) const = default;
};

/// Contents of a version's folder at one time.
struct FolderContent {
  Stamp library;
  /// The newest checkpoint, the export, the dump or the servers file.
  Stamp values;
  /// Folder that contains the checkpoints; empty if the values are no
  /// checkpoint.
  std::string checkpoints;

  /// Returns true if both have the same library. Its path may differ.
  bool hasSameLibrary(const FolderContent &other) const;
  bool operator==(const FolderContent &) const = default;
};

/// Returns the number of a version, or 0 if the name is not a version.
int64_t versionNumber(const std::string &name);

/// Returns which library and which values the folder of a version has. Opens no
/// file. An error says what is missing or ambiguous.
pdlrt::Expected<FolderContent> contentOf(const std::string &folder);

/// Returns a digest of the names, sizes and times of all files in a folder and
/// its subfolders. Follows links. The digest changes while files are copied
/// into the folder. Ignores names that begin with a dot, and temporary names of
/// trainings.
uint64_t digestOfNames(const std::string &folder);

} // namespace pdlserve

#endif // PDL_TOOLS_PDL_SERVE_VERSIONFOLDER_H
