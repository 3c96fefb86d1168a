//===- ServedExport.h - Exports for memory mapping --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An export is a folder with the part of a checkpoint that serving libraries
// read. It has a manifest, one safetensors file with the parameters, and one
// file for each table. The files of tables are mapped into memory
// (FrozenTable.h), so loading only has to read the parameters.
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

/// Name of an export's manifest. It has the format of a checkpoint's manifest,
/// and lists the files of the export as parts. Its symbols have no slots,
/// except the slot that is exported in place of the value, if there is one.
inline constexpr const char *exportManifestName = "export.json";

/// Returns true if `folder` is an export. Errors of an object store are
/// returned.
Expected<bool> isExport(const std::string &folder);

/// Exports a checkpoint to the new folder `path`. After an error, there is no
/// folder `path`. For symbols that have the slot `slot`, such as an average,
/// exports this slot in place of the value. If `slot` is empty, exports values.
/// Returns an error if no symbol has the slot. Holds one table in memory at a
/// time. Throws std::bad_alloc.
Status exportCheckpoint(const Checkpoint &checkpoint, const std::string &slot,
                        const std::string &path);

/// Verifies an export by reading all its files, and returns its manifest. An
/// error message names the data that is missing or has changed.
Expected<CheckpointManifest> verifyExport(const std::string &path);

/// Verifies an export and compares it with a checkpoint, bit by bit. Creates at
/// most `limit` messages, in which the export comes first. Returns an error if
/// the export or the checkpoint cannot be read. Holds `memory` bytes of the
/// checkpoint's rows in memory, and one bit per row. Throws std::bad_alloc.
Expected<StateDifferences> compareExport(const std::string &path,
                                         const Checkpoint &checkpoint,
                                         size_t limit,
                                         size_t memory = size_t(256) << 20);

} // namespace pdlrt

#endif // PDLRT_SERVING_SERVEDEXPORT_H
