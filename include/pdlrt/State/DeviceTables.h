//===- DeviceTables.h - The tables of a model on a device -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With `--table-placement device`, the rows of tables are in the memory of the
// device that computes. The host deduplicates the keys of lookups; the device
// finds, inserts, gathers and updates rows. The table on the host has the rows
// that were copied to it last. Rows that were written since then are copied on
// request, for example for a checkpoint.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_STATE_DEVICETABLES_H
#define PDLRT_STATE_DEVICETABLES_H

#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Abi/DeviceLookups.h"
#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Device/DeviceFlags.h"
#include "pdlrt/State/DeviceScalars.h"
#include "pdlrt/Sum/PartialSum.h"
#include "pdlrt/Table/DeviceTable.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace pdlrt {

class Model;

/// The rows of all tables that one of `count` devices has: those of the shards
/// s with s modulo `count` = `index`.
struct TableShare {
  int index = 0, count = 1;

  static int ownerOf(int64_t key, int count) {
    return EmbeddingTable::shardOf(key) % count;
  }
  bool hasShard(int shard) const { return shard % count == index; }
};

/// The tables of a model on one device, or a share of their rows. With a share,
/// calls must only have keys of the share. The model must be completely in this
/// process. An update consists of calls of `apply` and one call of `finish`.
/// Thread-safe.
class DeviceTables final : public DeviceLookups {
public:
  /// Creates the tables. If a table cannot be on a device, returns an error
  /// with its name and a remedy. `device` must have loaded the program's
  /// kernels. It and the model must outlive the tables.
  static Expected<std::unique_ptr<DeviceTables>>
  create(Device &device, const Model &model, TableShare share = {});

  bool holds(int32_t symbol) const override;
  Status pull(int32_t symbol, int64_t count, const int64_t *keys,
              DeviceRows &lookup) override;
  Status find(int32_t symbol, int64_t count, const int64_t *keys,
              DeviceRows &lookup) override;
  Status gather(DeviceRows &lookup, bool frozen, void *out,
                DeviceStream &compute) override;
  /// Copies the values of a lookup's rows to `DeviceRows::valuesOnHost`. They
  /// can be read after `wait`.
  Status gatherToHost(DeviceRows &lookup, bool frozen);
  /// Waits for all work that was added.
  Status wait();

  /// Adds the optimizer rule of a table to the device's work: for the rows of a
  /// step, or for all rows if its group updates all. The gradients are on the
  /// device if there is a single replica, otherwise on the host. `gradient`
  /// must stay valid until `finish`. `scalars` are the scalars of its group,
  /// and `update` is the number of the group's update; both must be the same in
  /// all calls for this group until `finish`.
  Status apply(int32_t symbol, const BlockGradient &gradient,
               const void *scalars, int64_t update);
  /// Waits for the work that was added. Returns a table with a row to which the
  /// rule has written a number that is not finite, or -1 if there is none.
  Expected<int32_t> finish();

  /// Limits the device memory for rows that are copied temporarily for a rule
  /// to `bytes`, or to one row if it is larger. For tests.
  void limitPieces(size_t bytes) { pieceBytes = bytes; }

  /// Marks a quiescent point of the table on the device, like
  /// `EmbeddingTable::quiesce`.
  void quiesce(int32_t symbol, uint16_t time);

  /// Copies rows that were written since the last call to the tables on the
  /// host. Call between steps.
  Status bringToHost();
  /// Waits for the work that was added, and returns the size of a table on the
  /// device.
  Expected<TableSize> sizeOf(int32_t symbol);

private:
  struct Entry {
    EmbeddingTable *onHost = nullptr;
    /// Created at the first use.
    std::unique_ptr<DeviceTable> table;
    /// Memory for an update whose gradients come from the host.
    DeviceRows lookup;
    DeviceBuffer gradients, gradientsOnHost;
  };

  /// Rows for an optimizer rule, with their keys and gradients, in device
  /// memory.
  struct RuleRows {
    int64_t count;
    const int64_t *keys;
    void *const *rows;
    const char *gradients;
  };

  DeviceTables(Device &device, const Model &model, TableShare share);

  Status openTable(int32_t symbol) PDLRT_REQUIRES(mutex);
  Status moveRows(EmbeddingTable &from, DeviceTable &to) PDLRT_REQUIRES(mutex);
  Status sendKeys(int32_t symbol, int64_t count, const int64_t *keys,
                  DeviceRows &lookup) PDLRT_REQUIRES(mutex);
  Status addGather(const DeviceRows &lookup, bool frozen, void *out)
      PDLRT_REQUIRES(mutex);
  Status sendGradients(int32_t symbol, const BlockGradient &gradient)
      PDLRT_REQUIRES(mutex);
  Status reserveScratch(DeviceBuffer &memory, size_t bytes)
      PDLRT_REQUIRES(mutex);
  /// Returns the number of rows, of `count` with `bytesOfRow` bytes each, that
  /// fit into a piece; at least one.
  int64_t rowsOfPiece(int64_t count, size_t bytesOfRow) const;
  Status launchRule(int32_t symbol, const RuleRows &rows, const void *scalars,
                    std::span<const DeviceUse> extraUses) PDLRT_REQUIRES(mutex);
  Status applyWidened(int32_t symbol, const RuleRows &rows, const void *scalars,
                      int64_t update) PDLRT_REQUIRES(mutex);
  Status applyTo(int32_t symbol, const RuleRows &rows, const void *scalars,
                 int64_t update) PDLRT_REQUIRES(mutex);
  Status applyToAll(int32_t symbol, const RuleRows &touched,
                    const void *scalars, int64_t update) PDLRT_REQUIRES(mutex);
  /// Waits for all work that was added.
  Status settle() PDLRT_REQUIRES(mutex);

  Device &device;
  const pdl_descriptor &descriptor;
  const TableShare share;
  Mutex mutex;
  std::unique_ptr<DeviceStream> stream PDLRT_GUARDED_BY(mutex);
  /// 1 + the number of times that the host has waited for the stream.
  uint64_t waits PDLRT_GUARDED_BY(mutex) = 1;
  /// Indexed by symbol.
  std::vector<Entry> entries PDLRT_GUARDED_BY(mutex);
  /// Memory for the rule of a table with 16-bit values: `wideRows` has a piece
  /// of rows as f32, and `widePlaces` the address of each.
  DeviceBuffer wideRows PDLRT_GUARDED_BY(mutex), widePlaces
      PDLRT_GUARDED_BY(mutex);
  /// Memory for a rule that updates all rows. `marks`: the mark of each row
  /// (`DeviceTable::mark`). `keysOfRows`: the key of each row, from which
  /// random bits are drawn. The others: a piece of rows, and their gradients.
  DeviceBuffer marks PDLRT_GUARDED_BY(mutex),
      keysOfRows PDLRT_GUARDED_BY(mutex), spreadRows PDLRT_GUARDED_BY(mutex),
      spreadGradients PDLRT_GUARDED_BY(mutex);
  size_t pieceBytes = size_t(16) << 20;
  DeviceScalars scalars PDLRT_GUARDED_BY(mutex);
  /// Flags by symbol: set if a rule has written a number that is not finite.
  DeviceFlags nonFinite PDLRT_GUARDED_BY(mutex);
  /// True if rules were added since the last `finish`.
  bool isUpdating PDLRT_GUARDED_BY(mutex) = false;
};

} // namespace pdlrt

#endif // PDLRT_STATE_DEVICETABLES_H
