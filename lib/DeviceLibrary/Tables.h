//===- Tables.h - Common code of table kernels ------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DEVICELIBRARY_TABLES_H
#define LIB_DEVICELIBRARY_TABLES_H

#include "Turns.h"
#include "pdlabi/abi/codes.h"

#include "pdlabi/rounding.h"
#include "pdlabi/table.h"

#include <cstdint>

namespace pdldevice {

/// Returns the row with an existing number.
inline char *rowAt(const pdl_device_table &table, uint32_t number) {
  const uint32_t rows = table.places.rowsOfRegion;
  const uint32_t region = number / rows;
  return table.regions[region] + table.places.offsetOf(number - region * rows);
}

/// Returns the stored form of a value in a table with 16-bit storage.
inline uint16_t storedBits(int64_t storage, float value) {
  return storage == PDL_STORE_BF16 ? pdlabi::BFloat16(value).bits
                                   : pdlabi::Float16(value).bits;
}
inline float widen(int64_t storage, uint16_t bits) {
  pdlabi::BFloat16 upper;
  pdlabi::Float16 half;
  upper.bits = half.bits = bits;
  return storage == PDL_STORE_BF16 ? float(upper) : float(half);
}

inline int64_t slotAfter(int64_t slot, int64_t slots) {
  return slot + 1 < slots ? slot + 1 : 0;
}

/// Adds a new key to the index, with row `number` - 1. Other threads may insert
/// other keys concurrently. No thread may search for keys at the same time.
inline void insertKey(const pdl_device_table &table, int64_t key,
                      uint32_t number) {
  const int64_t slots = table.slots;
  int64_t *keys = table.keys;
  int64_t slot = slots;
  if (key != 0) {
    slot = pdlabi::homeSlotOf(key, slots);
    for (;;) {
      // Read the slot before trying to swap: most slots that are in use were
      // already used before this launch, and reading costs less than a swap.
      int64_t there = __atomic_load_n(keys + slot, __ATOMIC_RELAXED);
      if (there == 0 &&
          __atomic_compare_exchange_n(keys + slot, &there, key, /*weak=*/false,
                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        break;
      slot = slotAfter(slot, slots);
    }
  }
  table.numbers[slot] = number;
}

} // namespace pdldevice

#endif // LIB_DEVICELIBRARY_TABLES_H
