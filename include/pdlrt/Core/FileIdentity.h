//===- FileIdentity.h - Which file a name stands for ------------*- C++ -*-===//
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

/// A file or folder of this host, whatever it is called.
struct FileIdentity {
  uint64_t device = 0;
  uint64_t number = 0;

  auto operator<=>(const FileIdentity &) const = default;

  /// What `path` stands for now; none where nothing is there. Links are
  /// followed.
  static std::optional<FileIdentity> of(const std::string &path);
  /// What is open as `descriptor`; none where that is not open.
  static std::optional<FileIdentity> of(int descriptor);
};

} // namespace pdlrt

#endif // PDLRT_CORE_FILEIDENTITY_H
