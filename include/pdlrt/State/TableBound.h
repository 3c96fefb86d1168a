//===- TableBound.h - Memory limit of tables --------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With `--max-table-memory`, a process evicts rows if its tables exceed the
// limit. Each table loses the same fraction of its rows, so that the tables use
// 95 % of the limit afterwards. So not every update evicts rows. New rows reuse
// the memory. With `--table-spill`, evicted rows are kept in a folder
// (Table/RowStore.h), and are read back when they are needed.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_STATE_TABLEBOUND_H
#define PDLRT_STATE_TABLEBOUND_H

#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Table/EmbeddingTable.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace pdlrt {

/// The memory limit of a process's tables, and the order of evictions.
struct TableBound {
  /// Maximum size of all tables of the process, with keys and rows, in bytes;
  /// 0: no limit.
  size_t maxBytes = 0;
  Eviction order = Eviction::LeastRecent;
  /// Folder in which evicted rows are kept; empty: they are lost.
  std::string spillFolder;
};

/// Returns an error if the tables of a program cannot have this limit. The
/// message names the flag to change.
Status checkTableBound(const pdl_descriptor &descriptor,
                       const TableBound &bound);

/// Returns the size of tables in memory, in bytes, as the limit counts it.
/// Ignores null entries.
size_t bytesInUse(std::span<EmbeddingTable *const> tables);

/// Evicts rows if the tables together exceed `bound`. Returns the number of
/// evicted rows. Ignores null entries. Call between updates. Throws
/// std::bad_alloc.
int64_t keepWithin(const TableBound &bound,
                   std::span<EmbeddingTable *const> tables);

} // namespace pdlrt

#endif // PDLRT_STATE_TABLEBOUND_H
