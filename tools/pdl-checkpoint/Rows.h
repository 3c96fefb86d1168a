//===- Rows.h - The commands row and neighbors ------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_CHECKPOINT_ROWS_H
#define PDL_TOOLS_PDL_CHECKPOINT_ROWS_H

#include "KeyText.h"
#include "pdlrt/Core/Flags.h"

#include <cstdint>
#include <string>

/// Flags of `row` and `neighbors`.
struct RowFlags {
  std::string checkpoint, key, table;
  KeyFlags keys;
  bool isJson = false;
  /// Number of rows that `neighbors` shows, and the similarity by which they
  /// are ordered.
  uint64_t top = 10;
  std::string by = "cosine";
};

pdlrt::CommandTable rowTable(RowFlags &flags);
pdlrt::CommandTable neighborsTable(RowFlags &flags);

// Each function returns the exit status.
int showRow(const RowFlags &flags);
int showNeighbors(const RowFlags &flags);

#endif // PDL_TOOLS_PDL_CHECKPOINT_ROWS_H
