//===- Common.h - Functions shared by the commands --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_CHECKPOINT_COMMON_H
#define PDL_TOOLS_PDL_CHECKPOINT_COMMON_H

#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Checkpoint/State.h"

#include <cstdint>
#include <string>

/// Prints a line to standard output.
void print(const std::string &line);

/// Opens the checkpoint to which a path refers. Logs a warning about newer
/// checkpoints that are damaged. If `isNewest` is not null, sets it to true if
/// there are no such checkpoints.
pdlrt::Expected<pdlrt::Checkpoint> openNamed(const std::string &path,
                                             bool *isNewest = nullptr);

/// Returns an error, for exit status 2, if the path exists.
pdlrt::Status checkNewFolder(const std::string &path);
/// Creates the parent folder of the path if it does not exist.
pdlrt::Status makeFolderOf(const std::string &path);

/// Returns a text such as "1.5 MiB".
std::string sizeText(uint64_t bytes);

/// Reports that `diff` could not compare. Returns the exit status: that of an
/// error which may disappear later, otherwise 2. Status 1 would mean that there
/// are differences.
int failDiff(const pdlrt::Status &failure);

/// Prints the differences that `diff` has found. `first` and `second`: the
/// names of the compared items.
void printDifferences(const pdlrt::StateDifferences &found,
                      const std::string &first, const std::string &second);

#endif // PDL_TOOLS_PDL_CHECKPOINT_COMMON_H
