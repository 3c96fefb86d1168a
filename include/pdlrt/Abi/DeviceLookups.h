//===- DeviceLookups.h - Lookups whose rows a device has --------*- C++ -*-===//
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

/// The distinct keys of a lookup and the addresses of their rows, on a device;
/// or, where several devices have the rows, what each of them has of it. Memory
/// grows to the largest lookup seen.
struct DeviceRows {
  /// The table that they were found in; -1: none.
  int32_t symbol = -1;
  int64_t count = 0;
  DeviceBuffer keys, rows;
  /// What copies read and write.
  DeviceBuffer keysOnHost, rowsOnHost;
  /// How often the table's stream had been waited for when keys were sent.
  uint64_t sentAt = 0;
  /// What rows hold, where it goes through the host.
  DeviceBuffer values, valuesOnHost;

  /// By device; none where one device has all rows.
  std::vector<DeviceRows> parts;
  /// Of such a part: its keys, and where in the lookup they are.
  std::vector<int64_t> ownKeys, places;

  const int64_t *keysOfDevice() const {
    return static_cast<const int64_t *>(keys.data());
  }
  void **rowsOfDevice() const { return static_cast<void **>(rows.data()); }
};

/// Tables in the memory of a device, as stages use them. Thread-safe, with
/// lookups of one thread each.
class DeviceLookups {
public:
  virtual ~DeviceLookups();

  /// Whether a table is there.
  virtual bool holds(int32_t symbol) const = 0;
  /// Finds the rows of keys, which are distinct, and makes those that are not
  /// there, with their initial values. Mostly waits for nothing.
  virtual Status pull(int32_t symbol, int64_t count, const int64_t *keys,
                      DeviceRows &lookup) = 0;
  /// Finds the rows that are there, and waits: those of others are null, in
  /// `rowsOnHost`, too.
  virtual Status find(int32_t symbol, int64_t count, const int64_t *keys,
                      DeviceRows &lookup) = 0;
  /// Writes the values of a lookup's rows to `out`, memory of the device, in
  /// the order of `compute`'s work. `frozen`: what frozen programs read, and
  /// of keys without a row what their table promises.
  virtual Status gather(DeviceRows &lookup, bool frozen, void *out,
                        DeviceStream &compute) = 0;
};

} // namespace pdlrt

#endif // PDLRT_ABI_DEVICELOOKUPS_H
