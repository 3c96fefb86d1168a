//===- PreparedRows.h - Rows of steps not yet applied -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_STATE_PREPAREDROWS_H
#define PDLRT_STATE_PREPAREDROWS_H

#include "pdlrt/Table/EmbeddingTable.h"

#include <cstdint>
#include <functional>

namespace pdlrt {

/// Provides the rows that were inserted for steps that have not been applied
/// yet. Saves exclude them (`Model::withholdPrepared`), and for readers of a
/// server they do not exist.
class PreparedRows {
public:
  virtual ~PreparedRows() = default;

  using Visit = std::function<void(int32_t symbol, const TableRow &row)>;
  /// Calls `visit` for each of these rows, in any order. The row is null if it
  /// is not in host memory; the key may then also have an older row. Call only
  /// between steps.
  virtual void listPrepared(const Visit &visit) const = 0;
};

} // namespace pdlrt

#endif // PDLRT_STATE_PREPAREDROWS_H
