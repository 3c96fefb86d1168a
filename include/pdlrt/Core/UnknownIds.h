//===- UnknownIds.h - Warning about unknown ids -----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_UNKNOWNIDS_H
#define PDLRT_CORE_UNKNOWNIDS_H

#include <cstdint>
#include <fmt/format.h>
#include <string>

namespace pdlrt {

/// Returns true if more than half of the looked-up ids have no row. Their keys
/// are then probably made in another way than in training. Returns false for
/// fewer than 100 ids.
inline bool areTooManyUnknown(int64_t ids, int64_t unknown) {
  constexpr int64_t few = 100;
  return ids >= few && unknown > ids / 2;
}

/// Returns a warning with these counts and the remedy.
inline std::string sayUnknown(int64_t ids, int64_t unknown) {
  return fmt::format(
      "{} of {} looked-up ids ({:.0f} %) are unknown to the model; check that "
      "ids are given as in training: texts where the model hashes them, not "
      "numbers of another list",
      unknown, ids, 100.0 * double(unknown) / double(ids));
}

} // namespace pdlrt

#endif // PDLRT_CORE_UNKNOWNIDS_H
