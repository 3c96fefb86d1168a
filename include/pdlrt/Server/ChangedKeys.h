//===- ChangedKeys.h - Which keys were changed when -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_SERVER_CHANGEDKEYS_H
#define PDLRT_SERVER_CHANGEDKEYS_H

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace pdlrt {

/// The keys of a table that were changed, by the time at which they were: what
/// some reader has yet to be told. Not thread-safe.
class ChangedKeys {
public:
  /// `keys`, distinct, were changed at `time`, which ascends from call to call.
  /// Throws std::bad_alloc.
  void note(uint64_t time, std::span<const int64_t> keys);
  /// The keys that were changed behind `time`, each once, in the order of KEYS
  /// sections: by (shard, key). Throws std::bad_alloc.
  std::vector<int64_t> since(uint64_t time) const;
  /// Readers have been told what was changed up to `seen`, one number each:
  /// forgets what all know, and keeps of the rest each key once for each reader
  /// at most. Throws std::bad_alloc.
  void forget(std::span<const uint64_t> seen);
  /// How many keys are kept, one that is there twice counted twice.
  size_t size() const { return kept; }

private:
  /// What was changed at `time`, or, where it was joined, at a time up to then
  /// and behind that of the part before, between which no reader stands.
  struct Part {
    uint64_t time;
    std::vector<int64_t> keys;
  };
  void join(std::span<const uint64_t> seen);

  std::deque<Part> parts;
  size_t kept = 0;
  /// Parts are joined when there are more keys.
  size_t joinAt = size_t(1) << 16;
};

} // namespace pdlrt

#endif // PDLRT_SERVER_CHANGEDKEYS_H
