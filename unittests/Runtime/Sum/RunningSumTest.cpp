//===- RunningSumTest.cpp - Sums against plain loops ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Sum/RunningSum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <span>
#include <vector>

using namespace pdlrt;

namespace {

constexpr int64_t width = 3;

/// Memory of one contribution: a dense block, and rows of a table.
template <typename T> struct Part {
  std::vector<T> dense, rows;
  std::vector<int64_t> keys;
  std::vector<void *> state;
  std::vector<const void *> pointers;
  PartialSum whole;

  const PartialSum &contribution(size_t skipped = 0) {
    pointers.clear();
    for (size_t i = 0; i < keys.size(); ++i)
      pointers.push_back(rows.data() + width * i);
    state.assign(keys.size(), this);
    whole.present = true;
    whole.blocks.resize(2);
    whole.blocks[0].dense = dense.data() + skipped;
    whole.blocks[1] = {nullptr, int64_t(keys.size()), keys.data(), state.data(),
                       pointers.data()};
    return whole;
  }
};

template <typename T> std::vector<GradientBlock> blocksOf(int64_t denseCount) {
  const int32_t type = sizeof(T) == 4 ? PDL_F32 : PDL_F64;
  return {{0, type, false, denseCount}, {1, type, true, width}};
}

/// Part in pieces of a few or many bytes, which have any alignment.
template <typename T> struct Cut {
  std::vector<std::vector<std::byte>> memory;
  std::vector<std::span<const std::byte>> pieces;

  Cut(const void *values, int64_t count, std::mt19937 &random) {
    auto bytes =
        std::as_bytes(std::span(static_cast<const T *>(values), size_t(count)));
    while (!bytes.empty()) {
      const size_t limit = random() % 3 ? 20 : 100000;
      const size_t size = std::min(bytes.size(), 1 + random() % limit);
      const size_t skipped = random() % 8;
      memory.emplace_back(skipped + size);
      std::copy_n(bytes.begin(), size, memory.back().begin() + skipped);
      bytes = bytes.subspan(size);
      pieces.push_back(std::span(memory.back()).subspan(skipped));
    }
  }
};

/// Returns numbers of very different sizes, so that each order of a sum has
/// other bits.
template <typename T> T randomValue(std::mt19937 &random) {
  return T(std::ldexp(double(int32_t(random())), int(random() % 60) - 60));
}

template <typename T> std::vector<T> rowOf(const void *row) {
  auto *values = static_cast<const T *>(row);
  return {values, values + width};
}

/// Returns the row and the bits of its gradient, by key.
template <typename T>
std::map<int64_t, std::pair<void *, std::vector<T>>>
rowsOf(const PartialSum &sum) {
  std::map<int64_t, std::pair<void *, std::vector<T>>> rows;
  const BlockGradient &block = sum.blocks[1];
  for (int64_t i = 0; i < block.keyCount; ++i)
    EXPECT_TRUE(rows.insert({block.keys[i],
                             {block.rows[i], rowOf<T>(block.gradients[i])}})
                    .second);
  return rows;
}

/// The fixed summation order in plain loops: the first present part is copied,
/// and the rest is added.
template <typename T> struct PlainSum {
  bool present = false;
  double lossSum = 0, weightSum = 0;
  std::vector<T> dense;
  std::vector<int64_t> keys;
  std::map<int64_t, std::pair<void *, std::vector<T>>> rows;

  void add(const PartialSum &part, int64_t count) {
    if (!part.present)
      return;
    const auto *values = static_cast<const T *>(part.blocks[0].dense);
    lossSum =
        present ? lossSum + part.objectives[0].loss : part.objectives[0].loss;
    weightSum = present ? weightSum + part.objectives[0].weight
                        : part.objectives[0].weight;
    for (int64_t i = 0; i < count; ++i)
      if (present)
        dense[i] += values[i];
      else
        dense.push_back(values[i]);
    present = true;
    const BlockGradient &block = part.blocks[1];
    for (int64_t k = 0; k < block.keyCount; ++k) {
      const std::vector<T> row = rowOf<T>(block.gradients[k]);
      const auto [at, isNew] =
          rows.insert({block.keys[k], {block.rows[k], row}});
      if (isNew)
        keys.push_back(block.keys[k]);
      for (int i = 0; i < width && !isNew; ++i)
        at->second.second[i] += row[i];
    }
  }

  void expectEqual(const PartialSum &sum) const {
    ASSERT_EQ(sum.present, present);
    EXPECT_EQ(sum.objectives[0].loss, lossSum);
    EXPECT_EQ(sum.objectives[0].weight, weightSum);
    if (!present)
      return;
    if (!dense.empty()) {
      EXPECT_EQ(std::memcmp(sum.blocks[0].dense, dense.data(),
                            dense.size() * sizeof(T)),
                0);
    }
    // In the order of first occurrence.
    EXPECT_EQ(std::vector(sum.blocks[1].keys,
                          sum.blocks[1].keys + sum.blocks[1].keyCount),
              keys);
    EXPECT_TRUE(rowsOf<T>(sum) == rows);
  }
};

template <typename T> void compare(int threads, uint32_t seed) {
  SCOPED_TRACE(testing::Message() << threads << " threads, seed " << seed);
  std::mt19937 random(seed);
  Scheduler scheduler(threads);
  RunningSum running;
  RunningSum atOnce;
  // One object is used for many steps of different sizes.
  for (int step = 0; step < 12; ++step) {
    const int64_t count = step % 4 == 3 ? 40000 : int64_t(random() % 50);
    const size_t partCount = 1 + random() % 5;
    const std::vector<GradientBlock> blocks = blocksOf<T>(count);
    std::vector<Part<T>> parts(partCount);
    std::vector<PartialSum> given(partCount);
    for (size_t p = 0; p < partCount; ++p) {
      Part<T> &part = parts[p];
      for (int64_t i = 0; i < count + 1; ++i)
        part.dense.push_back(randomValue<T>(random));
      const int64_t spread = step % 3 == 0 ? 3 : 3000;
      for (int64_t key = 0; key < spread; ++key)
        if (random() % 3)
          part.keys.push_back(key * 977 - 5000);
      std::shuffle(part.keys.begin(), part.keys.end(), random);
      for (size_t i = 0; i < width * part.keys.size(); ++i)
        part.rows.push_back(randomValue<T>(random));
      part.whole.objectives[0].loss =
          std::ldexp(double(random()), -int(random() % 60));
      part.whole.objectives[0].weight = double(random());
      if (random() % 4)
        given[p] = part.contribution(random() % 2);
    }
    running.begin(blocks);
    for (const PartialSum &each : given)
      ASSERT_TRUE(running.add(each, scheduler).ok());
    const PartialSum &mine = running.finish(scheduler);
    EXPECT_EQ(running.firstNonFinite(), -1);
    PlainSum<T> plain;
    for (const PartialSum &each : given)
      plain.add(each, count);
    plain.expectEqual(mine);
    const auto expectAligned = [count](const PartialSum &sum) {
      if (sum.present && count > 0) {
        EXPECT_EQ(reinterpret_cast<uintptr_t>(sum.blocks[0].dense) %
                      PDL_BUFFER_ALIGNMENT,
                  0u);
      }
    };
    expectAligned(mine);
    // Some of them as messages deliver them.
    std::vector<Cut<T>> cuts;
    cuts.reserve(partCount);
    running.begin(blocks);
    for (PartialSum each : given) {
      if (each.present && random() % 4) {
        cuts.emplace_back(each.blocks[0].dense, count, random);
        each.blocks[0].dense = nullptr;
        each.blocks[0].pieces = cuts.back().pieces;
      }
      ASSERT_TRUE(running.add(each, scheduler).ok());
    }
    const PartialSum &joined = running.finish(scheduler);
    EXPECT_EQ(running.firstNonFinite(), -1);
    plain.expectEqual(joined);
    expectAligned(joined);
    ASSERT_TRUE(atOnce.assign(blocks, given, scheduler).ok());
    plain.expectEqual(atOnce.result());
    // The dense block first, in a task, before the rest has arrived.
    atOnce.beginEarly(blocks);
    std::vector<const void *> dense;
    for (const PartialSum &each : given)
      if (each.present)
        dense.push_back(each.blocks[0].dense);
    const void *early = nullptr;
    if (!dense.empty())
      scheduler.parallelFor(
          1, [&](int64_t) { early = atOnce.sumEarly(blocks[0], 0, dense); },
          threads);
    ASSERT_TRUE(atOnce.assign(blocks, given, scheduler).ok());
    plain.expectEqual(atOnce.result());
    if (early) {
      EXPECT_EQ(atOnce.result().blocks[0].dense, early);
    }
  }
}

} // namespace

