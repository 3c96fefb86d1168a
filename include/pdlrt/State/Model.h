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
#include "pdlrt/State/ModelMetrics.h"
#include "pdlrt/State/Placement.h"
#include "pdlrt/State/TableBound.h"
#include "pdlrt/Table/EmbeddingTable.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace pdlrt {

class Device;
class DeviceState;
class PreparedRows;

/// Location of the state of a program.
enum class StateLocation {
  Here,
  /// Parameters are mirrors, initially zero, to which responses of servers are
  /// written. There are no tables and no slots.
  Servers,
  /// Parameters and slots are in this process, equal on all trainers. Tables
  /// are as in `Servers`.
  Trainers
};

/// Parameters, tables, slots and step counts of one compiled program, with
/// their initial values at first. The model owns the memory of its state, which
/// never moves.
class Model {
public:
  /// `descriptor` must have passed `checkDescriptor` and must outlive the
  /// model. Throws std::bad_alloc.
  Model(const pdl_descriptor &descriptor, uint64_t seed,
        StateLocation location = StateLocation::Here);

  /// Creates the part of the state that `server` owns. Of parameters, these are
  /// the rows of `Placement::rowsOf`, consecutively. Tables can have any row;
  /// only the server's own rows are requested.
  Model(const pdl_descriptor &descriptor, uint64_t seed,
        const Placement &placement, int32_t server);

  ~Model();

  const pdl_descriptor &descriptor() const { return programDescriptor; }
  uint64_t seed() const { return initialSeed; }

  /// Returns the rows of a parameter in this model, ascending: all rows, or a
  /// server's own.
  const std::vector<RowBlock> &rows(int32_t symbol) const {
    return heldRows[symbol];
  }
  /// Returns the number of elements of these rows in the value (part 0) or in
  /// slot `part` - 1.
  int64_t heldElements(int32_t symbol, int32_t part = 0) const;
  /// Returns true if a table's logical shard is in this model: all are, or a
  /// server's own.
  bool holdsShard(int32_t symbol, int shard) const {
    return heldShards[symbol].empty() || heldShards[symbol][shard];
  }
  /// Returns the elements of a parameter in this model, row-major, without
  /// gaps; null for a table.
  void *value(int32_t symbol) const { return values[symbol]; }
  /// Returns a parameter's slot: the same rows, with `partWidth` elements each.
  void *slot(int32_t symbol, int32_t index) const {
    return part(symbol, 1 + index);
  }
  /// Returns a parameter's value (part 0) or slot `part` - 1.
  void *part(int32_t symbol, int32_t part) const {
    return states[symbol][part].data();
  }
  /// Returns the table of a symbol; null for a parameter, and for a table on
  /// servers.
  EmbeddingTable *table(int32_t symbol) const { return tablePointers[symbol]; }

  /// Returns an array indexed by symbol, for `pdl_step_context::parameters`:
  /// the values, or the parts that frozen programs read
  /// (`pdl_symbol::frozen_part`).
  void *const *parameters(bool frozen) const {
    return frozen ? frozenValues.data() : values.data();
  }
  EmbeddingTable *const *tables() const { return tablePointers.data(); }
  /// Returns the size of a table, on the device if it is there. On the host,
  /// the rows are those that a save at this time would contain. Call between
  /// steps, while no save is running. Throws std::bad_alloc.
  Expected<TableSize> tableSize(int32_t symbol) const;
  /// Records the sizes of all tables as metrics of the process, except those
  /// that a device cannot read. Call between steps, after `withholdPrepared`.
  /// Throws std::bad_alloc.
  void noteTableSizes() const;

  /// Returns the number of senders whose pushes update the state as separate
  /// steps (`pdl_once_arguments::senders`). 1 until it is set, which must be
  /// before any update.
  double senders() const { return senderCount; }
  void setSenders(double count) { senderCount = count; }

  /// Devices of compute stages, which must have loaded the program's kernels:
  /// replica r is on device r modulo their number. Without devices, stages
  /// compute on the host. Set before any program runs; devices must outlive the
  /// model.
  const std::vector<Device *> &devices() const { return computeDevices; }
  void computeOn(std::vector<Device *> devices) {
    computeDevices = std::move(devices);
  }
  /// Places tables on the device too, when `keepOnDevice` is called.
  void placeTablesOnDevice() { placesTables = true; }
  bool placesTablesOnDevice() const { return placesTables; }
  /// Keeps parameters on the device, if there is one. The model must have all
  /// parameters, and only one thread at a time may update it. Host memory of
  /// parameters may then be out of date. An error names a table that cannot be
  /// on the device.
  Status keepOnDevice();
  /// Returns null unless parameters stay on the device.
  DeviceState *deviceState() const { return ownDeviceState.get(); }
  /// Copies parameters and slots to host memory. Call between steps, before
  /// they are read there.
  Status bringToHost() const;

  /// Sets the source that knows which rows were inserted for steps that are not
  /// applied yet; null: there are none. `source` must stay valid until it is
  /// replaced.
  void setPrepared(const PreparedRows *source) { preparedRows = source; }
  const PreparedRows *prepared() const { return preparedRows; }
  /// Excludes these rows from saves at this time (`EmbeddingTable::withhold`).
  /// Call between steps, after `bringToHost`. Throws std::bad_alloc.
  void withholdPrepared() const;

  /// Returns the mutex of step counts. Lock it from the first read of a step
  /// count until the last step is counted.
  std::mutex &stepMutex() { return ownStepMutex; }
  /// Limits the memory of tables: rows are evicted between updates. Call before
  /// any use, with a bound that has passed `checkTableBound`. Errors are those
  /// of `RowStore::open`.
  Status boundTables(const TableBound &bound);
  /// Spills restored shards of a table to disk if the tables exceed the bound
  /// and evicted rows are kept. The rows must not be in use. Thread-safe for
  /// distinct shards. Throws std::bad_alloc.
  void spillRestoredRows(int32_t symbol, int first, int end) const;
  /// Evicts rows if the tables exceed their bound. Call between updates. Throws
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
  /// Counts one more update. Returns its number, 1 for the first.
  int64_t countStep(int32_t group) { return ++stepCounts[group]; }
  /// Tables whose rows only updates insert (`TableLife::makesRowsInUpdates`)
  /// have no row pointers that are kept between two requests to a server.
  enum class QuiescentTables { All, WithRowsOfUpdates };
  /// Marks a quiescent point of tables (`EmbeddingTable::quiesce`). The time of
  /// a table is that of its group: it advances every `updatesOfTime` updates
  /// since the group was restored, so rows that were restored with it are not
  /// old.
  void quiesce(QuiescentTables which = QuiescentTables::All);
  static constexpr int64_t updatesOfTime = 1024;
  /// Continues from `count` updates.
  void restoreStepCount(int32_t group, int64_t count);

private:
  Expected<TableSize> noteTableSize(int32_t symbol) const;
  void makeTable(int32_t index);
  void makeParameter(int32_t index);

  const pdl_descriptor &programDescriptor;
  uint64_t initialSeed;
  /// Indexed by symbol; empty for tables.
  std::vector<std::vector<RowBlock>> heldRows;
  /// Indexed by symbol; empty: all.
  std::vector<std::vector<char>> heldShards;
  /// Indexed by symbol: the value and its slots; empty for tables.
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
  std::mutex ownStepMutex;
  TableBound tableBound;
  Counter rowsEvicted = addEvictedRows();
  /// Indexed by symbol; empty for parameters, and until the first size.
  mutable std::vector<std::optional<TableMetrics>> tableMetrics;
};

} // namespace pdlrt

#endif // PDLRT_STATE_MODEL_H
