//===- DeviceTables.h - The tables of a model on a device -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With `--table-placement device` the rows of tables are in the memory of the
// device that computes. Lookups are deduplicated on the host; keys are found,
// rows are made, gathered and updated there. The host's table holds what was
// brought to it last: rows that were written since are brought when somebody
// asks for them, such as a checkpoint.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_STATE_DEVICETABLES_H
#define PDLRT_STATE_DEVICETABLES_H

#include "pdlabi/abi.h"
#include "pdlrt/Abi/DeviceLookups.h"
#include "pdlrt/Device/DeviceFlags.h"
#include "pdlrt/State/DeviceScalars.h"
#include "pdlrt/Sum/Contribution.h"
#include "pdlrt/Table/DeviceTable.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace pdlrt {

class Model;

/// Which rows of all tables are on a device: those of each `count`th shard.
struct TableShare {
  int index = 0, count = 1;

  static int ownerOf(int64_t key, int count) {
    return EmbeddingTable::shardOf(key) % count;
  }
  bool hasShard(int shard) const { return shard % count == index; }
};

/// All tables of a model that is all here, on one device, or a share of them:
/// then calls name keys of that share only. An update is calls of `apply` and
/// one of `finish`. Thread-safe.
class DeviceTables final : public DeviceLookups {
public:
  /// An error says which table cannot be on a device, and what to do. `device`
  /// has loaded the program's kernels; it and the model outlive the tables.
  static Expected<std::unique_ptr<DeviceTables>>
  create(Device &device, const Model &model, TableShare share = {});

  bool holds(int32_t symbol) const override;
  Status pull(int32_t symbol, int64_t count, const int64_t *keys,
              DeviceRows &lookup) override;
  Status find(int32_t symbol, int64_t count, const int64_t *keys,
              DeviceRows &lookup) override;
  Status gather(DeviceRows &lookup, bool frozen, void *out,
                DeviceStream &compute) override;
  /// Has the values of a lookup's rows in its `valuesOnHost`, once `wait` has
  /// returned.
  Status gatherToHost(DeviceRows &lookup, bool frozen);
  /// Waits for all that was added.
  Status wait();

  /// Adds the rule of a table to rows of a step, or to all rows if its group
  /// updates all. Their gradients are on the device, as of the only replica, or
  /// on the host. `scalars`, `update`: of its group, and the number of this
  /// update, the same for all calls up to `finish`. The gradient stays until
  /// `finish`.
  Status apply(int32_t symbol, const BlockGradient &gradient,
               const void *scalars, int64_t update);
  /// Waits for what was added. A table of which a row got a number that is not
  /// finite, -1 if none did.
  Expected<int32_t> finish();

  /// How many bytes of the device rows take at the most that are made for a
  /// rule and not kept; one of them at the least. For tests.
  void limitPieces(size_t bytes) { pieceBytes = bytes; }

  /// As EmbeddingTable::quiesce.
  void quiesce(int32_t symbol, uint16_t time);

  /// Writes rows that are newer on the device to the host's tables. Between
  /// steps.
  Status bringToHost();
  /// What a table has on the device. Waits.
  Expected<TableSize> sizeOf(int32_t symbol);

private:
  struct Entry {
    EmbeddingTable *onHost = nullptr;
    /// From the first use on.
    std::unique_ptr<DeviceTable> table;
    /// Of an update whose gradients come from the host.
    DeviceRows lookup;
    DeviceBuffer gradients, gradientsOnHost;
  };

  /// Rows that get a rule, and their keys and gradients, on the device.
  struct RuleRows {
    int64_t count;
    const int64_t *keys;
    void *const *rows;
    const char *gradients;
  };

  DeviceTables(Device &device, const Model &model, TableShare share);

  // All of these with the lock.
  Status openTable(int32_t symbol);
  Status moveRows(EmbeddingTable &from, DeviceTable &to);
  Status sendKeys(int32_t symbol, int64_t count, const int64_t *keys,
                  DeviceRows &lookup);
  Status addGather(const DeviceRows &lookup, bool frozen, void *out);
  Status sendGradients(int32_t symbol, const BlockGradient &gradient);
  Status reserveScratch(DeviceBuffer &memory, size_t bytes);
  /// How many rows of so many bytes are a piece of `count` rows.
  int64_t rowsOfPiece(int64_t count, size_t bytesOfRow) const;
  Status launchRule(int32_t symbol, const RuleRows &rows, const void *scalars,
                    std::span<const DeviceUse> beside);
  Status applyWidened(int32_t symbol, const RuleRows &rows, const void *scalars,
                      int64_t update);
  Status applyTo(int32_t symbol, const RuleRows &rows, const void *scalars,
                 int64_t update);
  Status applyToAll(int32_t symbol, const RuleRows &touched,
                    const void *scalars, int64_t update);
  /// Waits for all that was added.
  Status settle();

  Device &device;
  const pdl_descriptor &descriptor;
  const TableShare share;
  std::mutex mutex;
  std::unique_ptr<DeviceStream> stream;
  /// How often it has been waited for, and one.
  uint64_t waits = 1;
  /// By symbol.
  std::vector<Entry> entries;
  /// Of a rule that takes rows as they are not stored: a piece of these, and
  /// where each of them is.
  DeviceBuffer wideRows, widePlaces;
  /// Of a rule of all rows: of each what its mark and, for random bits, its key
  /// is; and a piece of rows with their gradients.
  DeviceBuffer marks, keysOfRows, spreadRows, spreadGradients;
  size_t pieceBytes = size_t(16) << 20;
  DeviceScalars scalars;
  /// By symbol: whether a rule wrote what is not finite.
  DeviceFlags nonFinite;
  /// Whether rules were added since the last `finish`.
  bool isUpdating = false;
};

} // namespace pdlrt

#endif // PDLRT_STATE_DEVICETABLES_H
