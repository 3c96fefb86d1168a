//===- Model.h - The state of a program -------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_STATE_MODEL_H
#define PDLRT_STATE_MODEL_H

#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Core/AlignedBuffer.h"
#include "pdlrt/Core/Mutex.h"
#include "pdlrt/State/ModelMetrics.h"
#include "pdlrt/State/Placement.h"
#include "pdlrt/State/TableBound.h"
#include "pdlrt/Table/EmbeddingTable.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace pdlrt {

class Device;
class DeviceState;
class PreparedRows;

/// Location of a program's state, as seen by one process.
enum class StateLocation {
  Here,
  /// The state is on servers. Parameters in this process are copies, initially
  /// zero, to which responses of servers are written. There are no tables and
  /// no slots.
  Servers,
  /// Parameters and slots are in each trainer, and are equal in all of them.
  /// Tables are on owners, as in `Servers`.
  Trainers
};

/// The state of one compiled program: parameters, tables, slots and step
/// counts. They start with their initial values. The model owns their memory,
/// which never moves.
class Model {
public:
  /// `descriptor` must have passed `checkDescriptor` and must outlive the
  /// model. Throws std::bad_alloc.
  Model(const pdl_descriptor &descriptor, uint64_t seed,
        StateLocation location = StateLocation::Here);

  /// Creates the part of the state that `server` owns. A parameter has the rows
  /// `Placement::rowsOf`, one after the other. A table does not check keys;
  /// only keys that the server owns are requested from it.
  Model(const pdl_descriptor &descriptor, uint64_t seed,
        const Placement &placement, int32_t server);

  ~Model();

  const pdl_descriptor &descriptor() const { return programDescriptor; }
  uint64_t seed() const { return initialSeed; }

  /// Returns the rows of a parameter that this model has, ascending: all rows,
  /// or those that the server owns.
  const std::vector<RowBlock> &rows(int32_t symbol) const {
    return heldRows[symbol];
  }
  /// Returns the number of elements that the rows `rows(symbol)` have in part
  /// `part`: part 0 is the value, and part n is slot n - 1.
  int64_t heldElements(int32_t symbol, int32_t part = 0) const;
  /// Returns true if this model has the rows of a table's shard: of all shards,
  /// or of those that the server owns.
  bool holdsShard(int32_t symbol, int shard) const {
    return heldShards[symbol].empty() || heldShards[symbol][shard];
  }
  /// Returns the elements of the rows of a parameter that this model has,
  /// row-major and without gaps. Returns null for a table.
  void *value(int32_t symbol) const { return values[symbol]; }
  /// Returns the elements of slot `index` of a parameter: of the same rows,
  /// with `partWidth` elements each.
  void *slot(int32_t symbol, int32_t index) const {
    return part(symbol, 1 + index);
  }
  /// Returns the value of a parameter if `part` is 0, otherwise slot `part` -
  /// 1.
  void *part(int32_t symbol, int32_t part) const {
    return states[symbol][part].data();
  }
  /// Returns the table of a symbol, or null for a parameter and for a table on
  /// servers.
  EmbeddingTable *table(int32_t symbol) const { return tablePointers[symbol]; }

  /// Returns the addresses of parameters by symbol, for
  /// `pdl_step_context::parameters`. If `frozen`, these are the parts that
  /// frozen programs read (`pdl_symbol::frozen_part`), otherwise the values.
  void *const *parameters(bool frozen) const {
    return frozen ? frozenValues.data() : values.data();
  }
  EmbeddingTable *const *tables() const { return tablePointers.data(); }
  /// Returns the size of a table, on the device if the table is there. On the
  /// host, counts the rows that a save at this time would contain. Call between
  /// steps, while no save is running. Throws std::bad_alloc.
  Expected<TableSize> tableSize(int32_t symbol) const;
  /// Records the sizes of all tables as metrics of the process. Skips tables
  /// whose size cannot be read from a device. Call between steps, after
  /// `withholdPrepared`. Throws std::bad_alloc.
  void noteTableSizes() const;

  /// `senders` returns the number of senders whose pushes are applied as
  /// separate steps (`pdl_once_arguments::senders`). It is 1 unless
  /// `setSenders` sets another number. Call `setSenders` only before the first
  /// update.
  double senders() const { return senderCount; }
  void setSenders(double count) { senderCount = count; }

  /// `devices` returns the devices on which compute stages run: replica r uses
  /// device r modulo their number. Without devices, stages run on the host. Set
  /// devices before any program runs. They must have loaded the program's
  /// kernels, and must outlive the model.
  const std::vector<Device *> &devices() const { return computeDevices; }
  void computeOn(std::vector<Device *> devices) {
    computeDevices = std::move(devices);
  }
  /// Makes `keepOnDevice` place tables on devices too.
  void placeTablesOnDevice() { placesTables = true; }
  bool placesTablesOnDevice() const { return placesTables; }
  /// Makes parameters stay on the devices, if there are any. The model must
  /// have all parameters, and only one thread at a time may update it. Host
  /// memory of parameters may be outdated afterwards (`bringToHost`). An error
  /// message names a table that cannot be on devices.
  Status keepOnDevice();
  /// Returns the state on devices if parameters stay on devices, otherwise
  /// null.
  DeviceState *deviceState() const { return ownDeviceState.get(); }
  /// Copies parameters, slots and rows that are newer on devices to host
  /// memory. Call between steps, before host memory is read.
  Status bringToHost() const;

