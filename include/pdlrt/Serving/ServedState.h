//===- ServedState.h - The values of a checkpoint, to be read ---*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What frozen programs read of a model, and nothing that trains: of parameters
// and rows the one part that they read (`frozen_part` of pdl_symbol).
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_SERVING_SERVEDSTATE_H
#define PDLRT_SERVING_SERVEDSTATE_H

#include "pdlabi/abi.h"
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

/// A table that serves: the rows of a whole checkpoint, and above them those of
/// deltas, which other states may share.
class ServedTable final : public FrozenRows {
public:
  ServedTable(TableOptions options, FrozenTable rows)
      : options(std::move(options)), rowCount(rows.size()),
        levels{std::make_shared<const FrozenTable>(std::move(rows))} {}
  /// `below` with the rows of `changes` above. Throws std::bad_alloc.
  ServedTable(const ServedTable &below, FrozenTable changes);

  /// Whether lookups look into so many changes that joining some is worth it.
  bool hasManyLevels() const;
  /// The same table with one level of the newest changes. Takes the longer the
  /// more rows these have. Of a table with many levels. Throws std::bad_alloc.
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
  /// The newest first.
  std::vector<std::shared_ptr<const FrozenTable>> levels;
};

/// The values of one checkpoint or dump. Nobody changes them: any number of
/// threads may read.
class ServedState {
public:
  /// Reads `path`: a checkpoint, a folder of checkpoints, of which the newest
  /// that is whole is taken, or a dump. An error where it is of another model,
  /// damaged, or lacks something; where it is of layout 1 (ModelParts.h), too,
  /// unless `acceptOldLayout`. `descriptor` outlives the state. Throws
  /// std::bad_alloc.
  static Expected<std::shared_ptr<const ServedState>>
  load(const pdl_descriptor &descriptor, const std::string &path,
       bool acceptOldLayout = false);

  /// The same as `load`, in the place of `before`. Where that is what the
  /// checkpoint changes, itself or through other deltas, only what has changed
  /// is read, and the rest shared.
  static Expected<std::shared_ptr<const ServedState>>
  loadAfter(const pdl_descriptor &descriptor, const std::string &path,
            const ServedState &before, bool acceptOldLayout = false);

  /// Holds parameters, and no rows, for which `rows` are asked call by call.
  /// Parameters are asked for too, or read from what `load` reads, `path`,
  /// unless that is empty; `before`: as in `loadAfter`, null: none. Where it
  /// fails, `isUnavailable` says whether it is for want of a server. Throws
  /// std::bad_alloc.
  static Expected<std::shared_ptr<const ServedState>>
  ofServers(const pdl_descriptor &descriptor,
            std::shared_ptr<const RemoteRows> rows, const std::string &path,
            const ServedState *before, bool &isUnavailable,
            bool acceptOldLayout = false);

  /// Where rows are asked for; null: tables are here.
  const std::shared_ptr<const RemoteRows> &remoteRows() const {
    return rowsOnServers;
  }

  /// By symbol, as `pdl_step_context::parameters` and `Worker::bindFrozen` want
  /// them.
  void *const *parameters() const { return dense->pointers.data(); }
  const FrozenRows *const *tables() const { return tablePointers.data(); }
  /// Parameters as products read them, for whoever multiplies by them.
  PackedFactors &factors() const { return dense->factors; }

  /// The same values, in tables whose lookups look into fewer changes; null
  /// where they look into few. Parameters are shared. Throws std::bad_alloc.
  std::shared_ptr<const ServedState> joined() const;

  /// What could not be checked of values of layout 1; empty if all was.
  const std::string &unchecked() const { return uncheckedParts; }
  uint64_t seed() const { return initialSeed; }
  /// Of the training; -1 where a dump does not say it. Of parameters of
  /// servers: updates that were applied.
  int64_t steps() const { return stepCount; }
  /// Of all tables.
  int64_t rows() const;
  /// Of all parameters, also as products read them, and tables.
  size_t memoryBytes() const;

private:
  friend class StateLoader;
  /// Parameters and states.
  struct Dense {
    size_t bytes = 0;
    /// By symbol.
    std::vector<AlignedBuffer> memory;
    std::vector<void *> pointers;
    /// What is packed of the values is no other value.
    PackedFactors factors;
  };

  explicit ServedState(const pdl_descriptor &descriptor);
  ServedState(const ServedState &) = default;
  void serve(size_t index, std::shared_ptr<const ServedTable> table);

  uint64_t initialSeed = 0;
  int64_t stepCount = -1;
  std::string uncheckedParts;
  /// Of the checkpoint.
  std::optional<CheckpointLink> link;
  std::shared_ptr<Dense> dense;
  /// By symbol.
  std::vector<std::shared_ptr<const ServedTable>> ownedTables;
  std::vector<const FrozenRows *> tablePointers;
  std::shared_ptr<const RemoteRows> rowsOnServers;
};

} // namespace pdlrt

#endif // PDLRT_SERVING_SERVEDSTATE_H
