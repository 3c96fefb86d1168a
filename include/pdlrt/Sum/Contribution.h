//===- Contribution.h - What replicas bring to a step -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_SUM_CONTRIBUTION_H
#define PDLRT_SUM_CONTRIBUTION_H

#include "pdlabi/abi.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pdlrt {

/// What is summed: the gradient of one symbol.
struct GradientBlock {
  int32_t symbol = -1;
  /// PDL_F32 or PDL_F64.
  int32_t elementType = PDL_F32;
  /// A table's gradient holds rows by key; a parameter's is dense.
  bool isTable = false;
  /// Dense: all elements. Table: elements of one row.
  int64_t elementCount = 0;
  /// Whose sum of weights divides it.
  int32_t objective = 0;
};

/// Of one objective of a program, over samples.
struct ObjectiveSums {
  double loss = 0;
  double weight = 0;
};

/// One contributor's gradient of a block. Borrowed memory.
struct BlockGradient {
  /// Parameter: `elementCount` elements.
  const void *dense = nullptr;
  /// Table: distinct keys, the row of each in this process's table, and the
  /// gradient of each, `elementCount` elements.
  int64_t keyCount = 0;
  const int64_t *keys = nullptr;
  void *const *rows = nullptr;
  const void *const *gradients = nullptr;
  /// Parameter, as a message brings it: where `dense` is null, its bytes in
  /// order, in pieces of any alignment that may end within an element.
  std::span<const std::span<const std::byte>> pieces = {};
  /// Of one sender, where the group compensates delays: the values that it
  /// computed the gradient on; parameter: all elements that are here, table: of
  /// each key.
  const void *seen = nullptr;
  const void *const *seenRows = nullptr;
  /// Parameter: the elements on a device, of one replica; where `dense` is
  /// null, there alone, and of a sum it says only that devices have that.
  /// Table: the gradients of all keys, one behind the other, where `gradients`
  /// is null, and the keys and the addresses of their rows.
  const void *onDevice = nullptr;
  const int64_t *keysOnDevice = nullptr;
  void *const *rowsOnDevice = nullptr;
};

/// What one worker, one group, or all of them contribute to a step.
struct Contribution {
  /// A replica without a batch stays in the round and contributes nothing.
  bool present = false;
  /// How many steps of its sender these are the sums of.
  int64_t steps = 1;
  /// By objective of the program; one of zeros, if it has none.
  std::vector<ObjectiveSums> objectives = std::vector<ObjectiveSums>(1);
  /// By update of the program.
  std::vector<BlockGradient> blocks;

  /// Of all objectives but the first one, which is that of the program.
  double otherWeights() const;
  /// Whether anything is to be updated: some objective has weight.
  bool hasWeight() const {
    return objectives.front().weight > 0 || otherWeights() > 0;
  }
};

/// The gradients that a step of `program` exchanges, by update.
std::vector<GradientBlock> gradientBlocks(const pdl_descriptor &descriptor,
                                          const pdl_program &program);

/// What divides the sum of a group's gradients over `steps` steps of one
/// sender, of that joint weight: the weight of all samples, or the mean weight
/// of a step, as the group says. `group`: of the descriptor, -1: none.
double divisorOf(const pdl_descriptor &descriptor, int32_t group, double weight,
                 int64_t steps);

} // namespace pdlrt

#endif // PDLRT_SUM_CONTRIBUTION_H
