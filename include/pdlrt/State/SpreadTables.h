//===- SpreadTables.h - Tables on several devices ---------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each device has the rows of some shards, so that the memory of all of them is
// that of the tables. A lookup's keys go to those that have them; what these
// gather goes through the host to the device that computes. Gradients of rows
// come from the host, which has added those of all replicas. With one device
// nothing of that happens.
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

/// All tables of a model that is all here, on the devices that compute. As
/// DeviceTables, each call for all of them. Thread-safe, with updates of one
/// thread at a time.
class SpreadTables final : public DeviceLookups {
public:
  /// As DeviceTables::create, of one device or several.
  static Expected<std::unique_ptr<SpreadTables>>
  create(std::span<Device *const> devices, const Model &model);

  bool holds(int32_t symbol) const override;
  Status pull(int32_t symbol, int64_t count, const int64_t *keys,
              DeviceRows &lookup) override;
  Status find(int32_t symbol, int64_t count, const int64_t *keys,
              DeviceRows &lookup) override;
  /// Of several devices: waits for them.
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
  /// Tells the parts of a lookup which keys are theirs.
  void split(int32_t symbol, int64_t count, const int64_t *keys,
             DeviceRows &lookup) const;

  Device &first;
  const pdl_descriptor &descriptor;
  std::vector<std::unique_ptr<DeviceTables>> shares;
  /// By share: the keys of an update.
  struct Part {
    std::vector<int64_t> keys;
    std::vector<const void *> gradients;
  };
  std::vector<Part> parts;
};

} // namespace pdlrt

#endif // PDLRT_STATE_SPREADTABLES_H
