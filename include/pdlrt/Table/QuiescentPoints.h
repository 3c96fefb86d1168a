//===- QuiescentPoints.h - Reuse of the memory of erased rows ---*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// If steps of several workers overlap, no time is the end of a step for all of
// them. A table needs less (`EmbeddingTable::quiesce`): pointers found before
// the previous point must not be used any more. This is epoch-based reclamation
// (Fraser, "Practical lock-freedom", 2004).
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TABLE_QUIESCENTPOINTS_H
#define PDLRT_TABLE_QUIESCENTPOINTS_H

#include <cstddef>
#include <mutex>
#include <vector>

namespace pdlrt {

/// Makes a point when each worker has ended two steps since the last one.
/// Pointers that a worker found before that point were used in the first of
/// these steps or, if it prepares a batch ahead, in the second. Thread-safe.
class QuiescentPoints {
public:
  /// Starts with `workers` workers, all of which rest.
  explicit QuiescentPoints(size_t workers = 0)
      : passes(workers, {0, /*rests=*/true}) {}

  /// Adds a worker, which rests. Returns its number. Throws std::bad_alloc.
  size_t add() {
    const std::lock_guard lock(mutex);
    passes.push_back({0, /*rests=*/true});
    return passes.size() - 1;
  }

  /// Reports that a worker no longer uses pointers that it found before its
  /// previous call. `rests`: it uses no pointers at all, and finds none before
  /// its next call. If all workers have now passed, calls `makePoint`;
  /// concurrent calls wait, so that no pass counts for two points.
  template <typename Point>
  void pass(size_t worker, bool rests, Point &&makePoint) {
    const std::lock_guard lock(mutex);
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

  std::mutex mutex;
  std::vector<Passes> passes;
};

} // namespace pdlrt

#endif // PDLRT_TABLE_QUIESCENTPOINTS_H
