//===- RowHeader.h - Usage header and handle of a row -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Admission, eviction and delta checkpoints need to know how often a row was
// used, when it was last used, and whether it was written. Four bytes of each
// row record this. They are not state: no rule reads them, no checkpoint has
// them, and a loaded row starts with a new header.
//
// Updates record uses; the merged gradient of a step shows which rows the step
// used. The counts are therefore the same with one process and with servers.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TABLE_ROWHEADER_H
#define PDLRT_TABLE_ROWHEADER_H

#include "pdlabi/table.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace pdlrt {

/// Four bytes of a row. Reads and writes are free of data races. If two threads
/// record something at the same time (mode hogwild), one record is lost.
class RowHeader {
public:
  using Bits = pdlabi::HeaderBits;
  /// Maximum count of uses.
  static constexpr uint32_t maxUses = Bits::maxUses;
  /// Times are numbers of this many bits, and wrap around to zero.
  static constexpr int timeBits = Bits::timeBits;
  static constexpr uint16_t timeMask = Bits::timeMask;

  /// Initializes the header of a new row with its initial value: not used, but
  /// dirty, because an erased key may have an older row in a saved copy.
  void begin(uint16_t time) { set(Bits::ofNew(time)); }
  /// Records an update in a step that used the row.
  void noteUpdate(uint16_t time) { set(Bits::afterUpdate(get(), time)); }
  /// Records a write in a step that did not use the row.
  void noteWrite() { set(get() | Bits::dirty); }
  /// Records that the current content has been saved. Must not run concurrently
  /// with an update of the row.
  void noteSaved() { set(get() & ~Bits::dirty); }

  /// Returns the content of the header for a spilled row, and restores it. The
  /// restored header has `time` as its last use, and is dirty if it was dirty
  /// and the row has not been saved since.
  uint32_t noted() const { return get(); }
  void restore(uint32_t noted, uint16_t time, bool wasSaved) {
    const uint32_t kept = noted & (maxUses | (wasSaved ? 0 : Bits::dirty));
    set(kept | uint32_t(time & timeMask) << Bits::timeShift);
  }

  /// Returns the number of steps that used the row.
  uint32_t uses() const { return get() & maxUses; }
  uint16_t lastUse() const { return uint16_t(get() >> Bits::timeShift); }
  /// Returns true if the row may differ from what was last saved.
  bool isDirty() const { return (get() & Bits::dirty) != 0; }
  /// Returns the time since the last use, if it is less than 2^timeBits.
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

  /// Format: pdlabi::HeaderBits.
  uint32_t bits;
};
static_assert(sizeof(RowHeader) == 4 && alignof(RowHeader) == 4);

/// Identifies a row across steps, wherever its memory is: the logical shard of
/// its key, and a number that is unique in that shard.
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
