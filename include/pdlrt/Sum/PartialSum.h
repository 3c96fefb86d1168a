//===- PartialSum.h - Gradients and losses of replicas ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_SUM_PARTIALSUM_H
#define PDLRT_SUM_PARTIALSUM_H

#include "pdlabi/abi/codes.h"
#include "pdlabi/abi/descriptor.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace pdlrt {

/// Description of the gradient of one symbol.
struct GradientBlock {
  int32_t symbol = -1;
  /// PDL_F32 or PDL_F64.
  int32_t elementType = PDL_F32;
  /// True: a gradient of rows by key; false: a dense gradient of a parameter.
  bool isTable = false;
  /// Dense: number of all elements. Table: number of elements of one row.
  int64_t elementCount = 0;
  /// The objective whose sum of weights divides the gradient.
  int32_t objective = 0;
};

/// The sums of one objective of a program over samples.
struct ObjectiveSums {
  double loss = 0;
  double weight = 0;
};

/// The gradient of a block from one contributor. The memory is borrowed.
struct BlockGradient {
  /// Parameter: `elementCount` elements.
  const void *dense = nullptr;
  /// Table: distinct keys, the row of each in this process's table, and the
  /// gradient of each, `elementCount` elements.
  int64_t keyCount = 0;
  const int64_t *keys = nullptr;
  void *const *rows = nullptr;
  const void *const *gradients = nullptr;
  /// Parameter, received in a message: if `dense` is null, its bytes in order,
  /// in pieces of any alignment, which may end within an element.
  std::span<const std::span<const std::byte>> pieces = {};
  /// Gradients of one sender, if the group compensates delays: the values on
  /// which it computed the gradient. Parameter: all local elements; table: one
  /// row for each key.
  const void *seen = nullptr;
  const void *const *seenRows = nullptr;
  /// Parameter: the elements on a device, from one replica. If `dense` is null,
  /// they are only there; in a sum, the pointer only says that devices have it.
  /// Table: the consecutive gradients of all keys if `gradients` is null, the
  /// keys, and the addresses of their rows.
  const void *onDevice = nullptr;
  const int64_t *keysOnDevice = nullptr;
  void *const *rowsOnDevice = nullptr;
};

/// The contribution of one worker, one group, or all of them to a step.
struct PartialSum {
  /// False for a replica without a batch, which takes part in the round but
  /// contributes nothing.
  bool present = false;
  /// Number of the sender's steps in these sums.
  int64_t steps = 1;
  /// Indexed by objective of the program; a single zero entry if it has none.
  std::vector<ObjectiveSums> objectives = std::vector<ObjectiveSums>(1);
  /// Indexed by update of the program.
  std::vector<BlockGradient> blocks;

  /// Returns the sum of the weights of all objectives except the first one,
  /// which is that of the program.
  double otherWeights() const;
  /// Returns true if anything is to be updated, because some objective has
  /// weight.
  bool hasWeight() const {
    return objectives.front().weight > 0 || otherWeights() > 0;
  }
};

/// Returns the gradients that a step of `program` exchanges, by update.
std::vector<GradientBlock> gradientBlocks(const pdl_descriptor &descriptor,
                                          const pdl_program &program);

/// Returns the divisor of the sum of a group's gradients over `steps` steps of
/// one sender with joint weight `weight`. It is the weight of all samples, or
/// the mean weight of a step, as the group defines. `group`: index in the
/// descriptor, -1: none.
double divisorOf(const pdl_descriptor &descriptor, int32_t group, double weight,
                 int64_t steps);

} // namespace pdlrt

#endif // PDLRT_SUM_PARTIALSUM_H
