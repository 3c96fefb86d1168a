//===- AllocationTest.cpp - A warm step calls no allocator ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/HandWrittenProgram.h"
#include "Support/NaiveTrainer.h"

#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Engine/Engine.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

static std::atomic<int64_t> allocations{0};

static void *countedAllocate(size_t size, size_t alignment) {
  ++allocations;
  const size_t rounded = (size + alignment - 1) / alignment * alignment;
  if (void *memory = std::aligned_alloc(alignment, rounded))
    return memory;
  throw std::bad_alloc();
}

// The whole test program counts.
void *operator new(size_t size) { return countedAllocate(size, 16); }
void *operator new(size_t size, std::align_val_t alignment) {
  return countedAllocate(size, static_cast<size_t>(alignment));
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

TEST(Allocation, WarmStepsAllocateNothing) {
  for (bool clipped : {false, true}) {
    const pdl_descriptor *descriptor =
        handWrittenProgram({PDL_F32, PDL_UNTOUCHED_LAZY, clipped});
    Scheduler scheduler(2);
    Model model(*descriptor, 1);
    std::unique_ptr<Communicator> communicator =
        createLocalCommunicator(2, scheduler);
    Engine engine(model, *findProgram(*descriptor, "train"), 2, scheduler,
                  *communicator);
    std::vector<Samples<float>> samples;
    std::vector<StepInput> inputs;
    for (int r = 0; r < 4; ++r)
      samples.push_back(makeSamples<float>(r, 100, 500));
    for (Samples<float> &replica : samples)
      inputs.push_back(replica.input());
    // The second step joins what the first one left in pieces.
    for (int i = 0; i < 3; ++i)
      ASSERT_TRUE(engine.step(inputs).ok());
    const int64_t before = allocations;
    EXPECT_GT(before, 0);
    for (int i = 0; i < 5; ++i)
      ASSERT_TRUE(engine.step(inputs).ok());
    EXPECT_EQ(allocations - before, 0);
  }
}
