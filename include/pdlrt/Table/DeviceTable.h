//===- DeviceTable.h - A table in device memory -----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A table like EmbeddingTable whose keys, rows and headers are in device
// memory. Rows are bitwise equal to those of a table on the host. The host adds
// work to a stream without waiting for it. pdlabi/device.h declares the
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

/// Indices of the table kernels (pdlabi::TableKernel) in the code that a device
/// has loaded.
class TableKernels {
public:
  /// Finds the kernels for tables with elements of type `elementType` by their
  /// names. If one is missing, returns an error with its name.
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
  /// Size in bytes of the pinned host memory for transfers; the same amount of
  /// device memory is used too.
  int64_t bytes = int64_t(4) << 20;
  /// Number of rows whose keys the host sorts at a time, with 16 bytes each. If
  /// a 16th of all rows is more, that many are sorted at a time.
  int64_t rowsListed = int64_t(1) << 22;
};

/// A table whose keys and rows are in device memory. Rows never move.
///
/// Calls add work to the stream in their arguments. `keys`, `rows` and `out`
/// are addresses in device memory. If calls use different streams, the caller
/// must order their work by events, because a call may read or write the whole
/// table. The keys of a call must be distinct. All 2^64 keys are allowed. Not
/// thread-safe. No work may use the table when it is destroyed. After an error
/// of a stream, the table must not be used any more. After other errors it is
/// unchanged, except for those of `restore`.
class DeviceTable {
public:
  /// Creates a table. The device must have loaded the kernels, and must outlive
  /// the table.
  static Expected<std::unique_ptr<DeviceTable>>
  create(Device &device, const TableKernels &kernels, TableOptions options,
         DeviceStream &stream, const DeviceTablePieces &pieces = {});

  const TableOptions &options() const { return tableOptions; }

  /// Sets rows[i] to the row of keys[i]. A new key gets a row with its initial
  /// value. If the table has no room for new rows, it grows first; if memory is
  /// exhausted, returns PDL_OUT_OF_MEMORY. Waits for the stream only if the
  /// table grows.
  Status pull(DeviceStream &stream, int64_t count, const int64_t *keys,
              void **rows);

  /// Sets rows[i] to the row of keys[i], or null if there is none.
  Status find(DeviceStream &stream, int64_t count, const int64_t *keys,
              void **rows);

  /// The part of a row to read.
  enum class Part {
    Value, ///< the value, which training programs read
    Frozen ///< the part that frozen programs read
  };
  /// Sets out[i * width + e] to element e of rows[i], in the element type. If
  /// rows[i] is null, uses the value that `unknown`, a pdl_unknown_kind,
  /// defines for keys[i].
  Status gather(DeviceStream &stream, int64_t count, const int64_t *keys,
                void *const *rows, Part part, int32_t unknown, void *out);

  // The following functions are for optimizer rules that update all rows. Rows
  // are numbered. `mark` marks the rows of a step's keys. `spread` then gives
  // each row the gradient to which its mark refers, or zeros if it has no mark.

  /// Returns the number of rows. Waits for the stream if the number is not
  /// known on the host.
  Expected<int64_t> countRows(DeviceStream &stream);
  /// Sets marks[n], for each of the `rows` rows of the table: to i + 1 if row n
  /// is the row of keys[i], and to 0 if it is the row of none of the keys.
  Status mark(DeviceStream &stream, int64_t rows, int64_t count,
              const int64_t *keys, uint32_t *marks);
  /// Writes the addresses of the rows [first, first + count) to `rows`, and
  /// their gradients to `out`, one after the other. The gradient of a row has
  /// `gradientWidth` elements; it is the element of `gradients` to which its
  /// mark refers, or zeros.
  Status spread(DeviceStream &stream, int64_t first, int64_t count,
                int64_t gradientWidth, const uint32_t *marks,
                const void *gradients, void **rows, void *out);
  /// Sets keys[n] to the key of row n, for all rows.
  Status listKeys(DeviceStream &stream, int64_t *keys);

