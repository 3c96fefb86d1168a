//===- Shrink.h - The command that takes rows away --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDLCHECKPOINT_SHRINK_H
#define PDL_TOOLS_PDLCHECKPOINT_SHRINK_H

#include <cstdint>
#include <optional>
#include <string>

/// The flags of `shrink`.
struct ShrinkFlags {
  std::optional<uint64_t> unseen;
  /// As they were given; empty: they were not.
  std::string decay, least, score;
};

/// Writes the checkpoint without the rows that go, and says of each table how
/// many are left. Returns the exit status.
int shrinkTo(const std::string &checkpoint, const ShrinkFlags &flags,
             const std::string &output);

#endif // PDL_TOOLS_PDLCHECKPOINT_SHRINK_H
