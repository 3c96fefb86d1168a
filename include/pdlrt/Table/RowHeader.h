//===- RowHeader.h - What is noted of a row, and its name -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Admission, expiry and differences between checkpoints ask how often a row was
// used, when it was used last, and whether it was written. That stands in four
// bytes in front of the row. It is no state: no rule reads it, no checkpoint
// holds it, and a row that was loaded begins anew.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TABLE_ROWHEADER_H
#define PDLRT_TABLE_ROWHEADER_H

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace pdlrt {

/// The four bytes in front of a row. Pulls count uses, under the table's lock;
/// updates write when and that a row was written, without one: each has bytes
/// of its own, so that none is lost where they meet.
class RowHeader {
public:
  /// Uses are counted up to here.
  static constexpr uint32_t mostUses = 0xffff;
  /// Times are numbers of this many bits, and go on from zero behind the last
  /// one.
  static constexpr int timeBits = 15;
  static constexpr uint16_t timeMask = (1 << timeBits) - 1;

  static RowHeader &of(void *row) {
    return *(static_cast<RowHeader *>(row) - 1);
  }
  static const RowHeader &of(const void *row) {
    return *(static_cast<const RowHeader *>(row) - 1);
  }

  /// Of a row that is new at a time: not used, not written.
  void begin(uint16_t time) {
    set(useCount, 0);
    set(stamp, uint16_t(time << 1));
  }
  /// Counts uses. For one thread at a time.
  void addUses(uint32_t more) {
    const uint32_t before = uses();
    set(useCount, uint16_t(before + std::min(more, mostUses - before)));
  }
  /// The row was used and written at a time.
  void noteUpdate(uint16_t time) { set(stamp, uint16_t(time << 1 | 1)); }
  /// The row was written without being used.
  void noteWrite() { set(stamp, uint16_t(get(stamp) | 1)); }
  /// What was written is kept elsewhere. Not beside updates.
  void noteSaved() { set(stamp, uint16_t(get(stamp) & ~1)); }

  /// How often the row was used: occurrences of its key in batches.
  uint32_t uses() const { return get(useCount); }
  uint16_t lastUse() const { return uint16_t(get(stamp) >> 1); }
  /// Whether it was written since it was made, or since `noteSaved`.
  bool isDirty() const { return (get(stamp) & 1) != 0; }
  /// How long ago it was used, where that is less than 2^timeBits.
  uint16_t age(uint16_t now) const {
    return uint16_t(now - lastUse()) & timeMask;
  }

private:
  static uint16_t get(const uint16_t &field) {
    return std::atomic_ref(const_cast<uint16_t &>(field))
        .load(std::memory_order_relaxed);
  }
  static void set(uint16_t &field, uint16_t value) {
    std::atomic_ref(field).store(value, std::memory_order_relaxed);
  }

  uint16_t useCount;
  /// The time of the last use, and in the lowest bit whether it is dirty.
  uint16_t stamp;
};
static_assert(sizeof(RowHeader) == 4 && alignof(RowHeader) == 2);

/// Names a row across steps, wherever its memory is: its key's logical shard,
/// and a number that no other row of that shard has.
class RowHandle {
public:
  /// Of no row.
  RowHandle() = default;
  RowHandle(int shard, uint32_t index) : bits(uint64_t(shard) << 32 | index) {}

  explicit operator bool() const { return bits != none; }
  int shard() const { return int(bits >> 32); }
  uint32_t index() const { return uint32_t(bits); }
  bool operator==(const RowHandle &) const = default;

private:
  static constexpr uint64_t none = ~uint64_t(0);
  uint64_t bits = none;
};

} // namespace pdlrt

#endif // PDLRT_TABLE_ROWHEADER_H
