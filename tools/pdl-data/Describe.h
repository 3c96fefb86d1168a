//===- Describe.h - Describes the columns of files --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_DATA_DESCRIBE_H
#define PDL_TOOLS_PDL_DATA_DESCRIBE_H

#include "Input.h"

#include <string>

/// Flags of `describe`.
struct DescribeFlags {
  std::string html; ///< File to write a page to; empty: none.
  int64_t top = 5;  ///< Number of most frequent values to show.
};

/// Reads all rows and prints statistics of each column. Returns the exit
/// status.
int describeFiles(InputFlags input, const DescribeFlags &flags);

#endif // PDL_TOOLS_PDL_DATA_DESCRIBE_H
