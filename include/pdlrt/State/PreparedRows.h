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

/// Lists the rows that were inserted for steps which have not been applied yet.
/// Saves exclude these rows (`Model::withholdPrepared`), and readers of a
/// server (ReadCodec.h) do not get them.
class PreparedRows {
public:
  virtual ~PreparedRows() = default;

  using Visit = std::function<void(int32_t symbol, const TableRow &row)>;
  /// Calls `visit` for each such row, in any order. If the row is not in host
  /// memory, its address is null; then the key may also have had a row before.
  /// Call only between steps.
  virtual void listPrepared(const Visit &visit) const = 0;
};

} // namespace pdlrt

#endif // PDLRT_STATE_PREPAREDROWS_H
