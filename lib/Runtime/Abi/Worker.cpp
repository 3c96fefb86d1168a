//===- Worker.cpp - State of the `worker` of a stage
//-----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Abi/Worker.h"

#include "pdlrt/Core/Trace.h"
#include "pdlrt/Sched/Scheduler.h"

using namespace pdlrt;

PullCounts &PullCounts::operator+=(const PullCounts &other) {
  ids += other.ids;
  keys += other.keys;
  inserted += other.inserted;
  unknownInitial += other.unknownInitial;
  unknownZero += other.unknownZero;
  return *this;
}

GradientListener::~GradientListener() = default;
DeviceLookups::~DeviceLookups() = default;

Worker::Worker() = default;
Worker::~Worker() = default;

void Worker::bind(const pdl_symbol *newSymbols,
                  EmbeddingTable *const *newTables, int32_t newSymbolCount,
                  bool newFrozen) {
  symbols = newSymbols;
  tables = newTables;
  frozenRows = nullptr;
  symbolCount = newSymbolCount;
  frozen = newFrozen;
}

void Worker::bindFrozen(const pdl_symbol *newSymbols,
                        const FrozenRows *const *newRows,
                        int32_t newSymbolCount) {
  symbols = newSymbols;
  tables = nullptr;
  frozenRows = newRows;
  symbolCount = newSymbolCount;
  frozen = true;
}

void Worker::beginStep() {
  usedLookups = 0;
  if (chunks.size() > 1) {
    chunks.clear();
    chunks.emplace_back();
    chunks.back().reserve(stepBytes);
  }
  chunkUsed = stepBytes = 0;
}

Worker::Lookup &Worker::takeLookup() {
  if (usedLookups == lookups.size())
    lookups.push_back(std::make_unique<Lookup>());
  Lookup &taken = *lookups[usedLookups++];
  taken.table = nullptr;
  taken.symbol = -1;
  taken.newRows.clear();
  taken.onDevice.symbol = -1;
  return taken;
}

Worker::Lookup *Worker::findLookup(const pdl_lookup &lookup) {
  for (size_t i = 0; i < usedLookups; ++i)
    if (lookups[i]->index.keys() == lookup.keys)
      return lookups[i].get();
  return nullptr;
}

/// Finds the rows of keys that have one. For other keys, sets the values to
/// those of unknown keys.
static void findByKey(Worker::Lookup &lookup, TableScratch &scratch) {
  const EmbeddingTable &table = *lookup.table;
  const int64_t count = lookup.index.keyCount();
  const int64_t *keys = lookup.index.keys();
  auto *rows = static_cast<void **>(lookup.rows.data());
  const int64_t missing = table.find(count, keys, rows, scratch);
  if (missing == 0)
    return;
  const size_t bytes = table.valueBytes();
  auto *next =
      static_cast<char *>(lookup.unknownValues.reserve(bytes * missing));
  for (int64_t u = 0; u < count; ++u)
    if (!rows[u]) {
      rows[u] = next;
      next += bytes;
    }
  constexpr double bytesOfKey = 128;
  const char *first = next - bytes * missing, *end = next;
  parallelRanges(count, double(missing) * bytesOfKey,
                 [&](int64_t begin, int64_t endOfPart) {
                   for (int64_t u = begin; u < endOfPart; ++u)
                     if (rows[u] >= first && rows[u] < end)
                       table.initialValue(keys[u], rows[u]);
                 });
}

void Worker::findRows() {
  const TraceSpan span("find rows");
  // Memory read per key: its handle, and the address of its region.
  constexpr double bytesOfKey = 128;
  for (size_t i = 0; i < usedLookups; ++i) {
    Lookup &lookup = *lookups[i];
    if (!lookup.table)
      continue;
    if (lookup.table->options().life.makesRowsInUpdates()) {
      findByKey(lookup, scratch);
      continue;
    }
    const int64_t count = lookup.index.keyCount();
    const auto *handles = static_cast<const RowHandle *>(lookup.handles.data());
    auto *rows = static_cast<void **>(lookup.rows.data());
    parallelRanges(
        count, double(count) * bytesOfKey, [&](int64_t begin, int64_t end) {
          lookup.table->rowsOf(end - begin, handles + begin, rows + begin);
        });
  }
}

void *Worker::allocateForStep(int64_t bytes) {
  size_t size = (size_t(bytes) + PDL_BUFFER_ALIGNMENT - 1) /
                PDL_BUFFER_ALIGNMENT * PDL_BUFFER_ALIGNMENT;
  if (chunks.empty() || chunks.back().capacity() - chunkUsed < size) {
    chunks.emplace_back();
    chunks.back().reserve(size);
    chunkUsed = 0;
  }
  void *result = static_cast<char *>(chunks.back().data()) + chunkUsed;
  chunkUsed += size;
  stepBytes += size;
  return result;
}
