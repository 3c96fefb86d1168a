//===- AllocationTest.cpp - A warm reader calls no allocator --------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// This is a separate program, because it replaces the global allocation
// functions.

#include "TestRecord.h"

#include <atomic>
#include <cstdlib>
#include <new>

static std::atomic<int64_t> allocations{0};

void *operator new(size_t size) {
  ++allocations;
  if (void *memory = std::malloc(size ? size : 1))
    return memory;
  throw std::bad_alloc();
}
void *operator new(size_t size, std::align_val_t alignment) {
  ++allocations;
  const size_t unit = static_cast<size_t>(alignment);
  if (void *memory =
          std::aligned_alloc(unit, (size + unit - 1) / unit * unit + unit))
    return memory;
  throw std::bad_alloc();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
void operator delete(void *memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void *memory, size_t, std::align_val_t) noexcept {
  std::free(memory);
}

using namespace pdlrt;
using namespace pdlrt::test;

namespace {

class AllocationTest : public DataTest {};

TEST_F(AllocationTest, AWarmReaderCallsNoAllocator) {
  record.dense("x", 2);
  record.ids("id");
  auto &bag = record.ragged("bag");
  bag.separator = '|';
  std::string text;
  for (int i = 0; i < 1000; ++i)
    text += std::to_string(i) + ",0.5,\"a \"\"quoted\"\" id " +
            std::to_string(i % 7) + "\",p|q|" + std::to_string(i) + "\n";
  for (const char *name : {"a.csv", "a.csv.gz"})
    for (int64_t window : {0, 300}) {
      DataOptions options;
      options.files = {put(name, text)};
      options.batchSize = 32;
      options.shuffleWindow = window;
      auto source = open(options, nullptr, 1, 0, 2);
      Batch batches[2];
      // Worker 1 reads first: in every round a batch waits for worker 0.
      auto round = [&] {
        auto second = source->next(1, batches[1]);
        auto first = source->next(0, batches[0]);
        return first.ok() && *first && second.ok() && *second;
      };
      while (round()) {
      }
      ASSERT_TRUE(source->beginEpoch(1).ok());
      // Waiting batches are exchanged with those of workers, so it takes a few
      // rounds until each buffer has held a batch.
      for (int i = 0; i < 4; ++i)
        ASSERT_TRUE(round());
      const int64_t before = allocations;
      int64_t rounds = 0;
      while (round())
        ++rounds;
      EXPECT_EQ(allocations - before, 0) << name << ", window " << window;
      EXPECT_EQ(rounds, 12);
    }
}

} // namespace