  /// Sets the object that lists the rows which were inserted for steps that are
  /// not applied yet; null: there are no such rows. `source` must stay valid
  /// until it is replaced.
  void setPrepared(const PreparedRows *source) { preparedRows = source; }
  const PreparedRows *prepared() const { return preparedRows; }
  /// Excludes the rows of the `prepared` source from saves at this time
  /// (`EmbeddingTable::withhold`). Call between steps, after `bringToHost`.
  /// Throws std::bad_alloc.
  void withholdPrepared() const;

  /// Returns the mutex of step counts. An update must hold it from its first
  /// read of a step count until it has counted its last step.
  Mutex &stepMutex() PDLRT_RETURN_CAPABILITY(ownStepMutex) {
    return ownStepMutex;
  }
  /// Limits the memory of tables: rows are evicted between updates. Call before
  /// the model is used. `bound` must have passed `checkTableBound`. Errors are
  /// those of `RowStore::open`.
  Status boundTables(const TableBound &bound);
  /// Spills the rows of restored shards [first, end) of a table to disk, if
  /// tables exceed their limit and evicted rows are kept on disk. The rows must
  /// not be in use. Thread-safe for different shards. Throws std::bad_alloc.
  void spillRestoredRows(int32_t symbol, int first, int end) const;
  /// Evicts rows if the tables exceed their limit. Call between updates. Throws
  /// std::bad_alloc.
  void keepTablesWithinBound() {
    if (tableBound.maxBytes > 0)
      rowsEvicted += keepWithin(tableBound, tablePointers);
  }
  /// Returns true if evicted rows are kept on disk.
  bool spillsRows() const { return !tableBound.spillFolder.empty(); }
  /// Returns the number of rows evicted so far.
  int64_t evictedRows() const { return rowsEvicted.value(); }
  /// Returns the number of updates applied to a group so far.
  int64_t stepCount(int32_t group) const { return stepCounts[group]; }
  /// Counts one more update of a group. Returns its number, which is 1 for the
  /// first update.
  int64_t countStep(int32_t group) { return ++stepCounts[group]; }
  /// Selects tables for `quiesce`. WithRowsOfUpdates: only tables whose rows
  /// are inserted by updates (`TableLife::makesRowsInUpdates`). A server keeps
  /// no pointers to rows of these tables between two requests.
  enum class QuiescentTables { All, WithRowsOfUpdates };
  /// Marks a quiescent point of tables (`EmbeddingTable::quiesce`). The time of
  /// a table advances every `updatesOfTime` updates of its group. It starts at
  /// 0 when the model is created or restored, so restored rows do not count as
  /// old.
  void quiesce(QuiescentTables which = QuiescentTables::All);
  static constexpr int64_t updatesOfTime = 1024;
  /// Sets the step count of a restored group to `count`. Also sets the current
  /// period of its tables, and restarts their time at 0 (`quiesce`).
  void restoreStepCount(int32_t group, int64_t count);

private:
  Expected<TableSize> noteTableSize(int32_t symbol) const;
  void makeTable(int32_t index);
  void makeParameter(int32_t index);

  const pdl_descriptor &programDescriptor;
  uint64_t initialSeed;
  /// Rows of parameters that this model has, by symbol; empty for tables.
  std::vector<std::vector<RowBlock>> heldRows;
  /// Flags of shards that this model has, by symbol; empty: all.
  std::vector<std::vector<char>> heldShards;
  /// Memory of value and slots, by symbol; empty for tables.
  std::vector<std::vector<AlignedBuffer>> states;
  std::vector<void *> values, frozenValues;
  std::vector<std::unique_ptr<EmbeddingTable>> ownedTables;
  std::vector<EmbeddingTable *> tablePointers;
  std::vector<int64_t> stepCounts, restoredCounts;
  double senderCount = 1;
  std::vector<Device *> computeDevices;
  bool placesTables = false;
  std::unique_ptr<DeviceState> ownDeviceState;
  const PreparedRows *preparedRows = nullptr;
  Mutex ownStepMutex;
  TableBound tableBound;
  Counter rowsEvicted = addEvictedRows();
  /// Metrics of tables, by symbol; nullopt for parameters, and until the first
  /// `noteTableSizes`.
  mutable std::vector<std::optional<TableMetrics>> tableMetrics;
};

} // namespace pdlrt

#endif // PDLRT_STATE_MODEL_H
