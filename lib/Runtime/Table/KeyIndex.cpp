//===- KeyIndex.cpp - Deduplication of a batch's keys ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Table/KeyIndex.h"

#include "pdlabi/hash.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

using namespace pdlrt;

void KeyIndex::growTable(int64_t occurrences) {
  // At most half full, for any number of distinct keys.
  uint64_t wanted = std::bit_ceil(std::max<uint64_t>(64, 2 * occurrences));
  if (wanted <= tableSize && epoch != std::numeric_limits<uint32_t>::max())
    return;
  tableSize = std::max(wanted, tableSize);
  std::memset(table.reserve(tableSize * sizeof(Entry)), 0,
              tableSize * sizeof(Entry));
  epoch = 0;
}

Status KeyIndex::assign(int32_t inputCount, const int64_t *const *ids,
                        const int64_t *counts) {
  distinct = total = 0;
  int64_t sum = 0;
  for (int32_t i = 0; i < inputCount; ++i) {
    if (counts[i] < 0)
      return Status::internal("a lookup has an input with a negative size");
    // Checked after each input, so that the sum cannot overflow.
    if (counts[i] > std::numeric_limits<int32_t>::max() - sum)
      return Status::invalidArgument(
          "a batch holds 2^31 ids or more for one lookup; "
          "use smaller batches (a trainer's "
          "--batch-size)");
    sum += counts[i];
  }
  growTable(sum);
  int64_t *keys = keyBuffer.reserveFor<int64_t>(sum);
  int32_t *inverse = inverseBuffer.reserveFor<int32_t>(sum);
  int32_t *splits = splitBuffer.reserveFor<int32_t>(sum + 1);
  int32_t *occurrences = occurrenceBuffer.reserveFor<int32_t>(sum);
  auto *entries = static_cast<Entry *>(table.data());
  const uint64_t mask = tableSize - 1;
  ++epoch;

  // splits[u + 1] is first used to count the occurrences of key u.
  splits[0] = 0;
  constexpr int64_t ahead = 16;
  for (int32_t input = 0; input < inputCount; ++input) {
    const int64_t *source = ids[input];
    const int64_t count = counts[input];
    for (int64_t i = 0; i < count; ++i) {
      if (i + ahead < count)
        __builtin_prefetch(&entries[pdlabi::mixKey(source[i + ahead]) & mask],
                           1);
      const int64_t key = source[i];
      uint64_t position = pdlabi::mixKey(key) & mask;
      while (entries[position].epoch == epoch && entries[position].key != key)
        position = (position + 1) & mask;
      Entry &entry = entries[position];
      if (entry.epoch != epoch) {
        entry = {key, epoch, int32_t(distinct)};
        keys[distinct] = key;
        splits[++distinct] = 0;
      }
      inverse[total++] = entry.index;
      ++splits[entry.index + 1];
    }
  }
  for (int64_t u = 0; u < distinct; ++u)
    splits[u + 1] += splits[u];
  // Filling a group of occurrences advances its entry of `splits` from the
  // start of the group to its end, which is the start of the next group.
  // Afterwards a shift by one entry restores the starts.
  for (int64_t o = 0; o < total; ++o)
    occurrences[splits[inverse[o]]++] = int32_t(o);
  for (int64_t u = distinct; u > 0; --u)
    splits[u] = splits[u - 1];
  splits[0] = 0;
  return {};
}

/// Returns true if `index` was made from the ids `ids`, in this order.
static bool isOf(const KeyIndex &index, int32_t inputCount,
                 const int64_t *const *ids, const int64_t *counts) {
  const int64_t *keys = index.keys();
  const int32_t *inverse = index.inverse();
  int64_t left = index.occurrenceCount();
  for (int32_t input = 0; input < inputCount; ++input) {
    if (counts[input] < 0 || counts[input] > left)
      return false;
    for (int64_t i = 0; i < counts[input]; ++i)
      if (keys[inverse[i]] != ids[input][i])
        return false;
    inverse += counts[input];
    left -= counts[input];
  }
  return left == 0;
}

bool KeyIndex::assignLike(const KeyIndex &other, int32_t inputCount,
                          const int64_t *const *ids, const int64_t *counts) {
  distinct = total = 0;
  if (!other.splits() || !isOf(other, inputCount, ids, counts))
    return false;
  const auto copy = [](AlignedBuffer &to, const AlignedBuffer &from,
                       size_t bytes) {
    if (void *into = to.reserve(bytes); bytes > 0)
      std::memcpy(into, from.data(), bytes);
  };
  copy(keyBuffer, other.keyBuffer, other.distinct * sizeof(int64_t));
  copy(inverseBuffer, other.inverseBuffer, other.total * sizeof(int32_t));
  copy(splitBuffer, other.splitBuffer, (other.distinct + 1) * sizeof(int32_t));
  copy(occurrenceBuffer, other.occurrenceBuffer, other.total * sizeof(int32_t));
  distinct = other.distinct;
  total = other.total;
  return true;
}
