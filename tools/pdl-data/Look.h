//===- Look.h - Shows rows and counts them ----------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_DATA_LOOK_H
#define PDL_TOOLS_PDL_DATA_LOOK_H

#include "Input.h"

/// Prints the first rows with the names of their columns. Returns the exit
/// status.
int showHead(InputFlags input);

/// Prints the number of rows of each file. Returns the exit status.
int countRows(InputFlags input);

#endif // PDL_TOOLS_PDL_DATA_LOOK_H