TEST(RunningSum, HasTheBitsOfPlainLoops) {
  for (uint32_t seed = 1; seed <= 4; ++seed)
    for (int threads : {1, 3}) {
      compare<float>(threads, seed);
      compare<double>(threads, seed);
    }
}

// The values from which a gradient was computed are known for one sender, but
// not for a sum.
TEST(RunningSum, KeepsWhatWasSeenOfOnePart) {
  Scheduler scheduler(1);
  const std::vector<GradientBlock> blocks = blocksOf<float>(2);
  Part<float> part = {{1, 2}, {1, 2, 3}, {7}, {}, {}, {}};
  const float values[] = {4, 5};
  const void *const rows[] = {values};
  PartialSum given = part.contribution();
  given.blocks[0].seen = values;
  given.blocks[1].seenRows = rows;
  RunningSum sum;
  for (const int parts : {1, 2}) {
    sum.begin(blocks);
    for (int i = 0; i < parts; ++i)
      ASSERT_TRUE(sum.add(given, scheduler).ok());
    const PartialSum &result = sum.finish(scheduler);
    EXPECT_EQ(result.blocks[0].seen, parts == 1 ? values : nullptr);
    EXPECT_EQ(result.blocks[1].seenRows, parts == 1 ? rows : nullptr);
    EXPECT_EQ(result.blocks[1].keyCount, 1);
  }
}

