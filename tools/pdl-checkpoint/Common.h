//===- Common.h - What commands share ---------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDLCHECKPOINT_COMMON_H
#define PDL_TOOLS_PDLCHECKPOINT_COMMON_H

#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Checkpoint/State.h"

#include <cstdint>
#include <string>

/// A line of the standard output.
void print(const std::string &line);

/// The checkpoint that a path stands for; newer ones that are not whole are
/// warned of, and `isNewest`, unless it is null, says whether there are none.
pdlrt::Expected<pdlrt::Checkpoint> openNamed(const std::string &path,
                                             bool *isNewest = nullptr);

/// An error, for status 2, where there is something of that name.
pdlrt::Status checkNewFolder(const std::string &path);
/// Makes the folder in which one of that name is to be, where there is none.
pdlrt::Status makeFolderOf(const std::string &path);

/// Such as "1.5 MiB".
std::string sizeText(uint64_t bytes);

/// Prints what `diff` has found between two that are called so.
void printDifferences(const pdlrt::StateDifferences &found,
                      const std::string &first, const std::string &second);

#endif // PDL_TOOLS_PDLCHECKPOINT_COMMON_H
