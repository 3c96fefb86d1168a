//===- Worker.h - What a stage's opaque `worker` points to ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The state behind the `pdlrt_*` calls of one replica: scratch memory of its
// lookups, memory that lives for a step, and the workspace of its matrix
// products. Memory grows to the largest batch seen and then stays.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ABI_WORKER_H
#define PDLRT_ABI_WORKER_H

#include "pdlabi/abi.h"
#include "pdlabi/metrics/GroupedAreaUnderCurve.h"
#include "pdlrt/Abi/DeviceLookups.h"
#include "pdlrt/Core/AlignedBuffer.h"
#include "pdlrt/Gemm/GemmWorkspace.h"
#include "pdlrt/Table/EmbeddingTable.h"
#include "pdlrt/Table/KeyIndex.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace pdlrt {

/// What a worker's pulls met since it was made. Ids are counted as often as
/// they occur, keys once a batch.
struct PullCounts {
  int64_t ids = 0;
  int64_t keys = 0;
  /// Rows that were created here, of tables of the host.
  int64_t inserted = 0;
  /// Ids whose key a frozen program did not find: it saw the initial value, or
  /// zeros where the table says so.
  int64_t unknownInitial = 0;
  int64_t unknownZero = 0;

  PullCounts &operator+=(const PullCounts &other);
};

/// Who is told that a gradient of a replica is all written.
class GradientListener {
public:
  virtual ~GradientListener();
  /// By the thread that computes the replica, within its stage: takes moments,
  /// and throws nothing. `update`: of the program.
  virtual void gradientReady(int replica, int32_t update) noexcept = 0;
};

class DeviceStep;

/// One replica's private state. Not thread-safe: one thread at a time.
class Worker {
public:
  Worker();
  ~Worker();
  Worker(const Worker &) = delete;
  Worker &operator=(const Worker &) = delete;

  /// The worker that a stage got as `pdl_step_context::worker`.
  static Worker &of(void *worker) { return *static_cast<Worker *>(worker); }

  /// Says where pulls go: one table for each symbol of the descriptor, null
  /// for parameters, and for tables on servers: their pulls only make room for
  /// pointers to rows. Both live longer than their use. `frozen`: nothing is
  /// inserted. `symbols` says what an unknown key gives.
  void bind(const pdl_symbol *symbols, EmbeddingTable *const *tables,
            int32_t symbolCount, bool frozen);

  /// Says where the pulls of programs that only read go: what they read of each
  /// symbol of the descriptor, null for parameters.
  void bindFrozen(const pdl_symbol *symbols, const FrozenRows *const *rows,
                  int32_t symbolCount);

  /// Says where the samples of metrics of groups are kept, by metric of the
  /// descriptor. They live longer than their use.
  void keepGroups(pdlabi::GroupedSamples *samples) { groups = samples; }
  pdlabi::GroupedSamples &groupsOf(int32_t metric) { return groups[metric]; }
  /// Notes that there was no memory for some of them, for who asks after the
  /// stage, which cannot fail.
  void noteLostSamples() { hasLostSamples = true; }
  bool lostSamples() const { return hasLostSamples; }

  /// Who is told of gradients from now on, and of which replica; null: nobody.
  /// It lives longer than its use.
  void tellOfGradients(GradientListener *who, int ofReplica) {
    listener = who;
    replica = ofReplica;
  }
  void gradientReady(int32_t update) {
    if (listener)
      listener->gradientReady(replica, update);
  }

  /// What stages compute are done with; in programs for a device. It lives
  /// longer than its use.
  void computeOn(DeviceStep *step) { device = step; }
  DeviceStep &deviceStep() { return *device; }

  /// Where the rows of tables are that a device has; null: there are none. They
  /// live longer than their use.
  void findRowsOn(DeviceLookups *tables) { deviceTables = tables; }
  /// Null unless a device has that table.
  DeviceLookups *deviceTablesOf(int32_t symbol) const {
    return deviceTables && deviceTables->holds(symbol) ? deviceTables : nullptr;
  }

  /// Takes back all that the last step's `prepare` was given.
  void beginStep();

