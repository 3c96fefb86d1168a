//===- Lookup.cpp - Calls of stage prepare: unique and pull ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlabi/abi/calls.h"
#include "pdlrt/Abi/Worker.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Core/Trace.h"

#include <algorithm>
#include <cstring>
#include <new>

using namespace pdlrt;

/// Converts exceptions to errors, because none may enter generated code.
template <typename Callable> static int32_t guarded(Callable &&body) {
  try {
    return body().report();
  } catch (const std::bad_alloc &) {
    return pdlrt_set_error(
        PDL_OUT_OF_MEMORY,
        "out of memory while preparing a batch; use smaller batches (a "
        "trainer's --batch-size), or a machine with more memory");
  }
}

void *pdlrt_allocate(void *worker, int64_t bytes) {
  void *result = nullptr;
  (void)guarded([&]() -> Status {
    if (bytes < 0)
      return Status::internal("a stage asked for a negative amount of memory");
    result = Worker::of(worker).allocateForStep(bytes);
    return {};
  });
  return result;
}

int32_t pdlrt_unique(void *worker, int32_t inputCount,
                     const int64_t *const *ids, const int64_t *counts,
                     pdl_lookup *lookup) {
  const pdlrt::TraceSpan span("unique");
  return guarded([&]() -> Status {
    const Worker::Lookup *last = Worker::of(worker).lastLookup();
    Worker::Lookup &scratch = Worker::of(worker).takeLookup();
    if (!last ||
        !scratch.index.assignLike(last->index, inputCount, ids, counts))
      PDLRT_RETURN_IF_ERROR(scratch.index.assign(inputCount, ids, counts));
    const KeyIndex &index = scratch.index;
    lookup->key_count = index.keyCount();
    lookup->keys = index.keys();
    lookup->occurrence_count = index.occurrenceCount();
    lookup->inverse = index.inverse();
    lookup->key_splits = index.splits();
    lookup->occurrences = index.occurrences();
    lookup->rows = nullptr;
    return {};
  });
}

/// Provides rows for keys that a frozen program did not find: each null address
/// in `rows` is set to a row in `memory`, in the storage format of the table.
/// `unknownKind` selects zeros or the initial values of the key. Counts the ids
/// of these keys in `counts`.
static void fillUnknown(const FrozenRows &table, int32_t unknownKind,
                        int64_t missing, const pdl_lookup &lookup, void **rows,
                        AlignedBuffer &memory, PullCounts &counts) {
  const bool zero = unknownKind == PDL_UNKNOWN_ZERO;
  const size_t bytes = table.frozenBytes();
  // A frozen program only reads, so all unknown keys can share one row of
  // zeros.
  auto *next =
      static_cast<char *>(memory.reserve(zero ? bytes : bytes * missing));
  if (zero)
    std::memset(next, 0, bytes);
  for (int64_t u = 0; u < lookup.key_count; ++u) {
    if (rows[u])
      continue;
    rows[u] = next;
    int64_t ids = lookup.key_splits[u + 1] - lookup.key_splits[u];
    if (zero) {
      counts.unknownZero += ids;
      continue;
    }
    counts.unknownInitial += ids;
    table.initialFrozen(lookup.keys[u], next);
    next += bytes;
  }
}

/// Pulls rows from a table on a device. The host reads no rows.
static Status pullOnDevice(DeviceLookups &tables, const Worker &worker,
                           int32_t symbol, const pdl_lookup &lookup,
                           DeviceRows &rows, PullCounts &counts) {
  if (!worker.isFrozen())
    return tables.pull(symbol, lookup.key_count, lookup.keys, rows);
  PDLRT_RETURN_IF_ERROR(
      tables.find(symbol, lookup.key_count, lookup.keys, rows));
  int64_t &unknown = worker.symbolAt(symbol).unknown == PDL_UNKNOWN_ZERO
                         ? counts.unknownZero
                         : counts.unknownInitial;
  void *const *found = static_cast<void *const *>(rows.rowsOnHost.data());
  for (int64_t u = 0; u < lookup.key_count; ++u)
    if (!found[u])
      unknown += lookup.key_splits[u + 1] - lookup.key_splits[u];
  return {};
}

int32_t pdlrt_pull(void *workerPointer, int32_t symbol, pdl_lookup *lookup) {
  const pdlrt::TraceSpan span("pull", {lookup->key_count});
  return guarded([&]() -> Status {
    Worker &worker = Worker::of(workerPointer);
    EmbeddingTable *table = worker.tableOf(symbol);
    const FrozenRows *frozen =
        worker.isFrozen() ? worker.frozenRowsOf(symbol) : nullptr;
    Worker::Lookup *scratch = worker.findLookup(*lookup);
    const bool remote = worker.isRemoteTable(symbol);
    if (!table && !frozen && !remote)
      return Status::internal("a stage pulls from a symbol that is no table");
    if (!scratch)
      return Status::internal("a stage pulls a lookup that was not "
                              "deduplicated in this step");
    void **rows = scratch->rows.reserveFor<void *>(lookup->key_count);
    PullCounts &counts = worker.pullCounts();
    // Servers send the parts that frozen programs read as elements.
    lookup->storage = !worker.isFrozen() ? worker.symbolAt(symbol).storage
                      : remote           ? int32_t(PDL_STORE_ELEMENT)
                                         : frozen->frozenStorage();
    if (!worker.isFrozen())
      scratch->symbol = symbol;
    if (DeviceLookups *tables = worker.deviceTablesOf(symbol)) {
      std::fill_n(rows, lookup->key_count, nullptr);
      PDLRT_RETURN_IF_ERROR(pullOnDevice(*tables, worker, symbol, *lookup,
                                         scratch->onDevice, counts));
    } else if (remote) {
      // The addresses are not known yet: the exchange sets them before
      // `compute` reads them.
      std::fill_n(rows, lookup->key_count, nullptr);
    } else if (frozen) {
      scratch->images.clear();
      if (const int64_t missing =
              frozen->findFrozen(lookup->key_count, lookup->keys, rows,
                                 worker.tableScratch(), scratch->images))
        fillUnknown(*frozen, worker.symbolAt(symbol).unknown, missing, *lookup,
                    rows, scratch->unknownValues, counts);
    } else if (table->options().life.makesRowsInUpdates()) {
      // Until `compute`, another step may insert and evict rows.
      std::fill_n(rows, lookup->key_count, nullptr);
      table->bringIn(lookup->key_count, lookup->keys, worker.tableScratch());
      scratch->table = table;
    } else {
      auto *handles = scratch->handles.reserveFor<RowHandle>(lookup->key_count);
      worker.tableScratch().newRows = &scratch->newRows;
      PDLRT_RETURN_IF_ERROR(table->pull(lookup->key_count, lookup->keys,
                                        handles, worker.tableScratch(),
                                        counts.inserted));
      scratch->table = table;
    }
    counts.ids += lookup->occurrence_count;
    counts.keys += lookup->key_count;
    lookup->rows = rows;
    return {};
  });
}
