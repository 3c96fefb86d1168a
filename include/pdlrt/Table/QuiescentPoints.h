//===- QuiescentPoints.h - When erased rows are nobody's --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where steps of several workers overlap, no moment is the end of a step for
// all. What a table needs (`EmbeddingTable::quiesce`) is less: that each worker
// has ended one since the last point. This is reclamation by epochs (Fraser,
// "Practical lock-freedom", 2004).
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TABLE_QUIESCENTPOINTS_H
#define PDLRT_TABLE_QUIESCENTPOINTS_H

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <vector>

namespace pdlrt {

/// Thread-safe.
class QuiescentPoints {
public:
  /// Of so many workers, all of which rest.
  explicit QuiescentPoints(size_t workers = 0)
      : states(workers, State::Rests) {}

  /// One more worker; returns its number. Throws std::bad_alloc.
  size_t add() {
    const std::lock_guard lock(mutex);
    states.push_back(State::Rests);
    return states.size() - 1;
  }

  /// A worker uses no rows any more that it found before its last call. Whether
  /// all have come since the last point: then the caller makes the next one.
  bool pass(size_t worker) { return note(worker, State::Passed); }
  /// As `pass`; and it finds none before it calls `pass` again.
  bool rest(size_t worker) { return note(worker, State::Rests); }

private:
  enum class State : char { Holds, Passed, Rests };

  bool note(size_t worker, State state) {
    const std::lock_guard lock(mutex);
    states[worker] = state;
    if (std::ranges::find(states, State::Holds) != states.end())
      return false;
    std::ranges::replace(states, State::Passed, State::Holds);
    return true;
  }

  std::mutex mutex;
  std::vector<State> states;
};

} // namespace pdlrt

#endif // PDLRT_TABLE_QUIESCENTPOINTS_H
