//===- ComputeBuffers.h - Results of stage compute --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ENGINE_COMPUTEBUFFERS_H
#define PDLRT_ENGINE_COMPUTEBUFFERS_H

#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Abi/DeviceStep.h"
#include "pdlrt/Core/AlignedBuffer.h"

#include <algorithm>
#include <memory>
#include <vector>

namespace pdlrt {

/// Memory of stage `compute` of one replica. The batches of a replica's ring
/// are computed one after the other, and the results of one are no longer
/// needed when the next one starts. The memory grows to the largest batch and
/// is then reused. Not thread-safe.
struct ComputeBuffers {
  explicit ComputeBuffers(const pdl_program &program)
      : gradients(program.update_count), gradientRows(program.update_count),
        outputs(program.output_count), gradientPointers(program.update_count),
        outputPointers(program.output_count),
        lossSums(std::max(program.objective_count, 1)),
        weightSums(lossSums.size()) {}

  /// Indexed by update. For a table, `gradientRows` has the address of each
  /// row's gradient.
  std::vector<AlignedBuffer> gradients, gradientRows;
  /// Indexed by output.
  std::vector<AlignedBuffer> outputs;
  std::vector<void *> gradientPointers, outputPointers;
  AlignedBuffer arena;
  /// In programs for a device, the owner of the arena.
  std::unique_ptr<DeviceStep> device;
  /// Indexed by objective; written by the stage.
  std::vector<double> lossSums, weightSums;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_COMPUTEBUFFERS_H
