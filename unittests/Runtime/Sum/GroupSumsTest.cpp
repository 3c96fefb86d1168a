//===- GroupSumsTest.cpp - Fixed summation order of groups ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Sum/RunningSum.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

using namespace pdlrt;

namespace {

/// Memory of one contribution: a dense block of n elements, then a table block
/// of width 2.
struct Part {
  std::vector<float> dense;
  std::vector<int64_t> keys;
  std::vector<float> rows;
  std::vector<void *> state;
  std::vector<const void *> pointers;

  PartialSum contribution(double loss, double weight) {
    pointers.clear();
    for (size_t i = 0; i < keys.size(); ++i)
      pointers.push_back(rows.data() + 2 * i);
    PartialSum result;
    result.present = true;
    result.objectives[0].loss = loss;
    result.objectives[0].weight = weight;
    result.blocks.resize(2);
    result.blocks[0].dense = dense.data();
    result.blocks[1] = {nullptr, int64_t(keys.size()), keys.data(),
                        state.data(), pointers.data()};
    return result;
  }
};

std::vector<GradientBlock> blocksOf(int64_t denseCount) {
  return {{0, PDL_F32, false, denseCount}, {1, PDL_F32, true, 2}};
}

/// Returns the row gradients of a result by key.
std::map<int64_t, std::pair<float, float>> rowsOf(const PartialSum &sum) {
  std::map<int64_t, std::pair<float, float>> rows;
  const BlockGradient &block = sum.blocks[1];
  for (int64_t i = 0; i < block.keyCount; ++i) {
    auto *row = static_cast<const float *>(block.gradients[i]);
    EXPECT_TRUE(rows.insert({block.keys[i], {row[0], row[1]}}).second);
  }
  return rows;
}

} // namespace

// The sum of these numbers is correct only in one order.
TEST(GroupSums, AddsInOrderAndSkipsWhatIsAbsent) {
  Scheduler scheduler(2);
  Part parts[4];
  const float values[4] = {1e8f, 1.f, -1e8f, 0.5f};
  std::vector<PartialSum> contributions(5);
  for (int i = 0; i < 4; ++i) {
    parts[i].dense = {values[i], float(i)};
    // contributions[2] is absent.
    contributions[i < 2 ? i : i + 1] = parts[i].contribution(i, 10 + i);
  }
  RunningSum sum;
  ASSERT_TRUE(sum.assign(blocksOf(2), contributions, scheduler).ok());
  auto *dense = static_cast<const float *>(sum.result().blocks[0].dense);
  EXPECT_EQ(dense[0], ((1e8f + 1.f) + -1e8f) + 0.5f);
  EXPECT_EQ(dense[1], 6.f);
  EXPECT_EQ(sum.result().objectives[0].loss, 6);
  EXPECT_EQ(sum.result().objectives[0].weight, 46);
}

// The first part is copied: -0 stays -0, while adding it to +0 would give +0.
TEST(GroupSums, CopiesTheFirst) {
  Scheduler scheduler(1);
  Part only;
  only.dense = {-0.f};
  only.keys = {5};
  only.rows = {-0.f, 3};
  only.state.resize(1);
  std::vector<PartialSum> contributions(3);
  contributions[1] = only.contribution(1, 1);
  RunningSum sum;
  ASSERT_TRUE(sum.assign(blocksOf(1), contributions, scheduler).ok());
  EXPECT_TRUE(
      std::signbit(*static_cast<const float *>(sum.result().blocks[0].dense)));
  EXPECT_TRUE(std::signbit(rowsOf(sum.result())[5].first));
}

TEST(GroupSums, NothingPresent) {
  Scheduler scheduler(1);
  std::vector<PartialSum> contributions(3);
  RunningSum sum;
  ASSERT_TRUE(sum.assign(blocksOf(1), contributions, scheduler).ok());
  EXPECT_FALSE(sum.result().present);
  EXPECT_EQ(sum.result().blocks[0].dense, nullptr);
}

TEST(GroupSums, MergesRowsByKeyInOrder) {
  Scheduler scheduler(3);
  float state[3][2];
  Part parts[3];
  parts[0].keys = {7, -3};
  parts[0].rows = {1e8f, 1, 5, 6};
  parts[0].state = {state[0], state[1]};
  parts[1].keys = {0, 7};
  parts[1].rows = {9, 10, 1, 2};
  parts[1].state = {state[2], state[0]};
  parts[2].keys = {7};
  parts[2].rows = {-1e8f, 3};
  parts[2].state = {state[0]};
  std::vector<PartialSum> contributions;
  for (Part &part : parts) {
    part.dense = {0};
    contributions.push_back(part.contribution(1, 1));
  }
  RunningSum sum;
  ASSERT_TRUE(sum.assign(blocksOf(1), contributions, scheduler).ok());
  auto rows = rowsOf(sum.result());
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[7], std::make_pair((1e8f + 1.f) + -1e8f, 6.f));
  EXPECT_EQ(rows[-3], std::make_pair(5.f, 6.f));
  EXPECT_EQ(rows[0], std::make_pair(9.f, 10.f));
  const BlockGradient &block = sum.result().blocks[1];
  std::map<int64_t, void *> stateOf;
  for (int64_t i = 0; i < block.keyCount; ++i)
    stateOf[block.keys[i]] = block.rows[i];
  EXPECT_EQ(stateOf[7], state[0]);
  EXPECT_EQ(stateOf[-3], state[1]);
  EXPECT_EQ(stateOf[0], state[2]);
}

// Large blocks are split into tasks; compared with one loop.
TEST(GroupSums, ThreadsChangeNoBit) {
  constexpr int64_t count = 100000, keyCount = 5000;
  Part parts[3];
  std::vector<float> state(2);
  uint64_t random = 1;
  auto next = [&random] {
    random = random * 6364136223846793005u + 1;
    return float(int32_t(random >> 32)) * 1e-6f;
  };
  std::vector<PartialSum> contributions;
  for (int p = 0; p < 3; ++p) {
    for (int64_t i = 0; i < count; ++i)
      parts[p].dense.push_back(next());
    for (int64_t k = 0; k < keyCount; ++k) {
      parts[p].keys.push_back(k * (p + 1));
      parts[p].rows.push_back(next());
      parts[p].rows.push_back(next());
      parts[p].state.push_back(state.data());
    }
    contributions.push_back(parts[p].contribution(1, 1));
  }
  std::map<int64_t, std::pair<float, float>> expected;
  for (const Part &part : parts)
    for (int64_t k = 0; k < keyCount; ++k) {
      std::pair<float, float> row = {part.rows[2 * k], part.rows[2 * k + 1]};
      auto [found, isNew] = expected.insert({part.keys[k], row});
      if (!isNew) {
        found->second.first += row.first;
        found->second.second += row.second;
      }
    }
  for (int threads : {1, 3}) {
    Scheduler scheduler(threads);
    RunningSum sum;
    ASSERT_TRUE(sum.assign(blocksOf(count), contributions, scheduler).ok());
    auto *dense = static_cast<const float *>(sum.result().blocks[0].dense);
    for (int64_t i = 0; i < count; ++i)
      ASSERT_EQ(dense[i],
                (parts[0].dense[i] + parts[1].dense[i]) + parts[2].dense[i]);
    EXPECT_EQ(rowsOf(sum.result()), expected);
  }
}
