//===- DeviceTable.h - A table in the memory of a device --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an EmbeddingTable is for the host, for kernels: keys, rows and headers
// are in the memory of a device, rows have the same bits as there, and the host
// adds work to a stream without waiting for it. Kernels are those of
// pdlabi/device.h; what memory looks like is said in pdlabi/table.h.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TABLE_DEVICETABLE_H
#define PDLRT_TABLE_DEVICETABLE_H

#include "pdlabi/abi.h"
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

/// The numbers of the kernels that tables need in the code that a device has
/// loaded.
class TableKernels {
public:
  /// Looks them up by their names. An error names one that is missing.
  static Expected<TableKernels> find(std::span<const DeviceKernel> kernels,
                                     int32_t elementType);

  size_t operator[](pdlabi::TableKernel kernel) const {
    return numbers[size_t(kernel)];
  }

private:
  std::array<size_t, std::size(pdlabi::tableKernels)> numbers = {};
};

/// How much is on its way between the host and the device at once.
struct DeviceTablePieces {
  /// Of pinned memory, and as much of the device.
  int64_t bytes = int64_t(4) << 20;
  /// Rows whose keys the host holds when it brings them in order, 16 bytes
  /// each, where a 16th of all rows is less.
  int64_t rowsListed = int64_t(1) << 22;
};

/// A table whose keys and rows are in the memory of a device. Rows never move.
///
/// Calls add work to the stream that they are given; `keys`, `rows` and `out`
/// are memory of the device. Those of different streams wait for each other
/// through events, as a call may read or write all of the table. Keys of a call
/// are distinct, and all 2^64 are legal. One thread at a time; nobody uses the
/// table when it ends. Behind an error of a stream it is of no use any more;
/// all others leave it as it was, but for `restore`.
class DeviceTable {
public:
  /// The device, which has loaded the kernels, outlives the table.
  static Expected<std::unique_ptr<DeviceTable>>
  create(Device &device, const TableKernels &kernels, TableOptions options,
         DeviceStream &stream, const DeviceTablePieces &pieces = {});

  const TableOptions &options() const { return tableOptions; }

  /// rows[i] = the row of keys[i], created with its initial value if it is new.
  /// The table is grown before; an error with PDL_OUT_OF_MEMORY says that there
  /// is no room for what is new. Mostly waits for nothing, unless the table
  /// grows.
  Status pull(DeviceStream &stream, int64_t count, const int64_t *keys,
              void **rows);

  /// rows[i] = the row of keys[i], or null if there is none.
  Status find(DeviceStream &stream, int64_t count, const int64_t *keys,
              void **rows);

  /// What a row is read for.
  enum class Part {
    Value, ///< what training programs read
    Frozen ///< what frozen programs read
  };
  /// out[i * width + e] = element e of rows[i], as an element; where that is
  /// null, what `unknown`, a pdl_unknown_kind, promises for keys[i].
  Status gather(DeviceStream &stream, int64_t count, const int64_t *keys,
                void *const *rows, Part part, int32_t unknown, void *out);

  // A rule of all rows: those of keys of a step are marked, and rows get the
  // gradients that their marks name, or zeros. Rows are named by number here.

  /// How many rows there are; waits if that is not known.
  Expected<int64_t> countRows(DeviceStream &stream);
  /// marks[n] = i + 1 where row n, of `rows`, is that of keys[i], and 0 where
  /// there is none.
  Status mark(DeviceStream &stream, int64_t rows, int64_t count,
              const int64_t *keys, uint32_t *marks);
  /// Of the rows [first, first + count): their addresses, and one behind the
  /// other the gradients, of `gradientWidth` elements, that `marks` names.
  Status spread(DeviceStream &stream, int64_t first, int64_t count,
                int64_t gradientWidth, const uint32_t *marks,
                const void *gradients, void **rows, void *out);
  /// keys[n] = the key of row n, of all rows.
  Status listKeys(DeviceStream &stream, int64_t *keys);

  /// Of a table whose values are stored in 16 bits: copies rows to `wide` as
  /// rules take them, values in front of slots, one row of f32 behind the
  /// other, and their addresses there to `places`.
  Status widen(DeviceStream &stream, int64_t count, void *const *rows,
               float *wide, void **places);
  /// The other way round, behind a rule: values are rounded at random, for
  /// update `update` of the group; *found becomes 1 where one that is stored is
  /// not finite.
  Status round(DeviceStream &stream, int64_t count, int64_t update,
               const int64_t *keys, const float *wide, void *const *rows,
               int32_t *found);

  /// Notes an update of a step in which these rows, which are distinct, were
  /// used.
  Status noteUpdates(DeviceStream &stream, int64_t count, void *const *rows);
  /// All rows were written, whether used or not.
  Status noteWrites(DeviceStream &stream);
  /// What all rows hold is kept elsewhere.
  Status noteSaved(DeviceStream &stream);

  /// From now on it is `time`, modulo 2^15, which headers get.
  void quiesce(uint16_t time) { now = time & RowHeader::timeMask; }
  uint16_t time() const { return now; }

  /// The number of rows when the stream was last waited for: by `settle`, or by
  /// the caller, who says so with `noteWaited`.
  int64_t size() const { return knownRows; }
  Status settle(DeviceStream &stream);
  void noteWaited();

  /// Bytes of the device that are held for keys and rows together.
  size_t memoryBytes() const;
  /// What a kernel uses beside its arguments if it is given addresses of rows.
  std::vector<DeviceUse> rowMemory(bool isWritten) const;

  //===--------------------------------------------------------------------===//
  // All rows
  //===--------------------------------------------------------------------===//

  enum class Rows {
    All,
    Dirty ///< written since `noteSaved`
  };
  /// counts[s] = how many rows a logical shard has. Waits.
  Status countShards(DeviceStream &stream, Rows which,
                     std::vector<int64_t> &counts);

  /// Takes rows of one shard, keys ascending as signed integers; what they
  /// point to is memory of the host up to its return.
  using Visit = std::function<Status(int shard, std::span<const TableRow>)>;
  /// Brings the rows of the shards [first, end), shard after shard, each in one
  /// or several pieces. The host holds no more than DeviceTablePieces say, or
  /// the keys of one shard. Waits. Throws std::bad_alloc.
  Status collect(DeviceStream &stream, Rows which, int first, int end,
                 const Visit &visit);

  /// Gives rows to keys, new or not: rowBytes() of the options each, one behind
  /// the other in memory of the host. They are not dirty then. Waits. An error
  /// may come when some are there already.
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

  /// What kernels know of the table; on both sides.
  pdl_device_table described;
  DeviceBuffer description, slotValues;
  /// The index.
  DeviceBuffer keys, numbers;
  /// Of rows: buffers, the regions in them, and a list of these for kernels.
  std::vector<DeviceBuffer> slabs;
  std::vector<char *> regions;
  DeviceBuffer regionList;

  /// Numbers of rows: one is the current one, the other the next; and what has
  /// come to the host of it.
  DeviceBuffer counters, counterOnHost;
  int current = 0;
  int64_t knownRows = 0;
  /// Keys that were pulled since, each of which may be new.
  int64_t pendingKeys = 0;
  uint16_t now = 0;

  /// Of a pull.
  DeviceBuffer chunkCounts, newNumbers;
};

} // namespace pdlrt

#endif // PDLRT_TABLE_DEVICETABLE_H
