//===- PreparedRows.h - Rows of steps that are not applied yet --*- C++ -*-===//
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

/// Knows which rows were made for steps that have not been applied yet, so that
/// saves leave them out (`Model::withholdPrepared`) and readers of a server
/// find no row.
class PreparedRows {
public:
  virtual ~PreparedRows() = default;

  using Visit = std::function<void(int32_t symbol, const TableRow &row)>;
  /// Calls `visit` for each of these rows, in any order. A row without memory
  /// on the host is null; then the key may have had its row before. Call only
  /// between steps.
  virtual void listPrepared(const Visit &visit) const = 0;
};

} // namespace pdlrt

#endif // PDLRT_STATE_PREPAREDROWS_H
