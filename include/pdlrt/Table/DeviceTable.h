//===- DeviceTable.h - A table in device memory -----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The device counterpart of EmbeddingTable: keys, rows and headers are in
// device memory, and rows are bitwise equal to those of a host table. The host
// adds work to a stream without waiting for it. pdlabi/device.h declares the
// kernels, and pdlabi/table.h describes the memory layout.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TABLE_DEVICETABLE_H
#define PDLRT_TABLE_DEVICETABLE_H

#include "pdlabi/table.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Device/Device.h"
#include "pdlrt/Table/EmbeddingTable.h"
#include "pdlrt/Table/TableOptions.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

namespace pdlrt {

/// The indices of the table kernels in the code that a device has loaded.
class TableKernels {
public:
  /// Finds the kernels by name. Returns an error with the name of a missing
  /// kernel.
  static Expected<TableKernels> find(std::span<const DeviceKernel> kernels,
                                     int32_t elementType);

  size_t operator[](pdlabi::TableKernel kernel) const {
    return numbers[size_t(kernel)];
  }

private:
  std::array<size_t, std::size(pdlabi::tableKernels)> numbers = {};
};

/// Limits for data in transfer between the host and the device.
struct DeviceTablePieces {
  /// Size of pinned host memory, and of the same amount of device memory.
  int64_t bytes = int64_t(4) << 20;
  /// Number of rows whose keys the host sorts at a time, 16 bytes each, if a
  /// 16th of all rows is less.
  int64_t rowsListed = int64_t(1) << 22;
};

/// A table whose keys and rows are in device memory. Rows never move.
///
/// Calls add work to the given stream; `keys`, `rows` and `out` are device
/// memory. Work of different streams is ordered by events, because a call may
/// read or write the whole table. The keys of a call are distinct, and all 2^64
/// keys are legal. Not thread-safe; the table must not be in use when it is
/// destroyed. After a stream error the table must not be used any more. Any
/// other error leaves it unchanged, except in `restore`.
class DeviceTable {
public:
  /// Creates a table. The device must have loaded the kernels, and must outlive
  /// the table.
  static Expected<std::unique_ptr<DeviceTable>>
  create(Device &device, const TableKernels &kernels, TableOptions options,
         DeviceStream &stream, const DeviceTablePieces &pieces = {});

  const TableOptions &options() const { return tableOptions; }

  /// Sets rows[i] to the row of keys[i]. A new key gets a row with its initial
  /// value. The table grows first; if there is no memory for new rows, returns
  /// an error with PDL_OUT_OF_MEMORY. Usually does not wait, unless the table
  /// grows.
  Status pull(DeviceStream &stream, int64_t count, const int64_t *keys,
              void **rows);

  /// Sets rows[i] to the row of keys[i], or null if there is none.
  Status find(DeviceStream &stream, int64_t count, const int64_t *keys,
              void **rows);

  /// The part of a row to read.
  enum class Part {
    Value, ///< the part that training programs read
    Frozen ///< the part that frozen programs read
  };
  /// Sets out[i * width + e] to element e of rows[i], in the element type. If
  /// rows[i] is null, uses the value that `unknown`, a pdl_unknown_kind,
  /// defines for keys[i].
  Status gather(DeviceStream &stream, int64_t count, const int64_t *keys,
                void *const *rows, Part part, int32_t unknown, void *out);

  // The following functions serve rules that update all rows: the rows of a
  // step's keys are marked, and each row gets the gradient of its mark, or
  // zeros. Rows are identified by number here.

  /// Returns the number of rows; waits if it is not known.
  Expected<int64_t> countRows(DeviceStream &stream);
  /// Sets marks[n] = i + 1 if row n, of `rows`, is the row of keys[i], and 0 if
  /// no key has this row.
  Status mark(DeviceStream &stream, int64_t rows, int64_t count,
              const int64_t *keys, uint32_t *marks);
  /// Writes, for the rows [first, first + count), their addresses, and
  /// consecutively the gradients, of `gradientWidth` elements, that `marks`
  /// refers to.
  Status spread(DeviceStream &stream, int64_t first, int64_t count,
                int64_t gradientWidth, const uint32_t *marks,
                const void *gradients, void **rows, void *out);
  /// Sets keys[n] to the key of row n, for all rows.
  Status listKeys(DeviceStream &stream, int64_t *keys);

  /// Only for tables whose values are stored in 16 bits: copies rows to `wide`
  /// in the format of rules (values before slots, consecutive rows of f32), and
  /// writes their addresses there to `places`.
  Status widen(DeviceStream &stream, int64_t count, void *const *rows,
               float *wide, void **places);
  /// Copies rows back after a rule. Values are rounded stochastically, for
  /// update `update` of the group. Sets *found to 1 if a stored value is not
  /// finite.
  Status round(DeviceStream &stream, int64_t count, int64_t update,
               const int64_t *keys, const float *wide, void *const *rows,
               int32_t *found);

