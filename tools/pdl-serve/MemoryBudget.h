//===- MemoryBudget.h - Memory budget of all requests -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_SERVE_MEMORYBUDGET_H
#define PDL_TOOLS_PDL_SERVE_MEMORYBUDGET_H

#include <atomic>
#include <cstdint>
#include <utility>

namespace pdlserve {

/// Limits the memory of all requests together. Thread-safe.
class MemoryBudget {
public:
  explicit MemoryBudget(uint64_t bytes) : limitBytes(bytes) {}
  MemoryBudget(const MemoryBudget &) = delete;
  MemoryBudget &operator=(const MemoryBudget &) = delete;

  /// Reserves `bytes` and returns true. If fewer bytes are left, reserves
  /// nothing and returns false.
  bool take(uint64_t bytes) noexcept {
    uint64_t before = takenBytes.load(std::memory_order_relaxed);
    do {
      if (bytes > limitBytes - before)
        return false;
    } while (!takenBytes.compare_exchange_weak(before, before + bytes,
                                               std::memory_order_relaxed));
    return true;
  }
  void giveBack(uint64_t bytes) noexcept {
    takenBytes.fetch_sub(bytes, std::memory_order_relaxed);
  }

  uint64_t limit() const { return limitBytes; }
  uint64_t taken() const { return takenBytes.load(std::memory_order_relaxed); }

private:
  const uint64_t limitBytes;
  std::atomic<uint64_t> takenBytes{0};
};

/// The memory that one request has reserved in a budget. The destructor
/// releases it. Not thread-safe.
class Reservation {
public:
  /// Creates a reservation without a budget; `grow` always fails.
  Reservation() = default;
  explicit Reservation(MemoryBudget &budget) : budget(&budget) {}
  Reservation(Reservation &&other) noexcept
      : budget(std::exchange(other.budget, nullptr)),
        bytes(std::exchange(other.bytes, 0)) {}
  Reservation &operator=(Reservation &&other) noexcept {
    if (this != &other) {
      release();
      budget = std::exchange(other.budget, nullptr);
      bytes = std::exchange(other.bytes, 0);
    }
    return *this;
  }
  ~Reservation() { release(); }

  /// Reserves `more` bytes. Call before allocating them. Returns false if the
  /// budget is exhausted.
  [[nodiscard]] bool grow(uint64_t more) noexcept {
    if (!budget || !budget->take(more))
      return false;
    bytes += more;
    return true;
  }
  /// Releases `less` bytes, but at most all of the reservation.
  void shrink(uint64_t less) noexcept {
    less = less < bytes ? less : bytes;
    if (budget)
      budget->giveBack(less);
    bytes -= less;
  }
  void release() noexcept { shrink(bytes); }

  uint64_t size() const { return bytes; }

private:
  MemoryBudget *budget = nullptr;
  uint64_t bytes = 0;
};

} // namespace pdlserve

#endif // PDL_TOOLS_PDL_SERVE_MEMORYBUDGET_H
