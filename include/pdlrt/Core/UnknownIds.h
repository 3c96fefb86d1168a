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

/// Returns true if so many of the looked-up ids have no row that their keys are
/// probably made differently than in training. Below 100 ids, returns false.
inline bool areTooManyUnknown(int64_t ids, int64_t unknown) {
  constexpr int64_t few = 100;
  return ids >= few && unknown > ids / 2;
}

/// Returns the warning, with what to check.
inline std::string sayUnknown(int64_t ids, int64_t unknown) {
  return fmt::format(
      "{} of {} looked-up ids ({:.0f} %) are unknown to the model; check that "
      "ids are given as in training: texts where the model hashes them, not "
      "numbers of another list",
      unknown, ids, 100.0 * double(unknown) / double(ids));
}

} // namespace pdlrt

#endif // PDLRT_CORE_UNKNOWNIDS_H
