//===- BoundedPoolTest.cpp - Memory of one file of columns ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/Arrow/BoundedPool.h"

#include <arrow/buffer.h>

#include "gtest/gtest.h"

#include <limits>
#include <memory>
#include <utility>

namespace {

constexpr int64_t mebibyte = int64_t(1) << 20;

/// Fails if a buffer is larger than its limit.
class SmallAllocator final : public arrow::ProxyMemoryPool {
public:
  using arrow::ProxyMemoryPool::Allocate;
  using arrow::ProxyMemoryPool::Reallocate;

  SmallAllocator() : ProxyMemoryPool(arrow::default_memory_pool()) {}

  arrow::Status Allocate(int64_t size, int64_t alignment,
                         uint8_t **out) override {
    if (size > mebibyte)
      return arrow::Status::OutOfMemory("no memory");
    return ProxyMemoryPool::Allocate(size, alignment, out);
  }
  arrow::Status Reallocate(int64_t oldSize, int64_t newSize, int64_t alignment,
                           uint8_t **memory) override {
    if (newSize > mebibyte)
      return arrow::Status::OutOfMemory("no memory");
    return ProxyMemoryPool::Reallocate(oldSize, newSize, alignment, memory);
  }
};

TEST(BoundedPoolTest, FailuresOfTheAllocatorAreLacksOfMemory) {
  SmallAllocator allocator;
  const auto pool = BoundedPool::create(1, allocator);
  const auto refused = arrow::AllocateBuffer(2 * mebibyte, pool.get());
  EXPECT_TRUE(isLackOfMemory(refused.status())) << refused.status().ToString();
  EXPECT_TRUE(refused.status().IsOutOfMemory());

  auto grown = arrow::AllocateResizableBuffer(mebibyte / 2, pool.get());
  ASSERT_TRUE(grown.ok()) << grown.status().ToString();
  const arrow::Status status = (*grown)->Resize(2 * mebibyte);
  EXPECT_TRUE(isLackOfMemory(status)) << status.ToString();
}

TEST(BoundedPoolTest, RefusedSizesAreNoLacksOfMemory) {
  const auto pool = BoundedPool::create(1);
  for (const int64_t size :
       {65 * mebibyte, std::numeric_limits<int64_t>::max()}) {
    const auto refused = arrow::AllocateBuffer(size, pool.get());
    EXPECT_FALSE(refused.ok());
    EXPECT_FALSE(isLackOfMemory(refused.status()))
        << refused.status().ToString();
  }
  EXPECT_FALSE(isLackOfMemory(arrow::Status::OK()));
  EXPECT_EQ(pool->bytes_allocated(), 0);
}

TEST(BoundedPoolTest, LimitsGrowWithTheInput) {
  EXPECT_EQ(BoundedPool::limitFor(0), 64 * mebibyte);
  EXPECT_EQ(BoundedPool::limitFor(100'000), 1024 * 100'000);
  EXPECT_GT(BoundedPool::limitFor(std::numeric_limits<int64_t>::max()),
            64 * mebibyte);
}

TEST(BoundedPoolTest, BuffersOutliveTheReference) {
  SmallAllocator allocator;
  std::unique_ptr<arrow::Buffer> buffer;
  {
    const auto pool = BoundedPool::create(1, allocator);
    auto allocated = arrow::AllocateBuffer(1000, pool.get());
    ASSERT_TRUE(allocated.ok()) << allocated.status().ToString();
    buffer = *std::move(allocated);
  }
  EXPECT_GE(allocator.bytes_allocated(), 1000);
  buffer.reset();
  EXPECT_EQ(allocator.bytes_allocated(), 0);
}

TEST(BoundedPoolTest, SharesOutliveTheFirstReference) {
  SmallAllocator allocator;
  auto pool = BoundedPool::create(1, allocator);
  auto share = pool->share();
  pool.reset();
  ASSERT_TRUE(arrow::AllocateBuffer(1000, share.get()).ok());
  share.reset();
  EXPECT_EQ(allocator.bytes_allocated(), 0);
}

} // namespace
