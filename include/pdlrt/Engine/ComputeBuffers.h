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

/// Memory for the results of stage `compute` of one replica. All batch contexts
/// of the replica share it: they are computed one after the other, and the
/// results of one batch are no longer needed when the next batch is computed.
/// The memory grows to the largest batch and is then reused. Not thread-safe.
struct ComputeBuffers {
  explicit ComputeBuffers(const pdl_program &program)
      : gradients(program.update_count), gradientRows(program.update_count),
        outputs(program.output_count), gradientPointers(program.update_count),
        outputPointers(program.output_count),
        lossSums(std::max(program.objective_count, 1)),
        weightSums(lossSums.size()) {}

  /// Gradients by update of the program. For a table, `gradientRows` has the
  /// address of each row's gradient.
  std::vector<AlignedBuffer> gradients, gradientRows;
  /// Indexed by output.
  std::vector<AlignedBuffer> outputs;
  std::vector<void *> gradientPointers, outputPointers;
  AlignedBuffer arena;
  /// Implements the device functions (`pdlrt_*`) that the stage calls, and owns
  /// the memory of its results. Null in programs for the CPU.
  std::unique_ptr<DeviceStep> device;
  /// Results of the stage, one per objective (`nn.minimize`) of the program:
  /// the sum of the weighted losses, and the sum of the sample weights.
  std::vector<double> lossSums, weightSums;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_COMPUTEBUFFERS_H