  /// Records in the headers of distinct rows that a step used and updated them.
  Status noteUpdates(DeviceStream &stream, int64_t count, void *const *rows);
  /// Records that all rows were written, whether they were used or not.
  Status noteWrites(DeviceStream &stream);
  /// Records that the current content of all rows has been saved.
  Status noteSaved(DeviceStream &stream);

  /// Sets the time, modulo 2^15, that headers get from now on.
  void quiesce(uint16_t time) { now = time & RowHeader::timeMask; }
  uint16_t time() const { return now; }

  /// Returns the number of rows when the stream was last waited for: by
  /// `settle`, or by the caller, who reports it with `noteWaited`.
  int64_t size() const { return knownRows; }
  Status settle(DeviceStream &stream);
  void noteWaited();

  /// Returns the bytes of device memory for keys and rows together.
  size_t memoryBytes() const;
  /// Returns the memory that a kernel accesses, in addition to its arguments,
  /// if it gets addresses of rows.
  std::vector<DeviceUse> rowMemory(bool isWritten) const;

  //===--------------------------------------------------------------------===//
  // All rows
  //===--------------------------------------------------------------------===//

  enum class Rows {
    All,
    Dirty ///< written since `noteSaved`
  };
  /// Sets counts[s] to the number of rows of each logical shard. Waits.
  Status countShards(DeviceStream &stream, Rows which,
                     std::vector<int64_t> &counts);

  /// Receives rows of one shard, keys ascending as signed integers. The rows
  /// point to host memory that is valid until the function returns.
  using Visit = std::function<Status(int shard, std::span<const TableRow>)>;
  /// Copies the rows of the shards [first, end) to the host, shard by shard,
  /// each in one or several pieces. Host memory is limited by
  /// DeviceTablePieces, or by the keys of one shard. Waits. Throws
  /// std::bad_alloc.
  Status collect(DeviceStream &stream, Rows which, int first, int end,
                 const Visit &visit);

  /// Sets the rows of new or existing keys from consecutive host memory,
  /// rowBytes() of the options each. The rows are not dirty afterwards. Waits.
  /// On an error, some rows may already have been set.
  Status restore(DeviceStream &stream, int64_t count, const int64_t *keys,
                 const void *rows);

private:
  enum class Use { None, Read, Written };
  struct Growth;

  DeviceTable(Device &device, const TableKernels &kernels, TableOptions options,
              const DeviceTablePieces &pieces);

  Status launch(DeviceStream &stream, pdlabi::TableKernel kernel, int64_t turns,
                std::initializer_list<uint64_t> arguments, Use index, Use rows);
  Status insert(DeviceStream &stream, int64_t count, const int64_t *keys,
                void **rows, NewRow content);
  Status reserveScratch(DeviceStream &stream, int64_t count);
  Expected<int64_t> countMissing(DeviceStream &stream, int64_t count,
                                 const int64_t *keys, void **rows);
  bool hasRoom(int64_t rows) const;
  Status makeRoom(DeviceStream &stream, int64_t count, const int64_t *keys,
                  void **rows);
  Status grow(DeviceStream &stream, int64_t rows);
  Status growRows(int64_t rows, Growth &growth);
  Status growIndex(int64_t rows, Growth &growth);
  Status noteAll(DeviceStream &stream, pdlabi::TableEvent event);

  Status list(DeviceStream &stream, Rows which,
              const std::function<void(const TableRow &)> &visit);
  int64_t rowsAtOnce(int64_t count) const;
  Status bring(DeviceStream &stream, std::span<TableRow> rows,
               const Visit &visit);

  Device &device;
  const TableKernels kernels;
  const TableOptions tableOptions;
  const DeviceTablePieces pieces;
  const RowLayout layout;
  const int64_t rowBytes, parts, rowElements;

  /// Description of the table for kernels, on both sides.
  pdl_device_table described;
  DeviceBuffer description, slotValues;
  /// The index.
  DeviceBuffer keys, numbers;
  /// Memory of rows: buffers, their regions, and a list of the regions for
  /// kernels.
  std::vector<DeviceBuffer> slabs;
  std::vector<char *> regions;
  DeviceBuffer regionList;

  /// Two row counters, the current one and the next one; and the copy of the
  /// current one on the host.
  DeviceBuffer counters, counterOnHost;
  int current = 0;
  int64_t knownRows = 0;
  /// Number of keys that were pulled since then, each of which may be new.
  int64_t pendingKeys = 0;
  uint16_t now = 0;

  /// Scratch memory of pulls.
  DeviceBuffer chunkCounts, newNumbers;
};

} // namespace pdlrt

#endif // PDLRT_TABLE_DEVICETABLE_H
