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

/// Describes the gradient of one symbol.
struct GradientBlock {
  int32_t symbol = -1;
  /// PDL_F32 or PDL_F64.
  int32_t elementType = PDL_F32;
  /// True: the symbol is a table, and the gradient has rows for keys. False: a
  /// dense gradient of a parameter.
  bool isTable = false;
  /// Number of elements: of the whole parameter, or of one row of a table's
  /// gradient.
  int64_t elementCount = 0;
  /// Index of the objective whose sum of weights divides the gradient.
  int32_t objective = 0;
};

/// The sums of one objective of a program over samples.
struct ObjectiveSums {
  double loss = 0;
  double weight = 0;
};

/// The gradient of one symbol (a block) from one contributor. It does not own
/// the memory to which it refers.
struct BlockGradient {
  /// Parameter: `elementCount` elements, or null (see `pieces` and `onDevice`).
  const void *dense = nullptr;
  /// Table: `keyCount` distinct keys; for each key, the address of its row if
  /// the table is in this process, and its gradient with `elementCount`
  /// elements.
  int64_t keyCount = 0;
  const int64_t *keys = nullptr;
  void *const *rows = nullptr;
  const void *const *gradients = nullptr;
  /// Parameter that was received in a message: if `dense` is null, the bytes of
  /// its gradient in order. Pieces may have any alignment, and may end within
  /// an element.
  std::span<const std::span<const std::byte>> pieces = {};
  /// Set if the symbol's group compensates delays, and the gradients are of one
  /// sender: the values from which the sender computed the gradient. `seen`:
  /// all local elements of a parameter. `seenRows`: one row for each key of a
  /// table.
  const void *seen = nullptr;
  const void *const *seenRows = nullptr;
  /// Gradient in device memory; null: none. Parameter: the elements from one
  /// replica; if `dense` is null, they are only on the device. In a sum over
  /// replicas, the pointer only says that the sum is on devices, and must not
  /// be read. Table, if `gradients` is null: the gradients of all keys, one
  /// after the other, with the keys and the addresses of their rows in the two
  /// members below.
  const void *onDevice = nullptr;
  const int64_t *keysOnDevice = nullptr;
  void *const *rowsOnDevice = nullptr;
};

/// The contribution to a step: losses, weights and gradients of one worker, or
/// their sum over a group or all groups.
struct PartialSum {
  /// False for the contribution of a replica without a batch: the replica takes
  /// part in the round, but adds nothing.
  bool present = false;
  /// Number of steps of the sender that these sums contain.
  int64_t steps = 1;
  /// Sums by objective of the program. A program without objectives has a
  /// single entry of zeros.
  std::vector<ObjectiveSums> objectives = std::vector<ObjectiveSums>(1);
  /// Gradients by update of the program.
  std::vector<BlockGradient> blocks;

  /// Returns the sum of the weights of all objectives except the first one,
  /// whose loss is the loss of the program.
  double otherWeights() const;
  /// Returns true if the step updates something: if the weight of some
  /// objective is not zero.
  bool hasWeight() const {
    return objectives.front().weight > 0 || otherWeights() > 0;
  }
};

/// Returns a description of the gradient of each update of `program`.
std::vector<GradientBlock> gradientBlocks(const pdl_descriptor &descriptor,
                                          const pdl_program &program);

/// Returns the number by which the sum of a group's gradients is divided. The
/// sum is over `steps` steps of one sender, with the sum of weights `weight`.
/// The divisor is `weight`, or the mean weight of a step for a group with
/// `merge(sum)`. `group` is the index in the descriptor; -1: none.
double divisorOf(const pdl_descriptor &descriptor, int32_t group, double weight,
                 int64_t steps);

} // namespace pdlrt

#endif // PDLRT_SUM_PARTIALSUM_H
