//===- QuiescentPoints.h - When erased rows are nobody's --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where steps of several workers overlap, no moment is the end of a step for
// all. What a table needs (`EmbeddingTable::quiesce`) is less: that nobody uses
// what was found before the point before. This is reclamation by epochs
// (Fraser, "Practical lock-freedom", 2004).
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TABLE_QUIESCENTPOINTS_H
#define PDLRT_TABLE_QUIESCENTPOINTS_H

#include <cstddef>
#include <mutex>
#include <vector>

namespace pdlrt {

/// Makes a point when each worker has ended two steps since the last one: what
/// it found before that point it has used in the first of them, or, where it
/// prepares a batch ahead, in the second. Thread-safe.
class QuiescentPoints {
public:
  /// Of so many workers, all of which rest.
  explicit QuiescentPoints(size_t workers = 0)
      : passes(workers, {0, /*rests=*/true}) {}

  /// One more worker, which rests; returns its number. Throws std::bad_alloc.
  size_t add() {
    const std::lock_guard lock(mutex);
    passes.push_back({0, /*rests=*/true});
    return passes.size() - 1;
  }

  /// A worker uses nothing any more that it found before its call before this
  /// one. `rests`: it uses nothing at all, and finds nothing before it calls
  /// again. Calls `makePoint` where this ends the wait for all; nobody passes
  /// meanwhile, so that no pass counts for two points.
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
