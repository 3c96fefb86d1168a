//===- JoinedBags.h - Fields whose bags are equally long --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_JOINEDBAGS_H
#define LIB_RUNTIME_DATA_JOINEDBAGS_H

#include "Data/RecordColumns.h"
#include "pdlabi/abi.h"

#include <functional>
#include <optional>
#include <string>

namespace pdlrt {

/// Two bags of one record that a program joins, and that do not fit.
struct UnequalBags {
  size_t field; ///< by the program's order
  int64_t slot;
  std::string text; ///< what is wrong, and what to do
};

/// Returns a digest of the positions at which missing values of a bag were left
/// out; 0: none was.
using LeftOut = std::function<uint64_t(size_t field, int64_t slot)>;

/// Compares the bags of the record that is being appended to `records`, before
/// its commit. `leftOut` may be null: then nothing was left out.
std::optional<UnequalBags> findUnequalBags(const pdl_program &program,
                                           const RecordColumns &records,
                                           const LeftOut &leftOut);

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_JOINEDBAGS_H
