//===- ProgramRecord.h - The record of a compiled program -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_DATA_PROGRAMRECORD_H
#define PDL_TOOLS_PDL_DATA_PROGRAMRECORD_H

#include "Data/RecordText.h"
#include "pdlrt/Core/Status.h"

#include <string>

/// Asks a compiled trainer for its record. `program`: the file of the trainer,
/// or a folder with it. Returns an error if it cannot be started, or is of
/// another version.
pdlrt::Expected<pdlrt::RecordDescription>
recordOfProgram(const std::string &program);

#endif // PDL_TOOLS_PDL_DATA_PROGRAMRECORD_H
