//===- ServedExport.h - A checkpoint, to be mapped --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An export is a folder with what libraries read of a checkpoint: a manifest,
// the parameters in one safetensors file, and a file for each table, which is
// mapped (FrozenTable.h). It loads in the time that its parameters take.
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

/// The manifest of an export: what a checkpoint's says, but for parts and
/// slots. A symbol has no slot there, or the one that the export has in the
/// place of its value.
inline constexpr const char *exportManifestName = "export.json";

/// Whether the folder is an export.
bool isExport(const std::string &folder);

/// Writes the export of a checkpoint as the folder `path`, which appears whole
/// or not at all. Where a symbol has the slot `slot`, such as an average that
/// frozen programs read, that is exported in the place of its value; "": values
/// alone; an error where none has it. A table is held in memory while it is
/// written. Throws std::bad_alloc.
Status exportCheckpoint(const Checkpoint &checkpoint, const std::string &slot,
                        const std::string &path);

/// What an export is made of; all of it is read. An error names what is missing
/// or changed.
Expected<CheckpointManifest> verifyExport(const std::string &path);

/// Where an export differs from a checkpoint in a bit; at most `limit`
/// sentences, in which the export is the first. All of it is verified before.
/// An error where one of them cannot be read. `memory` bytes of the
/// checkpoint's rows are in memory at once, and a bit of each row. Throws
/// std::bad_alloc.
Expected<StateDifferences> compareExport(const std::string &path,
                                         const Checkpoint &checkpoint,
                                         size_t limit,
                                         size_t memory = size_t(256) << 20);

} // namespace pdlrt

#endif // PDLRT_SERVING_SERVEDEXPORT_H
