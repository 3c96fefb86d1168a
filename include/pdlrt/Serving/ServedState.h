//===- ServedState.h - The values of a checkpoint for serving ---*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The state of a model that frozen programs read. It has, for each parameter
// and row, only the value or the slot that `pdl_symbol::frozen_part` selects.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_SERVING_SERVEDSTATE_H
#define PDLRT_SERVING_SERVEDSTATE_H

#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Checkpoint/Manifest.h"
#include "pdlrt/Core/AlignedBuffer.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Gemm/PackedFactors.h"
#include "pdlrt/Serving/RemoteRows.h"
#include "pdlrt/Table/FrozenRows.h"
#include "pdlrt/Table/FrozenTable.h"
#include "pdlrt/Table/TableOptions.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pdlrt {

/// A table for serving. It consists of levels: the rows of a full checkpoint,
/// and the changes of deltas, which replace rows of lower levels. Several
/// states can share levels.
class ServedTable final : public FrozenRows {
public:
  ServedTable(TableOptions options, FrozenTable rows)
      : options(std::move(options)), rowCount(rows.size()),
        levels{std::make_shared<const FrozenTable>(std::move(rows))} {}
  /// Creates a table with the levels of `below` and `changes` as a new level
  /// above them. Throws std::bad_alloc.
  ServedTable(const ServedTable &below, FrozenTable changes);

  /// Returns true if the table has so many levels that lookups are faster after
  /// `joined`.
  bool hasManyLevels() const;
  /// Returns a table with the same rows and fewer levels: merges the newest
  /// levels into one. Takes time in proportion to the number of rows in these
  /// levels. Call only if `hasManyLevels`. Throws std::bad_alloc.
  std::shared_ptr<const ServedTable> joined() const;

  int64_t findFrozen(int64_t count, const int64_t *keys, void **found,
                     TableScratch &scratch, RowImages &images) const override;
  int32_t frozenStorage() const override { return options.frozenStorage(); }
  size_t frozenBytes() const override { return options.frozenBytes(); }
  void initialFrozen(int64_t key, void *value) const override {
    options.initialFrozen(key, value);
  }

  int64_t size() const { return rowCount; }
  size_t memoryBytes() const;

private:
  TableOptions options;
  int64_t rowCount = 0;
  /// The levels, the newest one first.
  std::vector<std::shared_ptr<const FrozenTable>> levels;
};

/// The values of one checkpoint, dump or export. Immutable, so any number of
/// threads may read it.
class ServedState {
public:
  /// Loads the checkpoint, dump or export `path`. If `path` is a folder of
  /// checkpoints, loads the newest intact one. Returns an error if the data is
  /// of another model, damaged or incomplete. Also returns an error if it has
  /// layout 1 (ModelParts.h) and `acceptOldLayout` is false. `descriptor` must
  /// outlive the state. Throws std::bad_alloc.
  static Expected<std::shared_ptr<const ServedState>>
  load(const pdl_descriptor &descriptor, const std::string &path,
       bool acceptOldLayout = false);

  /// Like `load`, for a state that replaces `before`. If the checkpoint is a
  /// delta of the checkpoint of `before`, directly or through other deltas,
  /// reads only the changes and shares unchanged rows with `before`.
  static Expected<std::shared_ptr<const ServedState>>
  loadAfter(const pdl_descriptor &descriptor, const std::string &path,
            const ServedState &before, bool acceptOldLayout = false);

  /// Creates a state that holds parameters, and requests rows from `rows` for
  /// each call. If `path` is not empty, loads the parameters from `path` as in
  /// `load`, otherwise requests them from `rows`. `before` is as in
  /// `loadAfter`; null: none. If an error is returned because servers did not
  /// respond, sets `isUnavailable` to true. Throws std::bad_alloc.
  static Expected<std::shared_ptr<const ServedState>>
  ofServers(const pdl_descriptor &descriptor,
            std::shared_ptr<const RemoteRows> rows, const std::string &path,
            const ServedState *before, bool &isUnavailable,
            bool acceptOldLayout = false);

  /// Returns the source of rows on servers, or null if this state holds the
  /// tables.
  const std::shared_ptr<const RemoteRows> &remoteRows() const {
    return rowsOnServers;
  }

  /// `parameters` returns the parameters by symbol, for
  /// `pdl_step_context::parameters`. `tables` returns the tables by symbol, for
  /// `Worker::bindFrozen`.
  void *const *parameters() const { return dense->pointers.data(); }
  const FrozenRows *const *tables() const { return tablePointers.data(); }
  /// Returns the packed copies of those parameters that are factors of matrix
  /// products (PackedFactors.h). A copy is made at its first use.
  PackedFactors &factors() const { return dense->factors; }

  /// Returns a state with the same values in which tables have fewer levels
  /// (`ServedTable::joined`). Returns null if no table has many levels. The
  /// result shares the parameters. Throws std::bad_alloc.
  std::shared_ptr<const ServedState> joined() const;

  /// Returns a description of the parts that could not be checked because the
  /// data has layout 1; empty if all were checked.
  const std::string &unchecked() const { return uncheckedParts; }
  uint64_t seed() const { return initialSeed; }
  /// Returns the number of steps of the training, or -1 if the state is of a
  /// dump, which does not contain it. If parameters were requested from
  /// servers, returns the number of updates that were applied to them.
  int64_t steps() const { return stepCount; }
  /// Returns the number of rows of all tables.
  int64_t rows() const;
  /// Returns the size in bytes of all parameters, including packed factors, and
  /// of all tables; for tables on servers, of the cache.
  size_t memoryBytes() const;

private:
  friend class StateLoader;
  /// The parameters. Several states can share them.
  struct Dense {
    size_t bytes = 0;
    /// Values by symbol, and their addresses.
    std::vector<AlignedBuffer> memory;
    std::vector<void *> pointers;
    /// Packed copies of parameters in `memory`. `factors()` is const although
    /// it can add copies, because they are no additional state.
    PackedFactors factors;
  };

  explicit ServedState(const pdl_descriptor &descriptor);
  ServedState(const ServedState &) = default;
  void serve(size_t index, std::shared_ptr<const ServedTable> table);

  uint64_t initialSeed = 0;
  int64_t stepCount = -1;
  std::string uncheckedParts;
  /// Link to the checkpoint that was loaded; nullopt if it was not a
  /// checkpoint.
  std::optional<CheckpointLink> link;
  std::shared_ptr<Dense> dense;
  /// Tables by symbol; null for parameters.
  std::vector<std::shared_ptr<const ServedTable>> ownedTables;
  std::vector<const FrozenRows *> tablePointers;
  std::shared_ptr<const RemoteRows> rowsOnServers;
};

} // namespace pdlrt

#endif // PDLRT_SERVING_SERVEDSTATE_H
