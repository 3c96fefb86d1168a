//===- Projector.h - The command projector ----------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_CHECKPOINT_PROJECTOR_H
#define PDL_TOOLS_PDL_CHECKPOINT_PROJECTOR_H

#include "KeyText.h"
#include "pdlrt/Core/Flags.h"

#include <cstdint>
#include <string>

/// Flags of `projector`.
struct ProjectorFlags {
  std::string checkpoint, table, ids, by;
  KeyFlags keys;
  uint64_t rows = 10000;
};

/// Returns the flags of the command. `output` is the folder to write.
pdlrt::CommandTable projectorTable(ProjectorFlags &flags, std::string &output);

/// Writes rows of a table for TensorBoard's Embedding Projector to the new
/// folder `output`. Returns the exit status.
int writeProjector(const ProjectorFlags &flags, const std::string &output);

#endif // PDL_TOOLS_PDL_CHECKPOINT_PROJECTOR_H
