//===- SpreadTables.h - Tables on several devices ---------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tables that use the memory of several devices: each device has the rows of
// some shards. Each key of a lookup is sent to the device that has its row. The
// gathered rows are copied through host memory to the device that computes. The
// host sums the gradients of all replicas, and sends those of each row to its
// device. With one device, lookups and gradients do not go through the host.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_STATE_SPREADTABLES_H
#define PDLRT_STATE_SPREADTABLES_H

#include "pdlrt/State/DeviceTables.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace pdlrt {

/// The tables of a model on one or several devices. The model must be
/// completely in this process. The functions are those of DeviceTables, for all
/// devices. Thread-safe, except that only one thread at a time may update.
class SpreadTables final : public DeviceLookups {
public:
  /// Creates the tables on one or several devices. See `DeviceTables::create`.
  static Expected<std::unique_ptr<SpreadTables>>
  create(std::span<Device *const> devices, const Model &model);

  bool holds(int32_t symbol) const override;
  Status pull(int32_t symbol, int64_t count, const int64_t *keys,
              DeviceRows &lookup) override;
  Status find(int32_t symbol, int64_t count, const int64_t *keys,
              DeviceRows &lookup) override;
  /// If there are several devices, waits for them.
  Status gather(DeviceRows &lookup, bool frozen, void *out,
                DeviceStream &compute) override;

  Status apply(int32_t symbol, const BlockGradient &gradient,
               const void *scalars, int64_t update);
  Expected<int32_t> finish();
  void limitPieces(size_t bytes);

  void quiesce(int32_t symbol, uint16_t time);
  Status bringToHost();
  Expected<TableSize> sizeOf(int32_t symbol);

private:
  SpreadTables(Device &first, const pdl_descriptor &descriptor)
      : first(first), descriptor(descriptor) {}

  bool isOne() const { return shares.size() == 1; }
  /// Divides the keys of a lookup among the devices: sets `DeviceRows::parts`.
  void split(int32_t symbol, int64_t count, const int64_t *keys,
             DeviceRows &lookup) const;

  Device &first;
  const pdl_descriptor &descriptor;
  std::vector<std::unique_ptr<DeviceTables>> shares;
  /// Keys and gradients of an update for one device.
  struct Part {
    std::vector<int64_t> keys;
    std::vector<const void *> gradients;
  };
  std::vector<Part> parts;
};

} // namespace pdlrt

#endif // PDLRT_STATE_SPREADTABLES_H
