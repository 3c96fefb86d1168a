//===- BlockIndex.cpp - Keys to blocks of rows ----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Table/BlockIndex.h"

#include "Table/BucketIndex.h"

#include <algorithm>
#include <utility>

using namespace pdlrt;

/// Sets the size to `count` empty lines.
void BlockIndex::setSize(uint64_t count) {
  lines = std::vector<Line>(count);
  // Number of bits of a hash that its home does not determine.
  const uint64_t hashesOfLine = ((uint64_t(1) << hashBits) + count - 1) / count;
  const int restBits = std::bit_width(hashesOfLine - 1);
  blockBits = 32 - awayBits - restBits;
}

bool BlockIndex::put(uint32_t hash, uint32_t block) {
  if (block > blockMask())
    return false;
  const uint64_t home = homeOf(hash);
  const auto most = uint32_t(std::min<uint64_t>(maxAway, lines.size() - 1));
  for (uint32_t away = 0; away <= most; ++away) {
    Line &line = lines[lineAfter(home, away)];
    if (line.count == Line::places)
      continue;
    line.entries[line.count++] = nameOf(hash, home, away) | block;
    lines[home].farthest = std::max(lines[home].farthest, uint8_t(away));
    return true;
  }
  return false;
}

/// Grows to `count` lines. If the keys do not fit then, nothing changes.
void BlockIndex::growTo(uint64_t count) {
  BlockIndex grown;
  grown.setSize(count);
  grown.keyCount = keyCount;
  for (uint64_t at = 0; at < lines.size(); ++at) {
    const Line &line = lines[at];
    for (int place = 0; place < line.count; ++place) {
      const uint32_t entry = line.entries[place];
      const uint64_t away = entry >> (32 - awayBits);
      const uint64_t home = at >= away ? at - away : at + lines.size() - away;
      const uint64_t rest =
          (entry & ((uint64_t(1) << (32 - awayBits)) - 1)) >> blockBits;
      if (!grown.put(uint32_t(firstOf(home) + rest), entry & blockMask()))
        return;
    }
  }
  *this = std::move(grown);
}

void BlockIndex::insert(uint64_t mixed, uint32_t block, double phase) {
  // With a higher load than this, `put` would soon fail, because some line and
  // all lines that it may use instead are full.
  constexpr double maxLoad = 0.8;
  const uint32_t hash = hashOf(mixed);
  uint64_t count = lines.size();
  while (lines.empty() ||
         double(keyCount + 1) > double(lines.size()) * Line::places * maxLoad ||
         !put(hash, block)) {
    count = BucketIndex::grown(count, phase);
    growTo(count);
  }
  ++keyCount;
}

void BlockIndex::erase(uint64_t mixed, uint32_t block) {
  const uint32_t hash = hashOf(mixed);
  const uint64_t home = homeOf(hash);
  for (uint32_t away = 0; away <= lines[home].farthest; ++away) {
    Line &line = lines[lineAfter(home, away)];
    const unsigned same = line.find(nameOf(hash, home, away) | block, 0);
    if (!same)
      continue;
    // Equal entries are interchangeable.
    line.entries[std::countr_zero(same)] = line.entries[--line.count];
    --keyCount;
    return;
  }
}
