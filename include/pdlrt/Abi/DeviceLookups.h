//===- DeviceLookups.h - Lookups in tables on devices -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ABI_DEVICELOOKUPS_H
#define PDLRT_ABI_DEVICELOOKUPS_H

#include "pdlrt/Core/Status.h"
#include "pdlrt/Device/Device.h"

#include <cstdint>
#include <vector>

namespace pdlrt {

/// The distinct keys of a lookup and the addresses of their rows, on a device.
/// If the table is divided among several devices, `parts` has an entry for each
/// of them. Memory grows to the largest lookup seen.
struct DeviceRows {
  /// Symbol of the table; -1: no lookup yet.
  int32_t symbol = -1;
  int64_t count = 0;
  DeviceBuffer keys, rows;
  /// Host memory for copies.
  DeviceBuffer keysOnHost, rowsOnHost;
  /// Number of times the host had waited for the table's stream when the keys
  /// were sent.
  uint64_t sentAt = 0;
  /// Values of the rows, if they are copied through host memory.
  DeviceBuffer values, valuesOnHost;

  /// Indexed by device; empty if one device has all rows.
  std::vector<DeviceRows> parts;
  /// In an entry of `parts`: its keys, and their positions in the whole lookup.
  std::vector<int64_t> ownKeys, places;

  const int64_t *keysOfDevice() const {
    return static_cast<const int64_t *>(keys.data());
  }
  void **rowsOfDevice() const { return static_cast<void **>(rows.data()); }
};

/// Tables in device memory, for the stages of replicas. Thread-safe, but one
/// DeviceRows must be used by one thread at a time.
class DeviceLookups {
public:
  virtual ~DeviceLookups();

  /// Returns true if the table is in device memory.
  virtual bool holds(int32_t symbol) const = 0;
  /// Finds the rows of distinct keys, and inserts missing rows with their
  /// initial values. Usually returns before the device has done this.
  virtual Status pull(int32_t symbol, int64_t count, const int64_t *keys,
                      DeviceRows &lookup) = 0;
  /// Finds existing rows, and waits for the result. Missing rows are null, also
  /// in `rowsOnHost`.
  virtual Status find(int32_t symbol, int64_t count, const int64_t *keys,
                      DeviceRows &lookup) = 0;
  /// Writes the values of a lookup's rows to `out`, which is device memory.
  /// Work that is added to `compute` afterwards sees them. If `frozen`, writes
  /// the part that frozen programs read, and for keys without a row the value
  /// that their table defines.
  virtual Status gather(DeviceRows &lookup, bool frozen, void *out,
                        DeviceStream &compute) = 0;
};

} // namespace pdlrt

#endif // PDLRT_ABI_DEVICELOOKUPS_H
