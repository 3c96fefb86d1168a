//===- StepRows.h - Keys and rows of a step from servers --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ENGINE_STEPROWS_H
#define PDLRT_ENGINE_STEPROWS_H

#include "pdlrt/Core/AlignedBuffer.h"
#include "pdlrt/Engine/RemoteState.h"
#include "pdlrt/Engine/ReplicaSet.h"
#include "pdlrt/Table/KeyIndex.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace pdlrt {

/// The distinct keys that replicas of a process look up in one step, and the
/// rows that servers send for them, by lookup of the program.
class StepRows {
public:
  /// Collects the keys of the batches that the replicas [first, first + count)
  /// have prepared last, in the order of replicas. Sets the row addresses of
  /// these batches' lookups to memory of this object. If `following`, uses the
  /// batches in the next contexts of the replicas' rings. Throws
  /// std::bad_alloc.
  Status gather(const pdl_descriptor &descriptor, const pdl_program &program,
                ReplicaSet &replicas, int first, int count,
                bool following = false);
  std::span<const RowRequest> requests() const { return rowRequests; }

private:
  struct Lookup {
    KeyIndex index;
    AlignedBuffer rows;
  };
  std::vector<std::unique_ptr<Lookup>> lookups;
  std::vector<RowRequest> rowRequests;
  std::vector<const int64_t *> keyLists;
  std::vector<int64_t> keyCounts;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_STEPROWS_H
