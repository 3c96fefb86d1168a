//===- DeviceStep.h - Stage compute on a device -----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The resources of a replica on its device: a stream, the copies of the data
// that its stages read, and the memory of their results. Data is copied when a
// stage requests it. Memory grows to the largest batch and is then reused.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ABI_DEVICESTEP_H
#define PDLRT_ABI_DEVICESTEP_H

#include "pdlabi/abi/descriptor.h"
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

/// Implements the functions `pdlrt_*` that the compute stage of a program for a
/// device calls. Not thread-safe.
class DeviceStep {
public:
  /// The referenced objects must outlive this one. The device must have loaded
  /// the program's kernels. If `parameters` is null, the parameters are copied
  /// to the device for each stage.
  DeviceStep(Device &device, const pdl_descriptor &descriptor,
             const pdl_program &program, DeviceParameters *parameters);

  Device &runsOn() const { return device; }

  /// Returns pinned host memory for gradient or output `index`. `place` is
  /// PDL_PLACE_GRADIENT or PDL_PLACE_OUTPUT. The memory is valid until a larger
  /// size is requested for the same `place` and `index`.
  Expected<void *> hostResult(int32_t place, int32_t index, size_t bytes);
  /// Like `hostResult`, for the gradient of an update. Returns null if the
  /// gradient stays on the device (DeviceParameters::takesGradient).
  Expected<void *> hostGradient(int32_t update, size_t bytes);

  /// Starts a stage. `context` has the host memory of each place
  /// (pdl_device_place) that the stage may request. `input` has the copies to
  /// the device that are in progress. Both must stay valid until the stage
  /// ends.
  void begin(const pdl_step_context &context, DeviceInput &input);
  /// Returns the number of parts of stages so far that were launched as a graph
  /// (DeviceCommands.h).
  int64_t replayed() const { return commands ? commands->replayed() : 0; }

  // Implement the functions of abi.h. A failure is kept for `wait`.
  void *pointerTo(int32_t place, int32_t index);
  void *constant(const void *onHost, size_t bytes);
  void launch(int32_t kernel, int64_t turns, const uint64_t *arguments);
  /// Adds a matrix product. `otherwise` is the index of the kernel that
  /// computes it if the device's library does not support the product.
  void multiply(const DeviceProduct &product, int32_t otherwise);
  /// Adds a gather of a lookup's rows, from tables in device memory.
  void gather(DeviceLookups &tables, DeviceRows &lookup, void *out);
  void *hostMemory(size_t bytes);
  void copyIn(void *toDevice, const void *fromHost, size_t bytes);
  void copyOut(void *toHost, const void *fromDevice, size_t bytes);
  void copyWithin(void *to, const void *from, size_t bytes);
  Status wait(bool isLast);

  // Call after a stage.

  /// Returns the size of this step's memory that grows with the batch. The
  /// memory of DeviceInput is not included.
  Expected<GrowingBytes> growing() const;
  /// Returns the gradient of an update, valid until the next stage; null if the
  /// stage has none.
  void *gradient(int32_t update) const;
  /// Returns true if the gradient of an update is finite. Call only if
  /// `checksGradients()` is true: the program has kernels that check the
  /// gradients of all its updates.
  bool isGradientFinite(int32_t update) const;
  bool checksGradients() const { return checks; }

private:
  /// Adds a check whether a gradient of `bytes` bytes is finite.
  void check(int32_t update, const void *gradient, size_t bytes);
  /// Copies gradients and outputs to the host.
  void finish();

  /// Device memory of a place.
  struct Copy {
    DeviceBuffer memory;
    /// True if the current stage has requested it.
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
  /// True if the program has kernels that check the gradients of all updates.
  bool checks = false;
  /// Indexed by update: set if its gradient is not finite.
  DeviceFlags nonFinite;
  std::map<std::pair<int32_t, int32_t>, DeviceBuffer> results;
  /// Created with the first stage.
  std::unique_ptr<DeviceStream> stream;
  std::unique_ptr<DeviceCommands> commands;
  const pdl_step_context *context = nullptr;
  DeviceInput *input = nullptr;
  std::map<std::pair<int32_t, int32_t>, Copy> copies;
  std::map<const void *, DeviceBuffer> constants;
  /// Chunks of host memory for this stage, and the used size of the last chunk.
  /// If a stage needed more than one chunk, the next stage starts with one
  /// chunk of the total size.
  std::vector<DeviceBuffer> chunks;
  size_t chunkUsed = 0, stageBytes = 0;
  /// Host memory that the stage gets after a failure. The stage continues until
  /// its next wait and accesses memory, but the content is not used.
  std::vector<AlignedBuffer> unused;
  Status failure;
};

} // namespace pdlrt

#endif // PDLRT_ABI_DEVICESTEP_H
