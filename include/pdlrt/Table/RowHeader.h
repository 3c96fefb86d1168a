//===- RowHeader.h - Usage header and handle of a row -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each row has a header of four bytes. It records how often the row was used,
// when it was used last, and whether it was written since it was saved.
// Eviction and delta checkpoints need this. Headers are not state: no optimizer
// rule reads them, checkpoints do not have them, and a loaded row starts with a
// new header.
//
// Updates record uses: a step has used the rows that have a merged gradient. So
// the counts are the same in one process and with servers.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TABLE_ROWHEADER_H
#define PDLRT_TABLE_ROWHEADER_H

#include "pdlabi/table.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace pdlrt {

/// Header of a row. Reads and writes are free of data races. If two threads
/// record something at the same time (--hogwild), one record can be lost.
class RowHeader {
public:
  using Bits = pdlabi::HeaderBits;
  /// Maximum count of uses.
  static constexpr uint32_t maxUses = Bits::maxUses;
  /// Number of bits of a time. Times wrap around to zero.
  static constexpr int timeBits = Bits::timeBits;
  static constexpr uint16_t timeMask = Bits::timeMask;

  /// Initializes the header of a new row that has its initial value. The row
  /// counts as not used, but as dirty: if its key was erased before, a
  /// checkpoint may have an older row of the key.
  void begin(uint16_t time) { set(Bits::ofNew(time)); }
  /// Records an update in a step that has used the row.
  void noteUpdate(uint16_t time) { set(Bits::afterUpdate(get(), time)); }
  /// Records a write in a step that has not used the row.
  void noteWrite() { set(get() | Bits::dirty); }
  /// Records that the current content of the row is saved. Must not run
  /// concurrently with an update of the row.
  void noteSaved() { set(get() & ~Bits::dirty); }

  /// `noted` returns the content of the header when the row is spilled to disk,
  /// and `restore` restores it when the row is read back. The restored header
  /// has `time` as the time of its last use. It is dirty if it was dirty before
  /// and `wasSaved` is false.
  uint32_t noted() const { return get(); }
  void restore(uint32_t noted, uint16_t time, bool wasSaved) {
    const uint32_t kept = noted & (maxUses | (wasSaved ? 0 : Bits::dirty));
    set(kept | uint32_t(time & timeMask) << Bits::timeShift);
  }

  /// Returns the number of steps that have used the row, up to `maxUses`.
  uint32_t uses() const { return get() & maxUses; }
  uint16_t lastUse() const { return uint16_t(get() >> Bits::timeShift); }
  /// Returns true if the row may have changed since it was saved.
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

/// Identifies a row, whether or not it is in memory: by the logical shard of
/// its key, and a number that is unique in the shard.
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
