//===- RowDefect.h - Checks a program's requirements on a row ---*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_ROWDEFECT_H
#define LIB_RUNTIME_DATA_ROWDEFECT_H

#include "Data/RecordColumns.h"
#include "pdlabi/abi/descriptor.h"

#include <functional>
#include <optional>
#include <string>

namespace pdlrt {

/// A row that the program cannot use: fields of one nn.same_bags that do not
/// align, or an id that nn.sample never draws.
struct RowDefect {
  size_t field; ///< Index of the field in the program's order.
  int64_t slot;
  std::string text; ///< Message: the problem, and what to do.
};

/// Returns a digest of the positions at which missing values of a bag were
/// omitted; 0: none.
using LeftOut = std::function<uint64_t(size_t field, int64_t slot)>;

/// Checks the requirements of `program` on the record that is being appended to
/// `records`, before its commit. If `leftOut` is null, no values were omitted.
std::optional<RowDefect> findRowDefect(const pdl_program &program,
                                       const RecordColumns &records,
                                       const LeftOut &leftOut);

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_ROWDEFECT_H
