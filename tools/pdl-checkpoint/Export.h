//===- Export.h - Commands on exports ---------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDLCHECKPOINT_EXPORT_H
#define PDL_TOOLS_PDLCHECKPOINT_EXPORT_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// The flags of `export`.
struct ExportFlags {
  std::string format = "mapped";
  std::string slot;
  /// In MiB, of formats that are no memory; none: as by default.
  std::optional<uint64_t> fileSize, memory;
};

/// Those that this program writes, the default one first.
std::vector<std::string> exportFormats();

/// Whether a folder is an export of any format.
bool isAnyExport(const std::string &path);

// Each returns the exit status.
int exportTo(const std::string &checkpoint, const ExportFlags &flags,
             const std::string &output);
int inspectExport(const std::string &path);
/// Of an export and a checkpoint, in any order.
int diffExport(const std::string &first, const std::string &second,
               size_t limit);

#endif // PDL_TOOLS_PDLCHECKPOINT_EXPORT_H
