//===- table.h - Rows and tables, as host and device know them --*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is noted of a row, where rows stand in memory, and what the kernels of a
// table whose keys and rows are in the memory of a device know of it
// (pdlabi/device.h). Nothing here allocates.
//
// The index of such a table has open addressing. A slot holds a key and the
// number of its row. A key stands in the first slot from its home on that was
// free when it came, so that a search ends at a free slot. All keys are legal:
// a free slot has key 0, and the row of key 0 has a place of its own behind the
// last slot. So a search looks at keys alone, and at one number when it is
// over; and who takes a slot needs one compare-and-swap of its key, as nobody
// searches while keys are inserted.
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_TABLE_H
#define PDLABI_TABLE_H

#include "pdlabi/abi.h"
#include "pdlabi/hash.h"
#include "pdlabi/kernels.h"
#include "pdlabi/rounding.h"

#include <cstddef>
#include <cstdint>

namespace pdlabi {

//===----------------------------------------------------------------------===//
// Headers
//===----------------------------------------------------------------------===//

/// The bits of a row's header: uses, one bit whether it is dirty, the time of
/// the last use.
struct HeaderBits {
  /// Uses are counted up to here.
  static constexpr uint32_t mostUses = 0xffff;
  static constexpr uint32_t dirty = mostUses + 1;
  /// Times are numbers of this many bits, and go on from zero behind the last
  /// one.
  static constexpr int timeBits = 15, timeShift = 17;
  static constexpr uint32_t timeMask = (1u << timeBits) - 1;

  static uint32_t ofNew(uint32_t time) {
    return dirty | (time & timeMask) << timeShift;
  }
  static uint32_t afterUpdate(uint32_t bits, uint32_t time) {
    const uint32_t before = bits & mostUses;
    return (before < mostUses ? before + 1 : mostUses) | ofNew(time);
  }
};

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// Where rows stand in a region, behind their headers, of which the first one
/// begins it.
struct RowPlaces {
  /// An offset times `inverse`, 2^40 by the stride rounded up, has the row's
  /// number above this: offsets are whole multiples, and far below 2^40 bytes.
  static constexpr int inverseBits = 40;

  uint64_t stride, firstRow;
  /// Regions begin at multiples of this and one, unless one row fills them.
  uint64_t offsetMask;
  uint64_t inverse;
  uint32_t rowsOfRegion;

  uint64_t offsetOf(uint32_t row) const { return firstRow + row * stride; }
  /// The header of a row of some region.
  uint32_t *headerOf(void *row) const {
    char *first = static_cast<char *>(row) - firstRow;
    const uint64_t offset = reinterpret_cast<uintptr_t>(first) & offsetMask;
    return reinterpret_cast<uint32_t *>(first - offset) +
           (offset * inverse >> inverseBits);
  }
};

//===----------------------------------------------------------------------===//
// Kernels of a table
//===----------------------------------------------------------------------===//

/// Keys, or rows, that one turn looks at where new rows get their numbers.
inline constexpr int64_t keysOfTableChunk = 128;

/// Neighbouring elements of a row that one turn makes: a block of Philox.
inline constexpr int64_t elementsOfTablePart = 4;

/// What a note in headers is of (`table_note`).
enum TableEvent : int64_t {
  TableUpdated = 0, ///< a step used the row
  TableWritten = 1, ///< it was written without being used
  TableSaved = 2    ///< what was written is kept elsewhere
};

enum class TableKernel {
  Find,
  Count,
  Place,
  Insert,
  Gather,
  Rehash,
  List,
  Read,
  Write,
  Keys,
  Mark,
  Spread,
  Widen,
  Round,
  Note
};

/// All of them, by TableKernel.
inline constexpr KernelSignature tableKernels[] = {
    {"table_find", false, "rnrw"},       {"table_count", false, "nrw"},
    {"table_place", false, "rnrrwww"},   {"table_insert", true, "rnnrrrnn"},
    {"table_gather", true, "rnnrrnnnw"}, {"table_rehash", false, "rnrr"},
    {"table_list", false, "rnnnww"},     {"table_read", false, "nnrw"},
    {"table_write", false, "nnrr"},      {"table_keys", false, "rnw"},
    {"table_mark", false, "rnrw"},       {"table_spread", true, "rnnnrrww"},
    {"table_widen", false, "rnnrww"},    {"table_round", false, "rnnnnrrrw"},
    {"table_note", false, "rnrnn"},
};

/// How many parts of `elementsOfTablePart` a row has: those of its value, of
/// each slot, and of all row slots together; at least one.
inline int64_t partsOfTableRow(int64_t width, int64_t slots, int64_t rowSlots) {
  const auto parts = [](int64_t elements) {
    return (elements + elementsOfTablePart - 1) / elementsOfTablePart;
  };
  const int64_t sum = parts(width) * (1 + slots - rowSlots) + parts(rowSlots);
  return sum > 0 ? sum : 1;
}

/// How many parts of `elementsOfRoundingBlock` a row of `elements` elements
/// has, of which `width` are rounded: those of its value, and of all else
/// together.
inline int64_t partsOfWideRow(int64_t width, int64_t elements) {
  constexpr int64_t size = elementsOfRoundingBlock;
  return (width + size - 1) / size + (elements - width + size - 1) / size;
}

/// Where the search for a key begins: the bits of a mixed key below those of
/// its logical shard, as a table may have few of the shards.
inline int64_t homeSlotOf(int64_t key, int64_t slots) {
  const uint64_t bits = mixKey(static_cast<uint64_t>(key)) << 10;
  const auto product =
      static_cast<unsigned __int128>(bits) * static_cast<uint64_t>(slots);
  return static_cast<int64_t>(static_cast<uint64_t>(product >> 64));
}

} // namespace pdlabi

/// What kernels know of a table. It is in the memory of the device; the host
/// writes it while no kernel runs that reads it. What it points to is memory of
/// the device too.
struct pdl_device_table {
  /// Of the index; at least one of them is free.
  int64_t slots;
  /// [slots + 1]; 0: the slot is free. The last one is none.
  int64_t *keys;
  /// [slots + 1]: 1 + the number of the slot's row; where the slot is free, 0.
  /// The last one is that of key 0.
  uint32_t *numbers;
  /// Row n is row n % rowsOfRegion of region n / rowsOfRegion.
  char *const *regions;
  pdlabi::RowPlaces places;

  uint64_t seed, id;
  pdl_initializer initializer;
  int32_t storage;     // pdl_storage of values
  int64_t width;       // elements of a value, and of a slot that is no row slot
  int64_t value_bytes; // to where slots begin
  int64_t slot_count;
  int64_t row_slot_count;    // the last ones of the slots: one element each
  int64_t frozen_part;       // pdl_symbol::frozen_part
  const double *slot_values; // [slot_count]: what they begin as
};

#endif // PDLABI_TABLE_H
