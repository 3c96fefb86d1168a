//===- WaitingKey.h - Records of keys awaiting admission --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A waiting key is a key that has occurred but is not admitted yet. A table
// that admits keys by count or by score keeps a record of each waiting key. A
// record has the number of occurrences or units (pdlabi/admission.h), the
// period of the last one, and a flag that it may have changed since it was
// saved. These 30 bits are stored in the index of keys, in the place of a row
// number. A waiting key needs 11 to 13 bytes.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TABLE_WAITINGKEY_H
#define PDLRT_TABLE_WAITINGKEY_H

#include <cstdint>

namespace pdlrt {

/// The record of a waiting key.
class WaitingBits {
public:
  static constexpr int countBits = 14, periodBits = 15;
  /// Maximum number of occurrences, or of units, that a record can have.
  static constexpr int64_t maxCount = (int64_t(1) << countBits) - 1;
  static constexpr int64_t periodMask = (int64_t(1) << periodBits) - 1;

  WaitingBits() = default;
  explicit WaitingBits(uint32_t bits) : all(bits) {}
  /// `count` must be in [0, maxCount]. Only the lowest bits of `period` are
  /// stored.
  WaitingBits(int64_t count, int64_t period, bool isDirty)
      : all(uint32_t(count) | uint32_t(period & periodMask) << countBits |
            uint32_t(isDirty) << (countBits + periodBits)) {}

  uint32_t bits() const { return all; }
  int64_t count() const { return all & maxCount; }
  /// Returns the number of periods that have begun since the last occurrence.
  /// `period` is the current period. The result is exact up to 2^15 - 1,
  /// because a record has only the lowest 15 bits of a period.
  int64_t age(int64_t period) const {
    return (period - int64_t(all >> countBits)) & periodMask;
  }
  WaitingBits saved() const {
    return WaitingBits(all & ~(1u << (countBits + periodBits)));
  }
  /// Returns a record with count `count`, the same period, and the flag set
  /// that it has changed.
  WaitingBits withCount(int64_t count) const {
    return WaitingBits((all & ~uint32_t(maxCount)) | uint32_t(count) |
                       1u << (countBits + periodBits));
  }
  bool isDirty() const { return (all >> (countBits + periodBits) & 1) != 0; }

private:
  uint32_t all = 0;
};

/// A waiting key with its record.
struct WaitingKey {
  int64_t key;
  WaitingBits bits;
};

} // namespace pdlrt

#endif // PDLRT_TABLE_WAITINGKEY_H
