//===- TableIndex.cpp - Keys to rows on a device --------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tables.h"
#include "Turns.h"

#include "pdlabi/device.h"

using namespace pdldevice;

namespace {

/// Returns 1 + the number of a key's row; 0: it has none.
inline uint32_t numberOf(const pdl_device_table &table, int64_t key) {
  const int64_t slots = table.slots;
  const int64_t *keys = table.keys;
  if (key == 0)
    return table.numbers[slots];
  int64_t slot = pdlabi::homeSlotOf(key, slots);
  for (;;) {
    const int64_t there = keys[slot];
    if (there == key)
      return table.numbers[slot];
    if (there == 0)
      return 0;
    slot = slotAfter(slot, slots);
  }
}

} // namespace

int64_t pdldevice_table_find_turns(const pdl_device_table *, int64_t count,
                                   const int64_t *, void **) {
  return count;
}

void pdldevice_table_find(const pdl_device_table *table, int64_t count,
                          const int64_t *keys, void **rows, int64_t first,
                          int64_t stride) {
  forTurns(count, first, stride, [&](int64_t i) {
    const uint32_t number = numberOf(*table, keys[i]);
    rows[i] = number > 0 ? rowAt(*table, number - 1) : nullptr;
  });
}

//===----------------------------------------------------------------------===//
// New rows
//===----------------------------------------------------------------------===//

int64_t pdldevice_table_count_turns(int64_t count, void *const *, int32_t *) {
  return partsOf(count, pdlabi::keysOfTableChunk);
}

void pdldevice_table_count(int64_t count, void *const *rows, int32_t *counts,
                           int64_t first, int64_t stride) {
  const int64_t turns = pdldevice_table_count_turns(count, rows, counts);
  forTurns(turns, first, stride, [&](int64_t chunk) {
    const int64_t begin = chunk * pdlabi::keysOfTableChunk;
    const int64_t end = smaller(begin + pdlabi::keysOfTableChunk, count);
    int32_t missing = 0;
    for (int64_t i = begin; i < end; ++i)
      missing += rows[i] == nullptr;
    counts[chunk] = missing;
  });
}

int64_t pdldevice_table_place_turns(const pdl_device_table *, int64_t count,
                                    const int32_t *, const int64_t *, int64_t *,
                                    void **, uint32_t *) {
  return partsOf(count, pdlabi::keysOfTableChunk);
}

// Each iteration adds up the counts of the chunks before its own. This is
// cheap, because a batch has at most some thousand chunks.
void pdldevice_table_place(const pdl_device_table *table, int64_t count,
                           const int32_t *counts, const int64_t *used,
                           int64_t *next, void **rows, uint32_t *numbers,
                           int64_t first, int64_t stride) {
  const int64_t turns = pdldevice_table_place_turns(table, count, counts, used,
                                                    next, rows, numbers);
  forTurns(turns, first, stride, [&](int64_t chunk) {
    int64_t before = 0;
    for (int64_t c = 0; c < chunk; ++c)
      before += counts[c];
    int64_t free = *used + before;
    if (chunk == turns - 1)
      *next = free + counts[chunk];
    const int64_t begin = chunk * pdlabi::keysOfTableChunk;
    const int64_t end = smaller(begin + pdlabi::keysOfTableChunk, count);
    for (int64_t i = begin; i < end; ++i) {
      uint32_t number = 0;
      if (!rows[i]) {
        rows[i] = rowAt(*table, static_cast<uint32_t>(free));
        number = static_cast<uint32_t>(++free);
      }
      numbers[i] = number;
    }
  });
}

//===----------------------------------------------------------------------===//
// The whole index
//===----------------------------------------------------------------------===//

int64_t pdldevice_table_rehash_turns(const pdl_device_table *, int64_t slots,
                                     const int64_t *, const uint32_t *) {
  return slots + 1;
}

void pdldevice_table_rehash(const pdl_device_table *table, int64_t slots,
                            const int64_t *keys, const uint32_t *numbers,
                            int64_t first, int64_t stride) {
  forTurns(slots + 1, first, stride, [&](int64_t slot) {
    const uint32_t number = numbers[slot];
    if (number > 0)
      insertKey(*table, slot < slots ? keys[slot] : 0, number);
  });
}

int64_t pdldevice_table_list_turns(const pdl_device_table *, int64_t,
                                   int64_t count, int64_t, int64_t *, void **) {
  return count;
}

void pdldevice_table_list(const pdl_device_table *table, int64_t firstSlot,
                          int64_t count, int64_t onlyDirty, int64_t *keys,
                          void **rows, int64_t first, int64_t stride) {
  const int64_t slots = table->slots;
  forTurns(count, first, stride, [&](int64_t i) {
    const int64_t slot = firstSlot + i;
    const uint32_t number = table->numbers[slot];
    char *row = number > 0 ? rowAt(*table, number - 1) : nullptr;
    if (row && onlyDirty &&
        !(*table->places.headerOf(row) & pdlabi::HeaderBits::dirty))
      row = nullptr;
    keys[i] = slot < slots ? table->keys[slot] : 0;
    rows[i] = row;
  });
}

int64_t pdldevice_table_keys_turns(const pdl_device_table *, int64_t slots,
                                   int64_t *) {
  return slots + 1;
}

void pdldevice_table_keys(const pdl_device_table *table, int64_t slots,
                          int64_t *keys, int64_t first, int64_t stride) {
  forTurns(slots + 1, first, stride, [&](int64_t slot) {
    const uint32_t number = table->numbers[slot];
    if (number > 0)
      keys[number - 1] = slot < slots ? table->keys[slot] : 0;
  });
}

int64_t pdldevice_table_mark_turns(const pdl_device_table *, int64_t count,
                                   const int64_t *, uint32_t *) {
  return count;
}

void pdldevice_table_mark(const pdl_device_table *table, int64_t count,
                          const int64_t *keys, uint32_t *marks, int64_t first,
                          int64_t stride) {
  forTurns(count, first, stride, [&](int64_t i) {
    const uint32_t number = numberOf(*table, keys[i]);
    if (number > 0)
      marks[number - 1] = static_cast<uint32_t>(i + 1);
  });
}
