//===- table.h - Rows and tables on host and device -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The header of a row, the layout of rows in memory, and the description of a
// table in device memory for its kernels (pdlabi/device.h). No function
// allocates memory.
//
// The index of a table in device memory is a hash table with open addressing. A
// slot of the index has a key and the number of its row. A key is in the first
// slot, beginning with its home slot, that was free when the key was inserted.
// So a search ends at the key or at a free slot. A free slot has key 0; the row
// of key 0 has a separate entry after the last slot, so all keys are allowed. A
// search reads only keys, and at its end one row number. No search runs while
// keys are inserted, so an insertion is one compare-and-swap of the key in a
// slot.
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_TABLE_H
#define PDLABI_TABLE_H

#include "pdlabi/abi/symbols.h"
#include "pdlabi/hash.h"
#include "pdlabi/kernels.h"
#include "pdlabi/rounding.h"

#include <cstddef>
#include <cstdint>

namespace pdlabi {

//===----------------------------------------------------------------------===//
// Headers
//===----------------------------------------------------------------------===//

/// Format of a row's header: the number of uses, a dirty bit, and the time of
/// the last use. A row is dirty if it may have changed since it was saved.
struct HeaderBits {
  /// Maximum number of uses that is counted.
  static constexpr uint32_t maxUses = 0xffff;
  static constexpr uint32_t dirty = maxUses + 1;
  /// `timeBits`: number of bits of a time; times wrap around to zero.
  /// `timeShift`: position of the lowest bit of the time.
  static constexpr int timeBits = 15, timeShift = 17;
  static constexpr uint32_t timeMask = (1u << timeBits) - 1;

  static uint32_t ofNew(uint32_t time) {
    return dirty | (time & timeMask) << timeShift;
  }
  static uint32_t afterUpdate(uint32_t bits, uint32_t time) {
    const uint32_t before = bits & maxUses;
    return (before < maxUses ? before + 1 : maxUses) | ofNew(time);
  }
};

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// Positions of rows and headers in a region of memory. A region starts with
/// the headers of its rows.
struct RowPlaces {
  /// Replaces the division of a row's offset by the stride: offset * `inverse`
  /// >> `inverseBits` is the row's number, where `inverse` is 2^40 divided by
  /// the stride, rounded up. This is exact because offsets are multiples of the
  /// stride, and far less than 2^40.
  static constexpr int inverseBits = 40;

  uint64_t stride, firstRow;
  /// Size of a region minus 1. Regions begin at multiples of their size, except
  /// if a region has only one row.
  uint64_t offsetMask;
  uint64_t inverse;
  uint32_t rowsOfRegion;

  uint64_t offsetOf(uint32_t row) const { return firstRow + row * stride; }
  /// Returns the header of the row at the address `row`.
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

/// Number of keys that one iteration of the kernels `count` and `place`
/// handles: the size of a chunk.
inline constexpr int64_t keysOfTableChunk = 128;

/// Number of consecutive elements of a row that one iteration of the kernel
/// `insert` initializes: the elements of one Philox block.
inline constexpr int64_t elementsOfTablePart = 4;

/// Event that the kernel `table_note` records in the headers of rows.
enum TableEvent : int64_t {
  TableUpdated = 0, ///< a step used the row
  TableWritten = 1, ///< the row was written without being used
  TableSaved = 2    ///< the row's current content has been saved
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

/// Signatures of the kernels, by TableKernel.
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

/// Returns the number of parts into which the kernel `insert` divides a row; at
/// least one. A part has up to `elementsOfTablePart` elements of the value, of
/// one slot, or of all row slots together.
inline int64_t partsOfTableRow(int64_t width, int64_t slots, int64_t rowSlots) {
  const auto parts = [](int64_t elements) {
    return (elements + elementsOfTablePart - 1) / elementsOfTablePart;
  };
  const int64_t sum = parts(width) * (1 + slots - rowSlots) + parts(rowSlots);
  return sum > 0 ? sum : 1;
}

/// Returns the number of parts into which the kernel `round` divides a row with
/// `elements` elements, of which the first `width` are rounded. A part has up
/// to `elementsOfRoundingBlock` elements, of the value or of the rest.
inline int64_t partsOfWideRow(int64_t width, int64_t elements) {
  constexpr int64_t size = elementsOfRoundingBlock;
  return (width + size - 1) / size + (elements - width + size - 1) / size;
}

/// Returns the home slot of a key: the slot where a search starts. It depends
/// on the bits of the mixed key below those of the logical shard, because a
/// table may have only a few of the shards.
inline int64_t homeSlotOf(int64_t key, int64_t slots) {
  const uint64_t bits = mixKey(static_cast<uint64_t>(key)) << 10;
  const auto product =
      static_cast<unsigned __int128>(bits) * static_cast<uint64_t>(slots);
  return static_cast<int64_t>(static_cast<uint64_t>(product >> 64));
}

} // namespace pdlabi

/// Description of a table for kernels. It is in device memory, and so is the
/// memory to which it points. The host writes it only while no kernel that
/// reads it is running.
struct pdl_device_table {
  /// Number of slots of the index; at least one of them is free.
  int64_t slots;
  /// [slots + 1]: the key of each slot; 0: the slot is free. The last entry is
  /// not used.
  int64_t *keys;
  /// [slots + 1]: 1 + the row number of the slot's key; 0 if the slot is free.
  /// The last entry is that of key 0.
  uint32_t *numbers;
  /// Addresses of the regions. Row n of the table is row n % rowsOfRegion of
  /// region n / rowsOfRegion.
  char *const *regions;
  pdlabi::RowPlaces places;

  uint64_t seed, id;
  pdl_initializer initializer;
  int32_t storage;     // pdl_storage of values
  int64_t width;       // elements of a value, and of a slot that is no row slot
  int64_t value_bytes; // offset of the slots
  int64_t slot_count;
  int64_t row_slot_count;    // the last slots, with one element each
  int64_t frozen_part;       // pdl_symbol::frozen_part
  const double *slot_values; // [slot_count]: their initial values
};

#endif // PDLABI_TABLE_H
