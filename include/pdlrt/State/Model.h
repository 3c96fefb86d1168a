//===- Model.h - The state of a program -------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_STATE_MODEL_H
#define PDLRT_STATE_MODEL_H

#include "pdlabi/abi.h"
#include "pdlrt/Core/AlignedBuffer.h"
#include "pdlrt/State/Placement.h"
#include "pdlrt/State/TableBound.h"
#include "pdlrt/Table/EmbeddingTable.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace pdlrt {

class Device;
class DeviceState;
class PreparedRows;

/// Where the state of a program is.
enum class StateLocation {
  Here,
  /// Parameters are mirrors, zeros to begin with, that answers of servers are
  /// written to; there are no tables and no slots.
  Servers,
  /// Parameters and slots are here, and those of all trainers are the same;
  /// tables are as of `Servers`.
  Trainers
};

/// Parameters, tables, slots and step counts of one compiled program, with
/// their initial values to begin with. What it hands out is owned by it and
/// never moves.
class Model {
public:
  /// `descriptor` has passed `checkDescriptor` and outlives the model. Throws
  /// std::bad_alloc.
  Model(const pdl_descriptor &descriptor, uint64_t seed,
        StateLocation location = StateLocation::Here);

  /// What `server` owns: of parameters the rows of `Placement::rowsOf`, one run
  /// after the other; of tables any row, of which it is asked for its own.
  Model(const pdl_descriptor &descriptor, uint64_t seed,
        const Placement &placement, int32_t server);

  ~Model();

  const pdl_descriptor &descriptor() const { return programDescriptor; }
  uint64_t seed() const { return initialSeed; }

  /// Which rows of a parameter are here, ascending: all, or a server's own.
  const std::vector<RowBlock> &rows(int32_t symbol) const {
    return heldRows[symbol];
  }
  /// The number of elements that they have in the value (part 0) or in slot
  /// `part` - 1.
  int64_t heldElements(int32_t symbol, int32_t part = 0) const;
  /// Whether a table's logical shard is here: all are, or a server's own.
  bool holdsShard(int32_t symbol, int shard) const {
    return heldShards[symbol].empty() || heldShards[symbol][shard];
  }
  /// A parameter's elements that are here, row-major, without gaps; null for a
  /// table.
  void *value(int32_t symbol) const { return values[symbol]; }
  /// A parameter's slot: of the same rows, `partWidth` elements each.
  void *slot(int32_t symbol, int32_t index) const {
    return part(symbol, 1 + index);
  }
  /// A parameter's value (part 0) or slot `part` - 1.
  void *part(int32_t symbol, int32_t part) const {
    return states[symbol][part].data();
  }
  /// Null for a parameter, and for a table on servers.
  EmbeddingTable *table(int32_t symbol) const { return tablePointers[symbol]; }

  /// By symbol, as `pdl_step_context::parameters` and `Worker::bind` want them:
  /// the values, or what frozen programs read (`pdl_symbol::frozen_part`).
  void *const *parameters(bool frozen) const {
    return frozen ? frozenValues.data() : values.data();
  }
  EmbeddingTable *const *tables() const { return tablePointers.data(); }
  /// Returns how much a table has, on the device if it is there. On the host
  /// the rows are those that a save of this moment would hold. Call between
  /// steps, while nobody saves. Throws std::bad_alloc.
  Expected<TableSize> tableSize(int32_t symbol) const;

  /// How many senders update the state, each by steps of its own
  /// (`pdl_once_arguments::pushers`); 1 until it is set, before any update.
  double pushers() const { return pusherCount; }
  void setPushers(double count) { pusherCount = count; }

