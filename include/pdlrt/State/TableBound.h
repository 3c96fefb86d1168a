//===- TableBound.h - Memory limit of tables --------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With `--max-table-memory`, a process evicts rows if its tables exceed the
// limit. Each table has a share of the limit, proportional to its size. If the
// tables are too large by some factor, each table loses that fraction of its
// rows, plus a twentieth, so that not every update evicts rows. New rows reuse
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

/// The memory limit and eviction policy of a process.
struct TableBound {
  /// Maximum number of bytes of all tables of the process, keys and rows; 0:
  /// unlimited.
  size_t maxBytes = 0;
  Eviction order = Eviction::LeastRecent;
  /// Folder of evicted rows; empty: they are lost.
  std::string spillFolder;
};

/// Checks that the tables of a program can have this limit. An error says which
/// option to leave out.
Status checkTableBound(const pdl_descriptor &descriptor,
                       const TableBound &bound);

/// Returns the bytes of tables in memory that count for the limit. Null entries
/// are ignored.
size_t bytesInUse(std::span<EmbeddingTable *const> tables);

/// Evicts rows of tables that exceed `bound`; returns their number. Null
/// entries are ignored. Call between updates. Throws std::bad_alloc.
int64_t keepWithin(const TableBound &bound,
                   std::span<EmbeddingTable *const> tables);

} // namespace pdlrt

#endif // PDLRT_STATE_TABLEBOUND_H
