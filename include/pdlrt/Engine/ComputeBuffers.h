//===- ComputeBuffers.h - What compute writes -------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ENGINE_COMPUTEBUFFERS_H
#define PDLRT_ENGINE_COMPUTEBUFFERS_H

#include "pdlabi/abi.h"
#include "pdlrt/Abi/DeviceStep.h"
#include "pdlrt/Core/AlignedBuffer.h"

#include <algorithm>
#include <memory>
#include <vector>

namespace pdlrt {

/// The memory of stage `compute` of one replica: the batches of its ring are
/// computed one after the other, and what one wrote is needed no longer when
/// the next one begins. It grows to the largest batch and then stays. One
/// thread at a time.
struct ComputeBuffers {
  explicit ComputeBuffers(const pdl_program &program)
      : gradients(program.update_count), gradientRows(program.update_count),
        outputs(program.output_count), gradientPointers(program.update_count),
        outputPointers(program.output_count),
        lossSums(std::max(program.objective_count, 1)),
        weightSums(lossSums.size()) {}

  /// By update; of a table also where each row's gradient begins.
  std::vector<AlignedBuffer> gradients, gradientRows;
  /// By output.
  std::vector<AlignedBuffer> outputs;
  std::vector<void *> gradientPointers, outputPointers;
  AlignedBuffer arena;
  /// In programs for a device, where the arena is.
  std::unique_ptr<DeviceStep> device;
  /// By objective; what the stage writes.
  std::vector<double> lossSums, weightSums;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_COMPUTEBUFFERS_H
