//===- DeviceTables.h - The tables of a model on a device -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With `--table-placement device`, the rows of tables are in the memory of the
// computing device. The host deduplicates lookups; the device finds, inserts,
// gathers and updates rows. The host's table has the rows that were last copied
// to it. Rows that were written since are copied on request, such as for a
// checkpoint.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_STATE_DEVICETABLES_H
#define PDLRT_STATE_DEVICETABLES_H

#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Abi/DeviceLookups.h"
#include "pdlrt/Device/DeviceFlags.h"
#include "pdlrt/State/DeviceScalars.h"
#include "pdlrt/Sum/PartialSum.h"
#include "pdlrt/Table/DeviceTable.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace pdlrt {

class Model;

/// The share of all tables on one device: the rows of every `count`th shard.
struct TableShare {
  int index = 0, count = 1;

  static int ownerOf(int64_t key, int count) {
    return EmbeddingTable::shardOf(key) % count;
  }
  bool hasShard(int shard) const { return shard % count == index; }
};

/// The tables of a model that is completely in this process, on one device, or
/// a share of them; calls then have only keys of that share. An update consists
/// of calls of `apply` and one of `finish`. Thread-safe.
class DeviceTables final : public DeviceLookups {
public:
  /// Creates the tables. An error names the table that cannot be on a device,
  /// and a remedy. `device` must have loaded the program's kernels; it and the
  /// model must outlive the tables.
  static Expected<std::unique_ptr<DeviceTables>>
  create(Device &device, const Model &model, TableShare share = {});

  bool holds(int32_t symbol) const override;
  Status pull(int32_t symbol, int64_t count, const int64_t *keys,
              DeviceRows &lookup) override;
  Status find(int32_t symbol, int64_t count, const int64_t *keys,
              DeviceRows &lookup) override;
  Status gather(DeviceRows &lookup, bool frozen, void *out,
                DeviceStream &compute) override;
  /// Copies the values of a lookup's rows to its `valuesOnHost`, where they are
  /// available after `wait`.
  Status gatherToHost(DeviceRows &lookup, bool frozen);
  /// Waits for all work that was added.
  Status wait();

  /// Adds the rule of a table for the rows of a step, or for all rows if its
  /// group updates all. Their gradients are on the device if there is a single
  /// replica, otherwise on the host. `scalars`, `update`: those of its group,
  /// and the number of this update, the same in all calls until `finish`. The
  /// gradient must stay valid until `finish`.
  Status apply(int32_t symbol, const BlockGradient &gradient,
               const void *scalars, int64_t update);
  /// Waits for the work that was added. Returns a table with a row that got a
  /// number that is not finite, -1 if there is none.
  Expected<int32_t> finish();

  /// Limits the device memory of rows that are copied temporarily for a rule,
  /// to `bytes` or one row. For tests.
  void limitPieces(size_t bytes) { pieceBytes = bytes; }

  /// Marks a quiescent point of the device's table, like
  /// EmbeddingTable::quiesce.
  void quiesce(int32_t symbol, uint16_t time);

  /// Copies rows that are newer on the device to the host's tables. Call
  /// between steps.
  Status bringToHost();
  /// Returns the size of a table on the device. Waits.
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

  /// Rows for a rule, with their keys and gradients, on the device.
  struct RuleRows {
    int64_t count;
    const int64_t *keys;
    void *const *rows;
    const char *gradients;
  };

  DeviceTables(Device &device, const Model &model, TableShare share);

  // Call all of these with the mutex locked.
  Status openTable(int32_t symbol);
  Status moveRows(EmbeddingTable &from, DeviceTable &to);
  Status sendKeys(int32_t symbol, int64_t count, const int64_t *keys,
                  DeviceRows &lookup);
  Status addGather(const DeviceRows &lookup, bool frozen, void *out);
  Status sendGradients(int32_t symbol, const BlockGradient &gradient);
  Status reserveScratch(DeviceBuffer &memory, size_t bytes);
  /// Returns the number of rows in a piece of `count` rows of `bytesOfRow`
  /// bytes.
  int64_t rowsOfPiece(int64_t count, size_t bytesOfRow) const;
  Status launchRule(int32_t symbol, const RuleRows &rows, const void *scalars,
                    std::span<const DeviceUse> extraUses);
  Status applyWidened(int32_t symbol, const RuleRows &rows, const void *scalars,
                      int64_t update);
  Status applyTo(int32_t symbol, const RuleRows &rows, const void *scalars,
                 int64_t update);
  Status applyToAll(int32_t symbol, const RuleRows &touched,
                    const void *scalars, int64_t update);
  /// Waits for all work that was added.
  Status settle();

  Device &device;
  const pdl_descriptor &descriptor;
  const TableShare share;
  std::mutex mutex;
  std::unique_ptr<DeviceStream> stream;
  /// Number of waits for the stream, plus one.
  uint64_t waits = 1;
  /// Indexed by symbol.
  std::vector<Entry> entries;
  /// Memory for a rule on rows with another storage format: a piece of widened
  /// rows, and the address of each.
  DeviceBuffer wideRows, widePlaces;
  /// Memory for a rule of all rows: the mark of each row and, for random bits,
  /// its key; and a piece of rows with their gradients.
  DeviceBuffer marks, keysOfRows, spreadRows, spreadGradients;
  size_t pieceBytes = size_t(16) << 20;
  DeviceScalars scalars;
  /// Indexed by symbol: set if a rule wrote a number that is not finite.
  DeviceFlags nonFinite;
  /// True if rules were added since the last `finish`.
  bool isUpdating = false;
};

} // namespace pdlrt

#endif // PDLRT_STATE_DEVICETABLES_H
