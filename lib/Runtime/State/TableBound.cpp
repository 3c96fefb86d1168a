//===- TableBound.cpp - Memory limit of tables ----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/State/TableBound.h"

#include "pdlrt/Core/Log.h"

#include <algorithm>
#include <cmath>

using namespace pdlrt;

Status pdlrt::checkTableBound(const pdl_descriptor &descriptor,
                              const TableBound &bound) {
  constexpr size_t fewBytes = size_t(1) << 20;
  if (bound.maxBytes != 0 && bound.maxBytes < fewBytes)
    logWarningOnce("--max-table-memory is " + std::to_string(bound.maxBytes) +
                   " bytes, in which few or no rows have room after a step; is "
                   "a unit missing, such as in 4GiB?");
  if (bound.spillFolder.empty())
    return {};
  if (bound.maxBytes == 0)
    return Status::invalidArgument("--table-spill keeps the rows for which "
                                   "--max-table-memory has no room; give both");
  for (int32_t s = 0; s < descriptor.symbol_count; ++s) {
    const pdl_symbol &symbol = descriptor.symbols[s];
    if (symbol.kind == PDL_SYMBOL_TABLE && symbol.group >= 0 &&
        descriptor.groups[symbol.group].untouched == PDL_UNTOUCHED_DENSE)
      return Status::invalidArgument(
          "--table-spill is not for table @" + std::string(symbol.name) +
          ", whose group @" + descriptor.groups[symbol.group].name +
          " updates all rows in each step: untouched(lazy) in the model "
          "updates those that a step uses");
  }
  return {};
}

size_t pdlrt::bytesInUse(std::span<EmbeddingTable *const> tables) {
  size_t bytes = 0;
  for (const EmbeddingTable *table : tables)
    if (table)
      bytes += table->bytesInUse();
  return bytes;
}

int64_t pdlrt::keepWithin(const TableBound &bound,
                          std::span<EmbeddingTable *const> tables) {
  const size_t bytes = bytesInUse(tables);
  if (bound.maxBytes == 0 || bytes <= bound.maxBytes)
    return 0;
  constexpr double kept = 0.95;
  // Number of bytes that would be freed if all rows were evicted. The rest of
  // the tables' memory does not shrink.
  double leaving = 0;
  for (const EmbeddingTable *table : tables)
    if (table)
      leaving +=
          double(table->heldRows()) * (double(table->bytesOfHeldRow()) -
                                       double(table->bytesOfEvictedRow()));
  const double room = kept * double(bound.maxBytes) - (double(bytes) - leaving);
  const double share = leaving > 0 ? std::clamp(room / leaving, 0.0, 1.0) : 1.0;
  int64_t evicted = 0;
  for (EmbeddingTable *table : tables)
    if (table) {
      const int64_t rows = table->heldRows();
      evicted += table->evict(rows - int64_t(std::floor(double(rows) * share)),
                              bound.order);
    }
  return evicted;
}
