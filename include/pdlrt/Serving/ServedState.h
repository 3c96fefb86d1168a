//===- ServedState.h - The values of a checkpoint for serving ---*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of a model that frozen programs read, without the state of training:
// one part of each parameter and row (`frozen_part` of pdl_symbol).
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

/// A table for serving. It consists of the rows of a full checkpoint, and
/// levels of deltas that replace some of them. Several states can share levels.
class ServedTable final : public FrozenRows {
public:
  ServedTable(TableOptions options, FrozenTable rows)
      : options(std::move(options)), rowCount(rows.size()),
        levels{std::make_shared<const FrozenTable>(std::move(rows))} {}
  /// Adds `changes` as a new level to `below`. Throws std::bad_alloc.
  ServedTable(const ServedTable &below, FrozenTable changes);

  /// Returns true if lookups search so many levels that `joined` is worthwhile.
  bool hasManyLevels() const;
  /// Returns the same table with the newest levels merged into one. The
  /// duration grows with the number of their rows. Requires `hasManyLevels`.
  /// Throws std::bad_alloc.
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
  /// Newest first.
  std::vector<std::shared_ptr<const FrozenTable>> levels;
};

/// The values of one checkpoint or dump. Immutable, so any number of threads
/// may read.
class ServedState {
public:
  /// Loads `path`: a checkpoint, a dump, or a folder of checkpoints, of which
  /// the newest intact one is read. Returns an error if it is of another model,
  /// damaged or incomplete, or of layout 1 (ModelParts.h) without
  /// `acceptOldLayout`. `descriptor` must outlive the state. Throws
  /// std::bad_alloc.
  static Expected<std::shared_ptr<const ServedState>>
  load(const pdl_descriptor &descriptor, const std::string &path,
       bool acceptOldLayout = false);

  /// Like `load`, as a replacement of `before`. If the checkpoint is a delta of
  /// `before`, directly or through other deltas, reads only the changes and
  /// shares the rest.
  static Expected<std::shared_ptr<const ServedState>>
  loadAfter(const pdl_descriptor &descriptor, const std::string &path,
            const ServedState &before, bool acceptOldLayout = false);

  /// Creates a state that holds parameters, but requests rows from `rows` for
  /// each call. Parameters are requested too, or read from `path` as in `load`
  /// if it is not empty. `before`: as in `loadAfter`; null: none. On failure,
  /// `isUnavailable` is true if servers did not respond. Throws std::bad_alloc.
  static Expected<std::shared_ptr<const ServedState>>
  ofServers(const pdl_descriptor &descriptor,
            std::shared_ptr<const RemoteRows> rows, const std::string &path,
            const ServedState *before, bool &isUnavailable,
            bool acceptOldLayout = false);

  /// Returns the source of remote rows, or null if this state holds the tables.
  const std::shared_ptr<const RemoteRows> &remoteRows() const {
    return rowsOnServers;
  }

  /// Return parameters and tables, indexed by symbol, for
  /// `pdl_step_context::parameters` and `Worker::bindFrozen`.
  void *const *parameters() const { return dense->pointers.data(); }
  const FrozenRows *const *tables() const { return tablePointers.data(); }
  /// Returns parameters packed for matrix products.
  PackedFactors &factors() const { return dense->factors; }

  /// Returns the same values with merged levels in tables, or null if lookups
  /// already search few levels. Parameters are shared. Throws std::bad_alloc.
  std::shared_ptr<const ServedState> joined() const;

  /// Returns a description of what could not be checked of values of layout 1;
  /// empty if everything was.
  const std::string &unchecked() const { return uncheckedParts; }
  uint64_t seed() const { return initialSeed; }
  /// Returns the steps of the training, or -1 if a dump does not contain them.
  /// For parameters of servers: the number of applied updates.
  int64_t steps() const { return stepCount; }
  /// Returns the number of rows of all tables.
  int64_t rows() const;
  /// Returns the memory of all parameters, including packed ones, and tables.
  size_t memoryBytes() const;

private:
  friend class StateLoader;
  /// Parameters, which several states can share.
  struct Dense {
    size_t bytes = 0;
    /// Indexed by symbol.
    std::vector<AlignedBuffer> memory;
    std::vector<void *> pointers;
    /// Packed values are copies, not additional state.
    PackedFactors factors;
  };

  explicit ServedState(const pdl_descriptor &descriptor);
  ServedState(const ServedState &) = default;
  void serve(size_t index, std::shared_ptr<const ServedTable> table);

  uint64_t initialSeed = 0;
  int64_t stepCount = -1;
  std::string uncheckedParts;
  /// Link to the checkpoint.
  std::optional<CheckpointLink> link;
  std::shared_ptr<Dense> dense;
  /// Indexed by symbol.
  std::vector<std::shared_ptr<const ServedTable>> ownedTables;
  std::vector<const FrozenRows *> tablePointers;
  std::shared_ptr<const RemoteRows> rowsOnServers;
};

} // namespace pdlrt

#endif // PDLRT_SERVING_SERVEDSTATE_H
