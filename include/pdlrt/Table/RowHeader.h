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
// bytes of each row. It is no state: no rule reads it, no checkpoint holds it,
// and a row that was loaded begins anew.
//
// Updates note uses, and the merged gradient of a step says which rows it used.
// So uses are the same wherever the rows are, in one process or on servers.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TABLE_ROWHEADER_H
#define PDLRT_TABLE_ROWHEADER_H

#include "pdlabi/table.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace pdlrt {

/// Four bytes of a row. Reading and writing is free of data races; of two that
/// note something at once (mode hogwild), one wins.
class RowHeader {
public:
  using Bits = pdlabi::HeaderBits;
  /// Uses are counted up to here.
  static constexpr uint32_t mostUses = Bits::mostUses;
  /// Times are numbers of this many bits, and go on from zero behind the last
  /// one.
  static constexpr int timeBits = Bits::timeBits;
  static constexpr uint16_t timeMask = Bits::timeMask;

  /// Of a row that is new at a time, with its initial value: not used. It is
  /// dirty, as a key that was erased may have another row where rows are kept.
  void begin(uint16_t time) { set(Bits::ofNew(time)); }
  /// An update of a step in which the row was used.
  void noteUpdate(uint16_t time) { set(Bits::afterUpdate(get(), time)); }
  /// The row was written without being used.
  void noteWrite() { set(get() | Bits::dirty); }
  /// What was written is kept elsewhere. Not beside an update of the row.
  void noteSaved() { set(get() & ~Bits::dirty); }

  /// All that is noted, for who keeps the row elsewhere, and back: it was
  /// asked for at `time`, and is dirty if it was and has not been saved since.
  uint32_t noted() const { return get(); }
  void restore(uint32_t noted, uint16_t time, bool wasSaved) {
    const uint32_t kept = noted & (mostUses | (wasSaved ? 0 : Bits::dirty));
    set(kept | uint32_t(time & timeMask) << Bits::timeShift);
  }

  /// In how many steps the row was used.
  uint32_t uses() const { return get() & mostUses; }
  uint16_t lastUse() const { return uint16_t(get() >> Bits::timeShift); }
  /// Whether it may differ from what `noteSaved` was called for.
  bool isDirty() const { return (get() & Bits::dirty) != 0; }
  /// How long ago it was used, where that is less than 2^timeBits.
  uint16_t age(uint16_t now) const {
    return uint16_t(now - lastUse()) & timeMask;
  }

private:
  uint32_t get() const {
    return std::atomic_ref(const_cast<uint32_t &>(bits))
        .load(std::memory_order_relaxed);
  }
  void set(uint32_t value) {
    std::atomic_ref(bits).store(value, std::memory_order_relaxed);
  }

  /// As pdlabi::HeaderBits says.
  uint32_t bits;
};
static_assert(sizeof(RowHeader) == 4 && alignof(RowHeader) == 4);

/// Names a row across steps, wherever its memory is: its key's logical shard,
/// and a number that no other row of that shard has.
class RowHandle {
public:
  RowHandle() = default;
  RowHandle(int shard, uint32_t index) : bits(uint64_t(shard) << 32 | index) {}

  int shard() const { return int(bits >> 32); }
  uint32_t index() const { return uint32_t(bits); }

private:
  uint64_t bits = 0;
};

} // namespace pdlrt

#endif // PDLRT_TABLE_ROWHEADER_H
