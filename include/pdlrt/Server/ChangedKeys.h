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

/// Changed keys of a table by time of change, for readers that have not been
/// told of them. Not thread-safe.
class ChangedKeys {
public:
  /// Records that `keys`, which are distinct, changed at `time`. Times must
  /// ascend from call to call. Throws std::bad_alloc.
  void note(uint64_t time, std::span<const int64_t> keys);
  /// Returns the keys that changed after `time`, each once, in the order of
  /// KEYS sections: by (shard, key). Throws std::bad_alloc.
  std::vector<int64_t> since(uint64_t time) const;
  /// Drops changes that all readers know. `seen` holds, for each reader, the
  /// time up to which it knows them. Of the rest, keeps each key at most once
  /// per reader. Throws std::bad_alloc.
  void forget(std::span<const uint64_t> seen);
  /// Returns the number of stored keys; a key that is stored twice counts
  /// twice.
  size_t size() const { return kept; }

private:
  /// Keys that changed at `time`. If parts were joined, keys that changed after
  /// the previous part's time and up to `time`; no reader is between these
  /// times.
  struct Part {
    uint64_t time;
    std::vector<int64_t> keys;
  };
  void join(std::span<const uint64_t> seen);

  std::deque<Part> parts;
  size_t kept = 0;
  /// Number of keys above which parts are joined.
  size_t joinAt = size_t(1) << 16;
};

} // namespace pdlrt

#endif // PDLRT_SERVER_CHANGEDKEYS_H
