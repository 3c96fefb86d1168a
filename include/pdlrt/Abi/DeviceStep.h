//===- DeviceStep.h - Stage compute on a device -----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a replica has on its device: a stream, the copies of what its stages
// read, and the memory of what they write. Copies are made of what a stage asks
// for; memory grows to the largest batch and then stays.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ABI_DEVICESTEP_H
#define PDLRT_ABI_DEVICESTEP_H

#include "pdlabi/abi.h"
#include "pdlrt/Abi/DeviceCommands.h"
#include "pdlrt/Abi/DeviceInput.h"
#include "pdlrt/Abi/DeviceLookups.h"
#include "pdlrt/Abi/DeviceParameters.h"
#include "pdlrt/Abi/GradientKernels.h"
#include "pdlrt/Core/AlignedBuffer.h"
#include "pdlrt/Device/DeviceFlags.h"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace pdlrt {

/// Behind the `pdlrt_*` calls of stages compute for a device. One thread at a
/// time.
class DeviceStep {
public:
  /// The device, which has loaded the program's kernels, the descriptor and the
  /// parameters outlive it. Without `parameters` they are copied for each
  /// stage.
  DeviceStep(Device &device, const pdl_descriptor &descriptor,
             const pdl_program &program, DeviceParameters *parameters);

  Device &runsOn() const { return device; }

  /// Memory of the host for a gradient or output, from which copies run fast.
  /// It stays until more of it is asked for.
  Expected<void *> hostResult(int32_t place, int32_t index, size_t bytes);
  /// The same of an update's gradient; null where the host does not get it.
  Expected<void *> hostGradient(int32_t update, size_t bytes);

  /// Before a stage: what the places that it will ask for hold on the host, and
  /// what of them is on its way. Both stay until the stage ends.
  void begin(const pdl_step_context &context, DeviceInput &input);
  /// Parts of stages that were done by one launch, since the beginning.
  int64_t replayed() const { return commands ? commands->replayed() : 0; }

  // What the functions of abi.h do. A failure is kept for `wait`.
  void *pointerTo(int32_t place, int32_t index);
  void *constant(const void *onHost, size_t bytes);
  void launch(int32_t kernel, int64_t turns, const uint64_t *arguments);
  /// `otherwise`: the kernel that forms the products which the device does not.
  void multiply(const DeviceProduct &product, int32_t otherwise);
  /// The rows of a lookup in tables of the device.
  void gather(DeviceLookups &tables, DeviceRows &lookup, void *out);
  void *hostMemory(size_t bytes);
  void copyIn(void *toDevice, const void *fromHost, size_t bytes);
  void copyOut(void *toHost, const void *fromDevice, size_t bytes);
  void copyWithin(void *to, const void *from, size_t bytes);
  Status wait(bool isLast);

  // After a stage.

  /// What of the memory that it used, the input's beside, grows with the batch.
  Expected<GrowingBytes> growing() const;
  /// The gradient of an update, which is there until the next stage; null where
  /// the stage has none.
  void *gradient(int32_t update) const;
  /// Whether all of it is finite, where the program has kernels to find out.
  bool isGradientFinite(int32_t update) const;
  bool checksGradients() const { return checks; }

private:
  /// Adds what tells whether a gradient, of so many bytes, is finite.
  void check(int32_t update, const void *gradient, size_t bytes);
  /// Brings gradients and outputs to the host.
  void finish();

  /// What a place has on the device.
  struct Copy {
    DeviceBuffer memory;
    /// Whether this stage has asked for it.
    bool isCurrent = false;
  };
  template <typename Callable> void add(Callable &&work);
  void keep(Status status) {
    if (failure.ok())
      failure = std::move(status);
  }

  Device &device;
  const pdl_descriptor &descriptor;
  const pdl_program &program;
  DeviceParameters *const parameters;
  const GradientKernels kernels;
  /// Whether there are those that check the gradients of all updates.
  bool checks = false;
  /// By update: whether its gradient is not finite.
  DeviceFlags nonFinite;
  std::map<std::pair<int32_t, int32_t>, DeviceBuffer> results;
  /// From the first stage on.
  std::unique_ptr<DeviceStream> stream;
  std::unique_ptr<DeviceCommands> commands;
  const pdl_step_context *context = nullptr;
  DeviceInput *input = nullptr;
  std::map<std::pair<int32_t, int32_t>, Copy> copies;
  std::map<const void *, DeviceBuffer> constants;
  /// Memory of the host for this stage, and how much of the last one is taken;
  /// when a stage needed more than one, the next has one of their summed size.
  std::vector<DeviceBuffer> chunks;
  size_t chunkUsed = 0, stageBytes = 0;
  /// In its place behind a failure.
  std::vector<AlignedBuffer> unused;
  Status failure;
};

} // namespace pdlrt

#endif // PDLRT_ABI_DEVICESTEP_H