  /// Scratch memory of one deduplicated lookup.
  struct Lookup {
    KeyIndex index;
    AlignedBuffer rows, unknownValues;
    /// Of frozen programs: rows of this step that are not in memory.
    RowImages images;
    /// Where a training program pulled from a table of this process: the
    /// handles of rows that `findRows` will look for. Where updates make the
    /// rows, it looks for the keys.
    const EmbeddingTable *table = nullptr;
    AlignedBuffer handles;
    /// What a training program pulled from, and the rows that were made then.
    int32_t symbol = -1;
    std::vector<TableRow> newRows;
    /// Where a device has the table.
    DeviceRows onDevice;
  };
  /// The next unused scratch of this step.
  Lookup &takeLookup();
  /// The one that was taken last in this step, null if none was.
  const Lookup *lastLookup() const {
    return usedLookups > 0 ? lookups[usedLookups - 1].get() : nullptr;
  }
  /// The scratch that filled `lookup`, null if none of this step did.
  Lookup *findLookup(const pdl_lookup &lookup);

  /// Calls visit(symbol, row) for each row that pulls of this step have made;
  /// of a table on a device, with null for each key that was pulled.
  template <typename Visit> void listNewRows(Visit visit) const {
    for (size_t i = 0; i < usedLookups; ++i) {
      const Lookup &lookup = *lookups[i];
      for (const TableRow &row : lookup.newRows)
        visit(lookup.symbol, row);
      if (lookup.symbol >= 0 && deviceTablesOf(lookup.symbol))
        for (int64_t k = 0; k < lookup.index.keyCount(); ++k)
          visit(lookup.symbol, TableRow{lookup.index.keys()[k], nullptr});
    }
  }

  /// Finds the rows of what was pulled in this step: `pdl_lookup::rows`.
  /// Between a batch's `prepare` and its `compute`, another step may end.
  /// Throws std::bad_alloc.
  void findRows();

  /// Memory that lives until the next `beginStep`; throws std::bad_alloc.
  void *allocateForStep(int64_t bytes);

  EmbeddingTable *tableOf(int32_t symbol) const {
    return symbol >= 0 && symbol < symbolCount && tables ? tables[symbol]
                                                         : nullptr;
  }
  /// What a frozen program reads; null for what is no table here.
  const FrozenRows *frozenRowsOf(int32_t symbol) const {
    if (symbol < 0 || symbol >= symbolCount)
      return nullptr;
    return frozenRows ? frozenRows[symbol] : tables[symbol];
  }
  /// Whether `symbol` is a table whose rows are on servers.
  bool isRemoteTable(int32_t symbol) const {
    return symbol >= 0 && symbol < symbolCount && tables && !tables[symbol] &&
           symbols[symbol].kind == PDL_SYMBOL_TABLE;
  }
  const pdl_symbol &symbolAt(int32_t symbol) const { return symbols[symbol]; }
  bool isFrozen() const { return frozen; }

  GemmWorkspace &gemmWorkspace() { return gemm; }
  TableScratch &tableScratch() { return scratch; }
  PullCounts &pullCounts() { return counts; }

private:
  const pdl_symbol *symbols = nullptr;
  EmbeddingTable *const *tables = nullptr;
  const FrozenRows *const *frozenRows = nullptr;
  int32_t symbolCount = 0;
  bool frozen = true;
  pdlabi::GroupedSamples *groups = nullptr;
  bool hasLostSamples = false;
  GradientListener *listener = nullptr;
  DeviceStep *device = nullptr;
  DeviceLookups *deviceTables = nullptr;
  int replica = 0;

  std::vector<std::unique_ptr<Lookup>> lookups;
  size_t usedLookups = 0;

  /// Step memory: chunks that never move while the step lasts. When a step
  /// needed more than one, the next starts with one of their summed size.
  std::vector<AlignedBuffer> chunks;
  size_t chunkUsed = 0, stepBytes = 0;

  GemmWorkspace gemm;
  TableScratch scratch;
  PullCounts counts;
};

} // namespace pdlrt

#endif // PDLRT_ABI_WORKER_H