  /// What stages compute run on, which have loaded the program's kernels, one
  /// replica after the other: replica r on device r modulo their number. None:
  /// on the host. Set before any program runs; they outlive the model.
  const std::vector<Device *> &devices() const { return computeDevices; }
  void computeOn(std::vector<Device *> devices) {
    computeDevices = std::move(devices);
  }
  /// Has tables on the device too, once they stay there.
  void placeTablesOnDevice() { placesTables = true; }
  bool placesTablesOnDevice() const { return placesTables; }
  /// Lets parameters stay on the device, if there is one: of a model that has
  /// all of them, and that one thread at a time updates. The host's memory of
  /// them may be old from then on. An error says which table cannot.
  Status keepOnDevice();
  /// Null unless they stay there.
  DeviceState *deviceState() const { return ownDeviceState.get(); }
  /// Before somebody reads parameters and slots on the host: writes them there.
  /// Between steps.
  Status bringToHost() const;

  /// Says who knows which rows were made for steps that are not applied yet;
  /// null: there are none. `source` lives until it is replaced.
  void setPrepared(const PreparedRows *source) { preparedRows = source; }
  const PreparedRows *prepared() const { return preparedRows; }
  /// Leaves these rows out of what is saved now (`EmbeddingTable::withhold`).
  /// Call between steps, after `bringToHost`. Throws std::bad_alloc.
  void withholdPrepared() const;

  /// Whoever counts steps holds it, from the first look at a count to the last
  /// step that is counted.
  std::mutex &stepMutex() { return ownStepMutex; }
  /// Bounds what tables hold: between updates rows are evicted. Before any use.
  /// The bound has passed `checkTableBound`. Errors are those of
  /// `RowStore::open`.
  Status boundTables(const TableBound &bound);
  /// Behind shards of a table that were restored, whose rows nobody has: where
  /// tables hold more than the bound and evicted rows are kept, these go there.
  /// Thread-safe for distinct shards. Throws std::bad_alloc.
  void putAsideRestored(int32_t symbol, int first, int end) const;
  /// Evicts rows where that is due. Between updates. Throws std::bad_alloc.
  void keepTablesWithinBound() {
    if (tableBound.mostBytes > 0)
      rowsEvicted += keepWithin(tableBound, tablePointers);
  }
  /// Whether evicted rows are kept.
  bool spillsRows() const { return !tableBound.spillFolder.empty(); }
  /// How many rows were evicted so far.
  int64_t evictedRows() const { return rowsEvicted; }
  /// Updates applied to a group so far.
  int64_t stepCount(int32_t group) const { return stepCounts[group]; }
  /// Counts one more; returns its number, 1 for the first.
  int64_t countStep(int32_t group) { return ++stepCounts[group]; }
  /// Those whose rows updates alone make (`TableLife::makesRowsInUpdates`) have
  /// no rows that somebody holds from one request to a server to the next.
  enum class QuiescentTables { All, WithRowsOfUpdates };
  /// A quiescent point of tables (`EmbeddingTable::quiesce`). Their time is
  /// that of their group: one more every `updatesOfTime` updates since it was
  /// restored, so that rows that were restored with it are not old.
  void quiesce(QuiescentTables which = QuiescentTables::All);
  static constexpr int64_t updatesOfTime = 1024;
  /// Goes on from `count` updates.
  void restoreStepCount(int32_t group, int64_t count);

private:
  void makeTable(int32_t index);
  void makeParameter(int32_t index);

  const pdl_descriptor &programDescriptor;
  uint64_t initialSeed;
  /// By symbol; empty for tables.
  std::vector<std::vector<RowBlock>> heldRows;
  /// By symbol; empty: all.
  std::vector<std::vector<char>> heldShards;
  /// By symbol: the value and its slots; empty for tables.
  std::vector<std::vector<AlignedBuffer>> states;
  std::vector<void *> values, frozenValues;
  std::vector<std::unique_ptr<EmbeddingTable>> ownedTables;
  std::vector<EmbeddingTable *> tablePointers;
  std::vector<int64_t> stepCounts, restoredCounts;
  double pusherCount = 1;
  std::vector<Device *> computeDevices;
  bool placesTables = false;
  std::unique_ptr<DeviceState> ownDeviceState;
  const PreparedRows *preparedRows = nullptr;
  std::mutex ownStepMutex;
  TableBound tableBound;
  int64_t rowsEvicted = 0;
};

} // namespace pdlrt

#endif // PDLRT_STATE_MODEL_H
