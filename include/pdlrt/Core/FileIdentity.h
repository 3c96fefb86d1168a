//===- FileIdentity.h - Identity of a file ----------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_FILEIDENTITY_H
#define PDLRT_CORE_FILEIDENTITY_H

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

namespace pdlrt {

/// Identifies a file or folder of this host, independent of its name.
struct FileIdentity {
  uint64_t device = 0;
  uint64_t number = 0;

  auto operator<=>(const FileIdentity &) const = default;

  /// Returns the identity of the file at `path`, or nullopt if it does not
  /// exist. Follows symbolic links.
  static std::optional<FileIdentity> of(const std::string &path);
  /// Returns the identity of the file that is open as `descriptor`, or nullopt
  /// if `descriptor` is not open.
  static std::optional<FileIdentity> of(int descriptor);
};

} // namespace pdlrt

#endif // PDLRT_CORE_FILEIDENTITY_H
