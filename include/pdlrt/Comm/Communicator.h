//===- Communicator.h - Group sums of a step --------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How the gradients of replicas become one update. Sums and weights travel,
// never means. The order is settled: the workers of a group are summed first,
// in order, then the groups, in order; the first contribution that is present
// is copied, later ones are added, absent ones are not added at all. So
// replicas in one process and replicas in many form the same bits.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_COMM_COMMUNICATOR_H
#define PDLRT_COMM_COMMUNICATOR_H

#include "pdlabi/abi.h"
#include "pdlrt/Core/AlignedBuffer.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Sched/Scheduler.h"
#include "pdlrt/Table/KeyIndex.h"

#include <cstdint>
#include <memory>
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
};

/// What one worker, one group, or all of them contribute to a step.
struct Contribution {
  /// A replica without a batch stays in the round and contributes nothing.
  bool present = false;
  double lossSum = 0;
  double weightSum = 0;
  /// By update of the program.
  std::vector<BlockGradient> blocks;
};

/// Sums contributions in the settled order; owns the memory of the result.
class ContributionSum {
public:
  /// Sums the parts that are present, in order. With one of them the result
  /// borrows its memory; the result lives until the next call. Bits do not
  /// depend on the scheduler. Fails if the keys of a block exceed 2^31; throws
  /// std::bad_alloc.
  Status assign(std::span<const GradientBlock> blocks,
                std::span<const Contribution> parts, Scheduler &scheduler);

  const Contribution &result() const { return sum; }

private:
  struct BlockMemory {
    AlignedBuffer values, rows, gradients, partGradients, partRows;
    KeyIndex index;
  };
  void sumDense(const GradientBlock &block, int64_t blockIndex,
                std::span<const Contribution *const> parts,
                Scheduler &scheduler);
  Status sumRows(const GradientBlock &block, int64_t blockIndex,
                 std::span<const Contribution *const> parts,
                 Scheduler &scheduler);

  Contribution sum;
  std::vector<BlockMemory> memory;
  std::vector<const Contribution *> present;
  std::vector<const int64_t *> keyLists;
  std::vector<int64_t> keyCounts;
};

/// Sums over groups. A process gives what its own groups contribute and gets
/// the sum over all groups of the job; blocks that are updated elsewhere come
/// back empty (null `dense`, no keys), and the step then applies nothing to
/// them. Not thread-safe: one step at a time.
class Communicator {
public:
  virtual ~Communicator();

  /// Groups of the whole job, and those of this process.
  virtual int groupCount() const = 0;
  virtual int localGroupCount() const = 0;

  /// One round. `groups`: one contribution for each local group, in order, each
  /// the sum of its workers. `sum` stays valid until the next call.
  virtual Expected<const Contribution *>
  exchange(std::span<const GradientBlock> blocks,
           std::span<const Contribution> groups) = 0;
};

/// All groups live in this process. `scheduler` outlives the communicator.
std::unique_ptr<Communicator> createLocalCommunicator(int groupCount,
                                                      Scheduler &scheduler);

} // namespace pdlrt

#endif // PDLRT_COMM_COMMUNICATOR_H
