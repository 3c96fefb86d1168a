//===- ServedExport.h - Exports for memory mapping --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An export is a folder with the parts of a checkpoint that libraries read: a
// manifest, the parameters in one safetensors file, and a file per table that
// is memory-mapped (FrozenTable.h). Loading takes only as long as reading the
// parameters.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_SERVING_SERVEDEXPORT_H
#define PDLRT_SERVING_SERVEDEXPORT_H

#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Checkpoint/State.h"
#include "pdlrt/Core/Status.h"

#include <cstddef>
#include <string>

namespace pdlrt {

/// Name of an export's manifest. It has the contents of a checkpoint's
/// manifest, except parts and slots. A symbol has no slots there, or only the
/// slot that is exported instead of its value.
inline constexpr const char *exportManifestName = "export.json";

/// Returns true if the folder is an export.
bool isExport(const std::string &folder);

/// Exports a checkpoint to the folder `path`, which appears complete or not at
/// all. For symbols with the slot `slot`, such as an average that frozen
/// programs read, that slot is exported instead of the value. "": only values.
/// Returns an error if no symbol has the slot. Holds one table in memory at a
/// time. Throws std::bad_alloc.
Status exportCheckpoint(const Checkpoint &checkpoint, const std::string &slot,
                        const std::string &path);

/// Verifies an export by reading all of it, and returns its contents. An error
/// says what is missing or changed.
Expected<CheckpointManifest> verifyExport(const std::string &path);

/// Verifies an export and compares it with a checkpoint, bit by bit. Creates at
/// most `limit` messages, in which the export comes first. Returns an error if
/// one of the two cannot be read. Holds `memory` bytes of the checkpoint's rows
/// in memory, and one bit per row. Throws std::bad_alloc.
Expected<StateDifferences> compareExport(const std::string &path,
                                         const Checkpoint &checkpoint,
                                         size_t limit,
                                         size_t memory = size_t(256) << 20);

} // namespace pdlrt

#endif // PDLRT_SERVING_SERVEDEXPORT_H
