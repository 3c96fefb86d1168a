//===- BoundedPool.h - Memory of one file of columns ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Files store the sizes of their buffers before compression. Arrow allocates a
// buffer of that size before it decompresses. A damaged size could therefore
// request more memory than the machine has, which would look like a lack of
// memory. The pool refuses such sizes with an error that reports damage. Arrow
// itself reports a lack of memory for sizes close to the largest int64, so the
// pool marks the errors of its allocator.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_ARROW_BOUNDEDPOOL_H
#define LIB_RUNTIME_DATA_ARROW_BOUNDEDPOOL_H

#include <arrow/memory_pool.h>
#include <arrow/status.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

/// Returns the error of a process that has no memory left.
arrow::Status lackOfMemory();
/// Returns true if a status is from `lackOfMemory`. Arrow also reports a lack
/// of memory for damaged sizes, which it refuses before it allocates.
bool isLackOfMemory(const arrow::Status &status);

/// Allocates the memory of one file or message, and refuses buffers that are
/// too large for it. Lives until its references are destroyed and all of its
/// memory is freed, because arrays may outlive their file. Thread-safe.
class BoundedPool final : public arrow::MemoryPool {
public:
  /// Gives up the pool.
  struct Release {
    void operator()(BoundedPool *pool) const { pool->release(); }
  };
  using Reference = std::unique_ptr<BoundedPool, Release>;

  /// Creates a pool for a file or message of `inputBytes` bytes. `allocator`
  /// must outlive the pool.
  static Reference
  create(int64_t inputBytes,
         arrow::MemoryPool &allocator = *arrow::default_memory_pool()) {
    return Reference(new BoundedPool(inputBytes, allocator));
  }
  /// Returns another reference, for an object that may outlive the first one.
  Reference share() {
    users.fetch_add(1, std::memory_order_relaxed);
    return Reference(this);
  }
  /// Returns the largest buffer that an input of that size may have.
  static int64_t limitFor(int64_t inputBytes);

  using arrow::MemoryPool::Allocate;
  using arrow::MemoryPool::Free;
  using arrow::MemoryPool::Reallocate;
  arrow::Status Allocate(int64_t size, int64_t alignment,
                         uint8_t **out) override;
  arrow::Status Reallocate(int64_t oldSize, int64_t newSize, int64_t alignment,
                           uint8_t **memory) override;
  void Free(uint8_t *memory, int64_t size, int64_t alignment) override;

  int64_t bytes_allocated() const override { return stats.bytes_allocated(); }
  int64_t max_memory() const override { return stats.max_memory(); }
  int64_t total_bytes_allocated() const override {
    return stats.total_bytes_allocated();
  }
  int64_t num_allocations() const override { return stats.num_allocations(); }
  std::string backend_name() const override { return pool.backend_name(); }

private:
  BoundedPool(int64_t inputBytes, arrow::MemoryPool &allocator)
      : pool(allocator), inputBytes(inputBytes), limit(limitFor(inputBytes)) {}
  ~BoundedPool() override = default;
  arrow::Status check(int64_t size) const;
  void release();

  arrow::MemoryPool &pool;
  const int64_t inputBytes, limit;
  arrow::internal::MemoryPoolStats stats;
  /// Number of allocations and references.
  std::atomic<int64_t> users{1};
};

#endif // LIB_RUNTIME_DATA_ARROW_BOUNDEDPOOL_H
