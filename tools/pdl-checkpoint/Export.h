//===- Export.h - Commands for exports --------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_CHECKPOINT_EXPORT_H
#define PDL_TOOLS_PDL_CHECKPOINT_EXPORT_H

#include "pdlrt/Core/Status.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// Flags of `export`.
struct ExportFlags {
  std::string format = "mapped";
  std::string slot;
  /// In MiB, for formats of key-value stores; none: the default.
  std::optional<uint64_t> fileSize, memory;
};

/// Returns the supported formats; the first is the default.
std::vector<std::string> exportFormats();

/// Returns true if a folder is an export of any format. Errors of an object
/// store are returned.
pdlrt::Expected<bool> isAnyExport(const std::string &path);

// Each function returns the exit status.
int exportTo(const std::string &checkpoint, const ExportFlags &flags,
             const std::string &output);
int inspectExport(const std::string &path);
/// Compares an export with a checkpoint, in any order.
int diffExport(const std::string &first, const std::string &second,
               size_t limit);

#endif // PDL_TOOLS_PDL_CHECKPOINT_EXPORT_H
