//===- TableBound.cpp - The most that tables hold -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/State/TableBound.h"

#include <cmath>

using namespace pdlrt;

int64_t pdlrt::keepWithin(const TableBound &bound,
                          std::span<EmbeddingTable *const> tables) {
  size_t bytes = 0;
  for (const EmbeddingTable *table : tables)
    if (table)
      bytes += table->bytesInUse();
  if (bound.mostBytes == 0 || bytes <= bound.mostBytes)
    return 0;
  constexpr double kept = 0.95;
  const double share = kept * double(bound.mostBytes) / double(bytes);
  int64_t evicted = 0;
  for (EmbeddingTable *table : tables)
    if (table) {
      const int64_t rows = table->size();
      evicted += table->evict(rows - int64_t(std::floor(double(rows) * share)),
                              bound.order);
    }
  return evicted;
}
