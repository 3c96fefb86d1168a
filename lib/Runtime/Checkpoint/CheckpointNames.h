//===- CheckpointNames.h - Names and places of checkpoints ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_CHECKPOINT_CHECKPOINTNAMES_H
#define LIB_RUNTIME_CHECKPOINT_CHECKPOINTNAMES_H

#include "pdlrt/Core/Status.h"

#include <cstdint>
#include <string>

namespace pdlrt {

/// Returns the step count in the name of a checkpoint's folder, or -1 for other
/// names.
int64_t stepsOf(const std::string &name);
/// Returns the path of the checkpoint after `steps` steps.
std::string pathOf(const std::string &folder, int64_t steps);

/// Returns true if there is a checkpoint at `path`: its manifest exists.
/// Returns the error of an object store.
Expected<bool> isCheckpointThere(const std::string &path);

} // namespace pdlrt

#endif // LIB_RUNTIME_CHECKPOINT_CHECKPOINTNAMES_H
