//===- TableBound.h - The most that tables hold -----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With `--max-table-memory` a process evicts rows where its tables would hold
// more. Each table has a share of the bound, by what it would like to have: as
// all of them are too large by one factor, all lose that part of their rows,
// and a twentieth more, so that not each update evicts some. What rows took is
// used again by new ones. With `--table-spill` evicted rows are kept in a
// folder (Table/RowStore.h), and come back when they are asked for.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_STATE_TABLEBOUND_H
#define PDLRT_STATE_TABLEBOUND_H

#include "pdlabi/abi.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Table/EmbeddingTable.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace pdlrt {

/// Which rows a process keeps.
struct TableBound {
  /// Bytes of all tables of the process, keys and rows; 0: no bound.
  size_t mostBytes = 0;
  Eviction order = Eviction::LeastRecent;
  /// Where evicted rows are kept; empty: they are gone.
  std::string spillFolder;
};

/// Whether the tables of a program can be bounded so; an error says what to
/// leave out.
Status checkTableBound(const pdl_descriptor &descriptor,
                       const TableBound &bound);

/// Bytes of tables (null: there is none) in memory, as a bound counts them.
size_t bytesInUse(std::span<EmbeddingTable *const> tables);

/// Evicts rows of tables (null: there is none) that hold more than `bound`
/// says; returns how many. Between updates. Throws std::bad_alloc.
int64_t keepWithin(const TableBound &bound,
                   std::span<EmbeddingTable *const> tables);

} // namespace pdlrt

#endif // PDLRT_STATE_TABLEBOUND_H
