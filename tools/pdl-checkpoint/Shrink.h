//===- Shrink.h - The command `shrink` --------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_CHECKPOINT_SHRINK_H
#define PDL_TOOLS_PDL_CHECKPOINT_SHRINK_H

#include <cstdint>
#include <optional>
#include <string>

/// Flags of `shrink`.
struct ShrinkFlags {
  std::optional<uint64_t> unseen;
  /// Unparsed values; empty if not given.
  std::string decay, least, score;
};

/// Writes a checkpoint without the rows that `flags` remove to the new folder
/// `output`. Prints how many rows of each table are left. Returns the exit
/// status.
int shrinkTo(const std::string &checkpoint, const ShrinkFlags &flags,
             const std::string &output);

#endif // PDL_TOOLS_PDL_CHECKPOINT_SHRINK_H