  /// Converts rows to the format of optimizer rules, for tables whose values
  /// are stored in 16 bits. Writes the rows to `wide`, one after the other, as
  /// f32 values followed by slots. Writes their addresses in `wide` to
  /// `places`.
  Status widen(DeviceStream &stream, int64_t count, void *const *rows,
               float *wide, void **places);
  /// Copies rows in `wide` back to the table after a rule. Rounds values
  /// stochastically; the random bits depend on `update`, the number of the
  /// group's update. Sets *found to 1 if a stored value is not finite.
  Status round(DeviceStream &stream, int64_t count, int64_t update,
               const int64_t *keys, const float *wide, void *const *rows,
               int32_t *found);

  /// Records in the headers of rows, which must be distinct, that a step has
  /// used and updated them.
  Status noteUpdates(DeviceStream &stream, int64_t count, void *const *rows);
  /// Records in the headers of all rows that they were written, by a step that
  /// may not have used them.
  Status noteWrites(DeviceStream &stream);
  /// Records in the headers of all rows that their current content is saved.
  Status noteSaved(DeviceStream &stream);

  /// Sets the time that headers of used rows get from now on. Only its lowest
  /// 15 bits are stored.
  void quiesce(uint16_t time) { now = time & RowHeader::timeMask; }
  uint16_t time() const { return now; }

  /// Returns the number of rows at the time when the host has last waited for
  /// the stream. `settle` waits. A caller that has waited in another way must
  /// call `noteWaited`.
  int64_t size() const { return knownRows; }
  Status settle(DeviceStream &stream);
  void noteWaited();

  /// Returns the device memory of keys and rows together, in bytes.
  size_t memoryBytes() const;
  /// Returns the argument `extraUses` of `DeviceStream::launch` for a kernel
  /// that gets addresses of rows: the memory of all rows. `isWritten` is true
  /// if the kernel writes rows.
  std::vector<DeviceUse> rowMemory(bool isWritten) const;

  //===--------------------------------------------------------------------===//
  // All rows
  //===--------------------------------------------------------------------===//

  enum class Rows {
    All,
    Dirty ///< written since `noteSaved`
  };
  /// Sets counts[s] to the number of rows of shard s, for each shard. Waits for
  /// the stream.
  Status countShards(DeviceStream &stream, Rows which,
                     std::vector<int64_t> &counts);

  /// Callback that gets rows of one shard, in the order of keys as signed
  /// integers. The rows are in host memory that is valid until the callback
  /// returns.
  using Visit = std::function<Status(int shard, std::span<const TableRow>)>;
  /// Copies the rows of the shards [first, end) to the host and calls `visit`,
  /// once or several times for each shard. Uses as much host memory as
  /// DeviceTablePieces allows, or as the keys of one shard need if that is
  /// more. Waits for the stream. Throws std::bad_alloc.
  Status collect(DeviceStream &stream, Rows which, int first, int end,
                 const Visit &visit);

  /// Sets the rows of keys, which may be new or not. `keys` and `rows` are in
  /// host memory; rows have `TableOptions::rowBytes` bytes and follow each
  /// other. Afterwards these rows count as saved. Waits for the stream. After
  /// an error, some rows may have been set.
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

  /// Description of the table for kernels, on the host (`described`) and on the
  /// device.
  pdl_device_table described;
  DeviceBuffer description, slotValues;
  /// Index from keys to row numbers.
  DeviceBuffer keys, numbers;
  /// Memory of rows. `slabs`: buffers. `regions`: the regions in them.
  /// `regionList`: the addresses of all regions, for kernels.
  std::vector<DeviceBuffer> slabs;
  std::vector<char *> regions;
  DeviceBuffer regionList;

  /// `counters`: two numbers of rows, the current one and the next one.
  /// `counterOnHost`: copy of the current one.
  DeviceBuffer counters, counterOnHost;
  int current = 0;
  int64_t knownRows = 0;
  /// Number of keys that were pulled since `knownRows` was set. Each of them
  /// may be new.
  int64_t pendingKeys = 0;
  uint16_t now = 0;

  /// Scratch memory of `pull`.
  DeviceBuffer chunkCounts, newNumbers;
};

} // namespace pdlrt

#endif // PDLRT_TABLE_DEVICETABLE_H
