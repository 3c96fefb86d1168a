//===- MemoryBudget.h - Bytes of all requests in flight ------- -*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLSERVE_MEMORYBUDGET_H
#define PDLSERVE_MEMORYBUDGET_H

#include <atomic>
#include <cstdint>
#include <utility>

namespace pdlserve {

/// The bytes that all requests in flight may take together. Threads may share
/// it.
class MemoryBudget {
public:
  explicit MemoryBudget(uint64_t bytes) : limitBytes(bytes) {}
  MemoryBudget(const MemoryBudget &) = delete;
  MemoryBudget &operator=(const MemoryBudget &) = delete;

  /// Takes `bytes` from what is left. If less is left, returns false and takes
  /// nothing.
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

/// The part of a budget that one request has. The destructor gives it back. One
/// thread at a time uses it.
class Reservation {
public:
  /// A reservation without a budget, which refuses all growth.
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

  /// Call before the memory is allocated. Returns false if the budget has not
  /// as much left.
  [[nodiscard]] bool grow(uint64_t more) noexcept {
    if (!budget || !budget->take(more))
      return false;
    bytes += more;
    return true;
  }
  /// Gives back `less` bytes of the reservation, at most all of it.
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

#endif // PDLSERVE_MEMORYBUDGET_H
