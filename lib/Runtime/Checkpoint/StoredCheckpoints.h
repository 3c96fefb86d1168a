//===- StoredCheckpoints.h - Checkpoints in object stores -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_CHECKPOINT_STOREDCHECKPOINTS_H
#define LIB_RUNTIME_CHECKPOINT_STOREDCHECKPOINTS_H

#include "pdlrt/Core/Status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pdlrt {

/// Returns a new name for the folder of a checkpoint's files.
std::string storedPartsFolder(const std::string &checkpoint);
/// Returns true if the name is one that `storedPartsFolder` makes.
bool isStoredPartsName(const std::string &name);

/// Returns the step counts of the checkpoints in a folder that have a manifest,
/// newest first.
Expected<std::vector<int64_t>> listStoredCheckpoints(const std::string &folder);

/// Returns the version of a checkpoint's manifest; empty if there is none.
Expected<std::string> storedVersionOf(const std::string &checkpoint);

/// Removes the folders of files that the manifest of a checkpoint does not
/// name. Called after its manifest has been written.
Status removeOtherParts(const std::string &checkpoint,
                        const std::string &partsFolder);

/// Removes a checkpoint: first its manifest, so that no reader finds a
/// checkpoint without its files.
Status removeStoredCheckpoint(const std::string &checkpoint);

/// Checks that this process may write to a folder, and removes files that
/// interrupted processes have left there more than a day ago.
Status prepareStoredFolder(const std::string &folder);

} // namespace pdlrt

#endif // LIB_RUNTIME_CHECKPOINT_STOREDCHECKPOINTS_H
