//===- Worker.h - State of the `worker` of a stage ---------------*- C++
//-*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The stages of a replica call the functions `pdlrt_*`. Their state is here:
// scratch memory of lookups, memory that lives for a step, and the workspace of
// matrix products. Memory grows to the largest batch and is then reused.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ABI_WORKER_H
#define PDLRT_ABI_WORKER_H

#include "pdlabi/abi/stage.h"
#include "pdlabi/abi/symbols.h"
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

/// Counters of a worker's pulls: of lookups that read rows. Repeated ids count
/// each time, a key counts once per lookup and batch.
struct PullCounts {
  int64_t ids = 0;
  int64_t keys = 0;
  /// Rows inserted in tables on this host.
  int64_t inserted = 0;
  /// Ids whose key a frozen program did not find in the table. `unknownInitial`
  /// counts ids for which it read the initial value, and `unknownZero` ids for
  /// which it read zeros. The table defines which of the two it reads.
  int64_t unknownInitial = 0;
  int64_t unknownZero = 0;

  PullCounts &operator+=(const PullCounts &other);
};

/// Is notified when a gradient of a replica is complete.
class GradientListener {
public:
  virtual ~GradientListener();
  /// Called by the thread that computes the replica, during its stage. Must
  /// return quickly, and must not throw. `update` is the index of an update of
  /// the program.
  virtual void gradientReady(int replica, int32_t update) noexcept = 0;
};

class DeviceStep;

/// Working state of one replica. Not thread-safe.
class Worker {
public:
  Worker();
  ~Worker();
  Worker(const Worker &) = delete;
  Worker &operator=(const Worker &) = delete;

  /// Returns the worker that a stage got as `pdl_step_context::worker`.
  static Worker &of(void *worker) { return *static_cast<Worker *>(worker); }

  /// Sets the tables that pulls read. `tables` has one entry for each symbol of
  /// the descriptor. An entry is null for a parameter and for a table on
  /// servers; for the latter, pulls only allocate the row pointers. If
  /// `frozen`, pulls insert no rows. `symbols` defines the values of unknown
  /// keys. Both arrays must stay valid while pulls use them.
  void bind(const pdl_symbol *symbols, EmbeddingTable *const *tables,
            int32_t symbolCount, bool frozen);

  /// Like `bind`, for programs that only read. `rows` has the rows of each
  /// symbol of the descriptor; null for parameters.
  void bindFrozen(const pdl_symbol *symbols, const FrozenRows *const *rows,
                  int32_t symbolCount);

  /// Sets the storage for the samples of grouped metrics, such as grouped AUC.
  /// `samples` is an array with one entry per metric of the descriptor. It must
  /// stay valid while stages use it.
  void keepGroups(pdlabi::GroupedSamples *samples) { groups = samples; }
  pdlabi::GroupedSamples &groupsOf(int32_t metric) { return groups[metric]; }
  /// Records that some samples were not stored, because memory was exhausted.
  /// The stage returns no error then: its caller checks `lostSamples` after it.
  void noteLostSamples() { hasLostSamples = true; }
  bool lostSamples() const { return hasLostSamples; }

  /// Sets the listener for complete gradients (null: none), and the replica's
  /// number that it gets. The listener must stay valid while stages use it.
  void reportGradients(GradientListener *who, int ofReplica) {
    listener = who;
    replica = ofReplica;
  }
  void gradientReady(int32_t update) {
    if (listener)
      listener->gradientReady(replica, update);
  }

  /// Sets the object that implements the device functions (`pdlrt_*`) that
  /// compute stages call. Null in programs for the CPU. It must stay valid
  /// while stages use it.
  void computeOn(DeviceStep *step) { device = step; }
  DeviceStep &deviceStep() { return *device; }

  /// Sets the tables on devices; null: there are none. They must stay valid
  /// while stages use them.
  void findRowsOn(DeviceLookups *tables) { deviceTables = tables; }
  /// Returns the tables on devices if `symbol` is one of them, otherwise null.
  DeviceLookups *deviceTablesOf(int32_t symbol) const {
    return deviceTables && deviceTables->holds(symbol) ? deviceTables : nullptr;
  }

  /// Frees all memory that the last step's `prepare` allocated.
  void beginStep();

  /// Scratch memory of one deduplicated lookup.
  struct Lookup {
    KeyIndex index;
    AlignedBuffer rows, unknownValues;
    /// In frozen programs: copies of rows of this step that the table does not
    /// hold in memory.
    RowImages images;
    /// Set if a training program pulls from a table in this process: the table,
    /// and the handles of the rows, which `findRows` turns into addresses. If
    /// updates insert the rows of this table, there are no handles, and
    /// `findRows` looks up the keys.
    const EmbeddingTable *table = nullptr;
    AlignedBuffer handles;
    /// Symbol of the table that a training program pulled from, and the rows
    /// that the pull inserted.
    int32_t symbol = -1;
    std::vector<TableRow> newRows;
    /// Used if the table is on a device.
    DeviceRows onDevice;
  };
  /// Returns the next unused lookup of this step.
  Lookup &takeLookup();
  /// Returns the lookup that `takeLookup` returned last in this step, or null
  /// if there is none.
  const Lookup *lastLookup() const {
    return usedLookups > 0 ? lookups[usedLookups - 1].get() : nullptr;
  }
  /// Returns the scratch memory of `lookup`, or null if `lookup` does not
  /// belong to this step.
  Lookup *findLookup(const pdl_lookup &lookup);

  /// Calls visit(symbol, row) for each row that pulls of this step have
  /// inserted. For a table on a device it is not known which rows are new:
  /// visits all pulled keys, with a null row address.
  template <typename Visit> void listNewRows(const Visit &visit) const {
    for (size_t i = 0; i < usedLookups; ++i) {
      const Lookup &lookup = *lookups[i];
      for (const TableRow &row : lookup.newRows)
        visit(lookup.symbol, row);
      if (lookup.symbol >= 0 && deviceTablesOf(lookup.symbol))
        for (int64_t k = 0; k < lookup.index.keyCount(); ++k)
          visit(lookup.symbol, TableRow{lookup.index.keys()[k], nullptr});
    }
  }

  /// Sets `pdl_lookup::rows` for the pulls of this step. Call at the start of
  /// `compute`: an earlier step may end after this batch's `prepare` has run,
  /// and its update may insert or erase rows. Throws std::bad_alloc.
  void findRows();

  /// Allocates memory that lives until the next `beginStep`. Throws
  /// std::bad_alloc.
  void *allocateForStep(int64_t bytes);

  EmbeddingTable *tableOf(int32_t symbol) const {
    return symbol >= 0 && symbol < symbolCount && tables ? tables[symbol]
                                                         : nullptr;
  }
  /// Returns the rows that a frozen program reads, or null if `symbol` is not a
  /// table in this process.
  const FrozenRows *frozenRowsOf(int32_t symbol) const {
    if (symbol < 0 || symbol >= symbolCount)
      return nullptr;
    return frozenRows ? frozenRows[symbol] : tables[symbol];
  }
  /// Returns true if `symbol` is a table whose rows are on servers.
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

  /// Chunks of step memory, and the used size of the last chunk. Chunks do not
  /// move during a step. If a step needed more than one chunk, the next step
  /// starts with one chunk of the total size.
  std::vector<AlignedBuffer> chunks;
  size_t chunkUsed = 0, stepBytes = 0;

  GemmWorkspace gemm;
  TableScratch scratch;
  PullCounts counts;
};

} // namespace pdlrt

#endif // PDLRT_ABI_WORKER_H
