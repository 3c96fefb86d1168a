//===- WaitingKey.h - What is known of a key without a row ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A table that admits keys by count, or by score, notes of each key that waits
// how often it has occurred, or how many units it has scored
// (pdlabi/admission.h), in which period it did last, and whether that may
// differ from what was saved: 30 bits, which stand in an index of keys where
// others have the number of a row. So a key waits at 11 to 13 bytes.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TABLE_WAITINGKEY_H
#define PDLRT_TABLE_WAITINGKEY_H

#include <cstdint>

namespace pdlrt {

/// A value.
class WaitingBits {
public:
  static constexpr int countBits = 14, periodBits = 15;
  /// What a count of occurrences, or of units, that is not enough can be at
  /// most.
  static constexpr int64_t mostCount = (int64_t(1) << countBits) - 1;
  static constexpr int64_t periodMask = (int64_t(1) << periodBits) - 1;

  WaitingBits() = default;
  explicit WaitingBits(uint32_t bits) : all(bits) {}
  /// 0 <= count <= mostCount; of the period the lowest bits are kept.
  WaitingBits(int64_t count, int64_t period, bool isDirty)
      : all(uint32_t(count) | uint32_t(period & periodMask) << countBits |
            uint32_t(isDirty) << (countBits + periodBits)) {}

  uint32_t bits() const { return all; }
  int64_t count() const { return all & mostCount; }
  /// How many periods began since that of the last occurrence, up to 2^15 - 1.
  int64_t age(int64_t period) const {
    return (period - int64_t(all >> countBits)) & periodMask;
  }
  WaitingBits saved() const {
    return WaitingBits(all & ~(1u << (countBits + periodBits)));
  }
  /// The same with less of it; of the same period, and dirty.
  WaitingBits withCount(int64_t count) const {
    return WaitingBits((all & ~uint32_t(mostCount)) | uint32_t(count) |
                       1u << (countBits + periodBits));
  }
  bool isDirty() const { return (all >> (countBits + periodBits) & 1) != 0; }

private:
  uint32_t all = 0;
};

/// A key that waits.
struct WaitingKey {
  int64_t key;
  WaitingBits bits;
};

} // namespace pdlrt

#endif // PDLRT_TABLE_WAITINGKEY_H