// Other processes sum it.
TEST(RunningSum, ABlockThatNobodyBringsIsNone) {
  const std::vector<GradientBlock> blocks = blocksOf<float>(5);
  Scheduler scheduler(1);
  for (int parts : {1, 2}) {
    std::vector<Part<float>> all(2);
    RunningSum sum;
    sum.begin(blocks);
    for (int p = 0; p < parts; ++p) {
      all[p].dense.assign(5, 1);
      all[p].keys = {4};
      all[p].rows.assign(width, 2);
      PartialSum part = all[p].contribution();
      part.blocks[0] = {};
      ASSERT_TRUE(sum.add(part, scheduler).ok());
    }
    const PartialSum &result = sum.finish(scheduler);
    EXPECT_EQ(result.blocks[0].dense, nullptr);
    EXPECT_TRUE(result.blocks[0].pieces.empty());
    EXPECT_EQ(static_cast<const float *>(result.blocks[1].gradients[0])[0],
              2 * float(parts));
    EXPECT_EQ(sum.firstNonFinite(), -1);
  }
}

TEST(RunningSum, NamesTheFirstBlockThatIsNotFinite) {
  Scheduler scheduler(2);
  const float large = 3e38f;
  const float infinity = std::numeric_limits<float>::infinity();
  auto partOf = [](float dense, float row) {
    Part<float> part;
    part.dense = {1, dense};
    part.keys = {7};
    part.rows = {1, 2, row};
    return part;
  };
  auto check = [&](std::vector<Part<float>> parts) {
    RunningSum sum;
    const std::vector<GradientBlock> blocks = blocksOf<float>(2);
    sum.begin(blocks);
    for (Part<float> &part : parts)
      EXPECT_TRUE(sum.add(part.contribution(), scheduler).ok());
    sum.finish(scheduler);
    return sum.firstNonFinite();
  };
  EXPECT_EQ(check({partOf(large, large)}), -1);
  EXPECT_EQ(check({partOf(infinity, 0)}), 0);
  EXPECT_EQ(check({partOf(0, infinity)}), 1);
  EXPECT_EQ(check({partOf(infinity, infinity)}), 0);
  // Parts are finite and sums are not; an infinite value stays infinite.
  EXPECT_EQ(check({partOf(large, 0), partOf(large, 0)}), 0);
  EXPECT_EQ(check({partOf(0, large), partOf(0, large)}), 1);
  EXPECT_EQ(check({partOf(0, infinity), partOf(0, -infinity)}), 1);
  EXPECT_EQ(check({partOf(infinity, 0), partOf(-infinity, 0), partOf(0, 0)}),
            0);
  EXPECT_EQ(check({partOf(large, 0), partOf(-large, 0), partOf(large, 0)}), -1);
}

TEST(RunningSum, LooksIntoPiecesForWhatIsNotFinite) {
  Scheduler scheduler(2);
  const std::vector<GradientBlock> blocks = blocksOf<float>(3);
  std::mt19937 random(5);
  for (const float last : {1.f, std::numeric_limits<float>::quiet_NaN()})
    for (const size_t count : {1, 2, 3}) {
      const float values[] = {1, 2, last};
      const Cut<float> cut(values, 3, random);
      RunningSum sum;
      sum.begin(blocks);
      for (size_t i = 0; i < count; ++i) {
        Part<float> part;
        PartialSum whole = part.contribution();
        whole.blocks[0] = {};
        whole.blocks[0].pieces = cut.pieces;
        ASSERT_TRUE(sum.add(whole, scheduler).ok());
      }
      sum.finish(scheduler);
      EXPECT_EQ(sum.firstNonFinite(), last == last ? -1 : 0);
    }
}
