//===- Check.h - Checks files against a record ------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_DATA_CHECK_H
#define PDL_TOOLS_PDL_DATA_CHECK_H

#include "Input.h"

#include <string>

/// Flags of `check`.
struct CheckFlags {
  std::string trainer; ///< Compiled program, or its folder.
  /// Program of the model that reads the data; empty: all fields are read.
  std::string program;
  int64_t shown = 10; ///< Number of bad rows to show.
};

/// Reads all rows as a compiled program would read them, and prints the first
/// bad rows. Returns the exit status: 1 if a row is bad.
int checkFiles(InputFlags input, const CheckFlags &flags);

#endif // PDL_TOOLS_PDL_DATA_CHECK_H
