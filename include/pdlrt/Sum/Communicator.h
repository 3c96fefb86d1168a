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

#ifndef PDLRT_SUM_COMMUNICATOR_H
#define PDLRT_SUM_COMMUNICATOR_H

#include "pdlrt/Core/Status.h"
#include "pdlrt/Sched/Scheduler.h"
#include "pdlrt/Sum/Contribution.h"

#include <memory>
#include <span>

namespace pdlrt {

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

#endif // PDLRT_SUM_COMMUNICATOR_H
