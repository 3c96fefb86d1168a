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
#include "pdlrt/Engine/PassReport.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

static std::atomic<int64_t> allocations{0};
/// Allocations of more bytes than this fail.
static std::atomic<size_t> maxBytes{SIZE_MAX};

static void *countedAllocate(size_t size, size_t alignment) {
  ++allocations;
  if (size > maxBytes)
    throw std::bad_alloc();
  const size_t rounded = (size + alignment - 1) / alignment * alignment;
  if (void *memory = std::aligned_alloc(alignment, rounded))
    return memory;
  throw std::bad_alloc();
}

// Count all allocations of the test program.
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
    const std::unique_ptr<Engine> engine =
        Engine::createLocal(model, *findProgram(*descriptor, "train"),
                            ReplicaLayout::local(2, 2), scheduler);
    std::vector<Samples<float>> samples;
    std::vector<StepInput> inputs;
    for (int r = 0; r < 4; ++r)
      samples.push_back(makeSamples<float>(r, 100, 500));
    for (Samples<float> &replica : samples)
      inputs.push_back(replica.input());
    // The second step merges what the first one left in pieces.
    for (int i = 0; i < 3; ++i)
      ASSERT_TRUE(engine->step(inputs).ok());
    const int64_t before = allocations;
    EXPECT_GT(before, 0);
    for (int i = 0; i < 5; ++i)
      ASSERT_TRUE(engine->step(inputs).ok());
    EXPECT_EQ(allocations - before, 0);
  }
}

// The value of a group metric is computed from sorted samples.
TEST(Allocation, WithoutMemoryAMetricOfGroupsSaysSo) {
  pdl_descriptor descriptor =
      *handWrittenProgram({PDL_F32, PDL_UNTOUCHED_LAZY, false});
  const pdl_metric metric = {sizeof(pdl_metric), "gauc", PDL_METRIC_GROUPED_AUC,
                             0};
  descriptor.metric_count = 1;
  descriptor.metrics = &metric;
  Scheduler scheduler(1);
  Model model(descriptor, 1);
  ReplicaSet replicas(model, *findProgram(descriptor, "train"), {}, 1,
                      scheduler);
  constexpr int count = 100000;
  std::vector<pdlabi::GroupedSamples> samples(size_t(replicas.count()));
  for (int i = 0; i < count; ++i)
    samples[0].add(i % 7, i % 5, i % 2, 1);
  replicas.restoreGroups(std::move(samples));
  std::vector<double> sums(pdlabi::GroupedAreaUnderCurve::SumCount);
  const std::vector<const pdlabi::GroupedSamples *> parts =
      replicas.groupsOf(0);
  // The metric needs only eight bytes per sample.
  for (const bool enough : {true, false}) {
    maxBytes = count * 8 - (enough ? 0 : 1);
    const Status status = sumGroups(metric, parts, sums.data());
    maxBytes = SIZE_MAX;
    EXPECT_EQ(status.message(),
              enough ? ""
                     : "out of memory for the value of metric @gauc: putting "
                       "its 100000 samples in order needs 8 bytes each; test "
                       "fewer rows");
  }
}
