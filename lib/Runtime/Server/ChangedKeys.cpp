//===- ChangedKeys.cpp - Changed keys of a table, by time -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Server/ChangedKeys.h"

#include "pdlabi/hash.h"

#include <algorithm>
#include <utility>

using namespace pdlrt;

/// Sorts keys into the order of KEYS sections and removes duplicates.
static void sortOnce(std::vector<int64_t> &keys) {
  std::vector<std::pair<int, int64_t>> placed;
  placed.reserve(keys.size());
  for (const int64_t key : keys)
    placed.emplace_back(pdlabi::shardOfKey(key), key);
  std::sort(placed.begin(), placed.end());
  placed.erase(std::unique(placed.begin(), placed.end()), placed.end());
  keys.resize(placed.size());
  for (size_t i = 0; i < placed.size(); ++i)
    keys[i] = placed[i].second;
}

void ChangedKeys::note(uint64_t time, std::span<const int64_t> keys) {
  if (keys.empty())
    return;
  parts.push_back({time, {keys.begin(), keys.end()}});
  kept += keys.size();
}

std::vector<int64_t> ChangedKeys::since(uint64_t time) const {
  std::vector<int64_t> keys;
  for (const Part &part : parts)
    if (part.time > time)
      keys.insert(keys.end(), part.keys.begin(), part.keys.end());
  sortOnce(keys);
  return keys;
}

void ChangedKeys::forget(std::span<const uint64_t> seen) {
  const uint64_t all = *std::min_element(seen.begin(), seen.end());
  while (!parts.empty() && parts.front().time <= all) {
    kept -= parts.front().keys.size();
    parts.pop_front();
  }
  // One reader may be much slower than the others.
  if (kept > joinAt) {
    join(seen);
    joinAt = std::max(size_t(1) << 16, 2 * kept);
  }
}

void ChangedKeys::join(std::span<const uint64_t> seen) {
  std::deque<Part> joined;
  for (Part &part : parts) {
    const bool isParted =
        joined.empty() ||
        std::any_of(seen.begin(), seen.end(), [&](uint64_t time) {
          return joined.back().time <= time && time < part.time;
        });
    if (isParted) {
      joined.push_back(std::move(part));
      continue;
    }
    Part &last = joined.back();
    last.time = part.time;
    last.keys.insert(last.keys.end(), part.keys.begin(), part.keys.end());
  }
  parts = std::move(joined);
  kept = 0;
  for (Part &part : parts) {
    sortOnce(part.keys);
    kept += part.keys.size();
  }
}
