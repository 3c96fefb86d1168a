//===- KeyIndexTest.cpp - Distinct keys of a batch ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lookups test the contents of an index (Abi/LookupTest.cpp). These tests cover
// whether an index is copied.
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Table/KeyIndex.h"

#include "gtest/gtest.h"

#include <vector>

using namespace pdlrt;

namespace {
using Inputs = std::vector<std::vector<int64_t>>;

/// The arrays of ids, and their lengths.
struct Ids {
  explicit Ids(const Inputs &inputs) {
    for (const std::vector<int64_t> &input : inputs) {
      pointers.push_back(input.data());
      counts.push_back(int64_t(input.size()));
    }
  }
  std::vector<const int64_t *> pointers;
  std::vector<int64_t> counts;
};
} // namespace

TEST(KeyIndex, IsCopiedWhereIdsAreTheSame) {
  const Inputs first = {{5, 4, 5}, {}, {5, 9}};
  const Ids ids(first);
  KeyIndex known;
  ASSERT_TRUE(known.assign(3, ids.pointers.data(), ids.counts.data()).ok());
  const auto copies = [&](const Inputs &inputs) {
    const Ids others(inputs);
    KeyIndex index;
    const bool isCopied =
        index.assignLike(known, int32_t(inputs.size()), others.pointers.data(),
                         others.counts.data());
    if (isCopied) {
      EXPECT_EQ(index.keyCount(), 3);
      EXPECT_EQ(index.occurrenceCount(), 5);
    }
    return isCopied;
  };
  EXPECT_TRUE(copies(first));
  // The boundaries do not matter.
  EXPECT_TRUE(copies({{5, 4, 5, 5, 9}}));
  EXPECT_FALSE(copies({{5, 4, 5}}));
  EXPECT_FALSE(copies({{5, 4, 5}, {5, 9, 9}}));
  EXPECT_FALSE(copies({{5, 4, 5}, {5, 7}}));
  EXPECT_FALSE(copies({{4, 5, 5, 5, 9}}));
}
