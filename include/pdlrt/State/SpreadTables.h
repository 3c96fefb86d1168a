//===- SpreadTables.h - Tables on several devices ---------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each device has the rows of some shards, so tables can use the memory of all
// devices. The keys of a lookup are sent to the devices that have them; the
// gathered rows go through the host to the computing device. Gradients of rows
// come from the host, which has summed those of all replicas. With one device,
// this extra work is not needed.
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

/// The tables of a model that is completely in this process, on the computing
/// devices. Calls are like those of DeviceTables, for all devices. Thread-safe,
/// except for updates, which must come from one thread at a time.
class SpreadTables final : public DeviceLookups {
public:
  /// Creates the tables like DeviceTables::create, on one or several devices.
  static Expected<std::unique_ptr<SpreadTables>>
  create(std::span<Device *const> devices, const Model &model);

  bool holds(int32_t symbol) const override;
  Status pull(int32_t symbol, int64_t count, const int64_t *keys,
              DeviceRows &lookup) override;
  Status find(int32_t symbol, int64_t count, const int64_t *keys,
              DeviceRows &lookup) override;
  /// Waits for the devices if there are several.
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
  /// Sets the keys of each part of a lookup.
  void split(int32_t symbol, int64_t count, const int64_t *keys,
             DeviceRows &lookup) const;

  Device &first;
  const pdl_descriptor &descriptor;
  std::vector<std::unique_ptr<DeviceTables>> shares;
  /// Indexed by share: the keys of an update.
  struct Part {
    std::vector<int64_t> keys;
    std::vector<const void *> gradients;
  };
  std::vector<Part> parts;
};

} // namespace pdlrt

#endif // PDLRT_STATE_SPREADTABLES_H
