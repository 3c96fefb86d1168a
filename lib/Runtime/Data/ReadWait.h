//===- ReadWait.h - Limits the time a reader waits for bytes ----*- C++ -*-===//
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

/// Shared by the code that cuts batches and the code that waits for bytes of a
/// pipe. Limits how long rows are held back while no further rows arrive. Not
/// thread-safe, except `end`.
class ReadWait {
public:
  /// `milliseconds`: maximum time for which rows are held back. None: until the
  /// batch is full.
  explicit ReadWait(std::optional<int64_t> milliseconds);
  ReadWait(const ReadWait &) = delete;
  ReadWait &operator=(const ReadWait &) = delete;
  ~ReadWait();

  /// Records that a row was read, and is held back until `handOut`.
  void noteRow() { hasRow = true; }
  /// Returns true if rows are held back and the time is limited.
  bool holdsRows() const { return hasRow && patience; }
  /// Records that no rows are held back any more.
  void handOut();

  /// Returns the remaining milliseconds for `poll`, or -1 if there is no limit.
  /// The time starts with the first such call after a row is held back.
  int timeout();
  /// Records that reading stops for now because the time is over.
  void noteLate() { late = true; }
  bool isLate() const { return late; }

  /// Ends all present and future waiting. Thread-safe.
  void end();
  /// Returns a descriptor that becomes readable after `end`, or -1 if there is
  /// none.
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
