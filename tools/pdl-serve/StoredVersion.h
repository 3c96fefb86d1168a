//===- StoredVersion.h - A version of a model in a store --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_SERVE_STOREDVERSION_H
#define PDL_TOOLS_PDL_SERVE_STOREDVERSION_H

#include "pdlrt/Core/Status.h"
#include "pdlrt/Files/FileCache.h"
#include "pdlrt/Files/Store.h"

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pdlserve {

/// The listed files of a version. Names are relative to its address.
struct StoredVersion {
  std::string address;
  std::map<std::string, pdlrt::StoredFileInfo> files;

  /// Returns a text that differs if the library or the values that are served
  /// differ. Ignores files of checkpoints that are not complete.
  std::string content() const;
  /// Returns the names of the complete checkpoints, newest first.
  std::vector<std::string> checkpoints() const;
};

/// Splits a name such as `ctr/1/model.so` that is relative to the listed
/// address. Returns none if a part of it begins with a dot or is empty.
std::vector<std::string_view> partsOfName(std::string_view name);

/// Copies that the folder of a version links to.
using CopiedFiles = std::vector<std::shared_ptr<const pdlrt::CachedCopy>>;

/// Downloads a version to the new folder `folder`, with hard links to the
/// copies in `cache`. Verifies checkpoints and exports by their manifests.
/// `checkpoint`: name of the checkpoint that is copied, with all that it needs,
/// if the version has checkpoints. After an error, removes the folder.
pdlrt::Expected<CopiedFiles> copyVersion(const StoredVersion &version,
                                         const std::string &checkpoint,
                                         const std::string &folder,
                                         pdlrt::FileCache &cache,
                                         const std::atomic<bool> &cancel);

} // namespace pdlserve

#endif // PDL_TOOLS_PDL_SERVE_STOREDVERSION_H
