//===- QuiescentPoints.h - Reuse of the memory of erased rows ---*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A table reuses the memory of erased rows at quiescent points
// (`EmbeddingTable::quiesce`). With one worker, these are the ends of steps. If
// steps of several workers overlap, there is no time at which no step is in
// progress. But it is sufficient that pointers which were found before the
// previous point are not used any more. This is epoch-based reclamation
// (Fraser, "Practical lock-freedom", 2004).
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TABLE_QUIESCENTPOINTS_H
#define PDLRT_TABLE_QUIESCENTPOINTS_H

#include "pdlrt/Core/Mutex.h"

#include <cstddef>
#include <vector>

namespace pdlrt {

/// Makes a quiescent point each time that every worker has ended two steps
/// since the last point. A worker that prepares batches in advance uses
/// pointers of an earlier step in the next one, but not in later ones. So two
/// steps are enough. Thread-safe.
class QuiescentPoints {
public:
  /// Starts with `workers` workers, all of which are resting (see `pass`).
  explicit QuiescentPoints(size_t workers = 0)
      : passes(workers, {0, /*rests=*/true}) {}

  /// Adds a worker, which is resting. Returns its number. Throws
  /// std::bad_alloc.
  size_t add() {
    const MutexLock lock(mutex);
    passes.push_back({0, /*rests=*/true});
    return passes.size() - 1;
  }

  /// Reports that a worker has ended a step: it no longer uses pointers that it
  /// has found before its previous call. `rests` is true if it uses no pointers
  /// at all, and finds none before its next call. If each worker has ended two
  /// steps or is resting, calls `makePoint` while concurrent calls wait.
  template <typename Point>
  void pass(size_t worker, bool rests, Point &&makePoint) {
    const MutexLock lock(mutex);
    passes[worker].rests = rests;
    ++passes[worker].count;
    for (const Passes &each : passes)
      if (!each.rests && each.count < passesOfPoint)
        return;
    makePoint();
    for (Passes &each : passes)
      each.count = 0;
  }

private:
  static constexpr int passesOfPoint = 2;
  struct Passes {
    int count;
    bool rests;
  };

  Mutex mutex;
  std::vector<Passes> passes PDLRT_GUARDED_BY(mutex);
};

} // namespace pdlrt

#endif // PDLRT_TABLE_QUIESCENTPOINTS_H
