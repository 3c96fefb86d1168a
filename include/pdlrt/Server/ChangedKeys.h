//===- ChangedKeys.h - Changed keys of a table, by time ---------*- C++ -*-===//
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

/// Stores the changed keys of a table with the time of each change, until all
/// readers have received them. In mode geo, the readers are the trainers. Not
/// thread-safe.
class ChangedKeys {
public:
  /// Records that `keys`, which are distinct, changed at `time`. Times must
  /// ascend from call to call. Throws std::bad_alloc.
  void note(uint64_t time, std::span<const int64_t> keys);
  /// Returns the keys that changed after `time`, each once, in the order of
  /// KEYS sections: by (shard, key). Throws std::bad_alloc.
  std::vector<int64_t> since(uint64_t time) const;
  /// Drops changes that all readers have received. `seen` has, for each reader,
  /// the time up to which it has received them. If many keys remain, removes
  /// duplicates, so that at most one entry per key and reader remains. Throws
  /// std::bad_alloc.
  void forget(std::span<const uint64_t> seen);
  /// Returns the number of stored entries. A key can have several.
  size_t size() const { return kept; }

private:
  /// Keys that changed at `time`. If parts were joined, keys that changed after
  /// the time of the previous part, up to `time`. Parts are joined only if no
  /// reader has received some of their changes and not the others.
  struct Part {
    uint64_t time;
    std::vector<int64_t> keys;
  };
  void join(std::span<const uint64_t> seen);

  std::deque<Part> parts;
  size_t kept = 0;
  /// Number of entries above which parts are joined.
  size_t joinAt = size_t(1) << 16;
};

} // namespace pdlrt

#endif // PDLRT_SERVER_CHANGEDKEYS_H
