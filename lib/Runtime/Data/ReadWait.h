//===- ReadWait.h - How long a reader waits for bytes -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_READWAIT_H
#define LIB_RUNTIME_DATA_READWAIT_H

#include <chrono>
#include <cstdint>
#include <optional>

namespace pdlrt {

/// Shared by who cuts batches and who waits for the bytes of a pipe for them:
/// rows that were read may be held back only for so long while no others come.
/// One thread at a time, but for `end`.
class ReadWait {
public:
  /// `milliseconds`: how long rows are held back; none: until the batch is
  /// full.
  explicit ReadWait(std::optional<int64_t> milliseconds);
  ReadWait(const ReadWait &) = delete;
  ReadWait &operator=(const ReadWait &) = delete;
  ~ReadWait();

  /// A row was read, and is held back until `handOut`.
  void noteRow() { hasRow = true; }
  /// Whether rows are held back, and not for as long as it takes.
  bool holdsRows() const { return hasRow && patience; }
  /// Nothing is held back any more.
  void handOut();

  /// For `poll`, of who has to wait: the milliseconds that are left, -1 without
  /// a limit. The time runs from the first such call since rows are held back.
  int timeout();
  /// Reading breaks off for now, because the time is over.
  void noteLate() { late = true; }
  bool isLate() const { return late; }

  /// Nobody is to wait any more, ever. Thread-safe.
  void end();
  /// Of a descriptor that can be read from then on; -1 where there is none.
  int descriptor() const { return event; }

private:
  using Clock = std::chrono::steady_clock;
  const std::optional<std::chrono::milliseconds> patience;
  std::optional<Clock::time_point> deadline;
  bool hasRow = false, late = false;
  int event;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_READWAIT_H
