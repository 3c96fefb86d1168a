//===- RowKernelsTest.cpp - Gather, pooling, its gradient, reductions -----===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlabi/abi/calls.h"
#include "pdlabi/abi/codes.h"
#include "pdlabi/rounding.h"
#include "pdlrt/Sched/Scheduler.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace {

template <typename T> struct TypeCode;
template <> struct TypeCode<float> {
  static constexpr int32_t value = PDL_F32;
};
template <> struct TypeCode<double> {
  static constexpr int32_t value = PDL_F64;
};

/// A lookup of random ids, built slowly.
struct RandomLookup {
  std::vector<int32_t> splits{0}, inverse, keySplits, occurrences, bagOf;
  pdl_lookup lookup{};

  RandomLookup(int64_t bags, int64_t keys, unsigned seed) {
    std::mt19937 random(seed);
    for (int64_t bag = 0; bag < bags; ++bag) {
      const int size = static_cast<int>(random() % 5);
      for (int i = 0; i < size; ++i) {
        inverse.push_back(static_cast<int32_t>(random() % keys));
        bagOf.push_back(static_cast<int32_t>(bag));
      }
      splits.push_back(static_cast<int32_t>(inverse.size()));
    }
    keySplits.push_back(0);
    for (int64_t key = 0; key < keys; ++key) {
      for (size_t o = 0; o < inverse.size(); ++o)
        if (inverse[o] == key)
          occurrences.push_back(static_cast<int32_t>(o));
      keySplits.push_back(static_cast<int32_t>(occurrences.size()));
    }
    lookup.key_count = keys;
    lookup.occurrence_count = static_cast<int64_t>(inverse.size());
    lookup.inverse = inverse.data();
    lookup.key_splits = keySplits.data();
    lookup.occurrences = occurrences.data();
  }
};

/// Returns a whole lookup as one input; bags are in rows of `rowBags`,
/// `rowStride` apart.
pdl_pooled_input inputOf(const RandomLookup &data, int32_t pooling,
                         const void *cotangent, int64_t rowBags,
                         int64_t rowStride) {
  return {pooling,           0,       int64_t(data.splits.size()) - 1,
          cotangent,         rowBags, rowStride,
          data.splits.data()};
}

/// Returns small integers. Their sums are exact in any order, so that a loop in
/// another order is a bitwise oracle.
template <typename T> std::vector<T> integers(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> values(count);
  for (T &value : values)
    value = static_cast<T>(static_cast<int>(random() % 201) - 100);
  return values;
}

/// Returns the part of a lookup that `pdlrt_gather` reads.
static pdl_lookup lookupOf(int64_t count, void *const *rows,
                           int32_t storage = PDL_STORE_ELEMENT) {
  pdl_lookup lookup = {};
  lookup.key_count = count;
  lookup.rows = rows;
  lookup.storage = storage;
  return lookup;
}

template <typename T> class RowKernelsTest : public testing::Test {};
using ElementTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(RowKernelsTest, ElementTypes);

TYPED_TEST(RowKernelsTest, GatherCopiesRows) {
  using T = TypeParam;
  std::vector<T> a{1, 2, 3}, b{4, 5, 6};
  void *rows[] = {b.data(), a.data(), b.data()};
  std::vector<T> out(9);
  const pdl_lookup lookup = lookupOf(3, rows);
  pdlrt_gather(TypeCode<T>::value, &lookup, 3, out.data());
  EXPECT_EQ(out, (std::vector<T>{4, 5, 6, 1, 2, 3, 4, 5, 6}));
}

template <typename Stored>
static void expectGatherWidens(int32_t storage, int64_t width) {
  constexpr int64_t count = 40;
  std::vector<Stored> values(count * width);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = Stored(0.37f * std::sin(float(i)));
  std::vector<void *> rows;
  for (int64_t i = 0; i < count; ++i)
    rows.push_back(values.data() + i * 7 % count * width);
  const pdl_lookup lookup = lookupOf(count, rows.data(), storage);
  std::vector<float> out(count * width);
  pdlrt_gather(PDL_F32, &lookup, width, out.data());
  for (int64_t i = 0; i < count; ++i)
    for (int64_t j = 0; j < width; ++j)
      ASSERT_EQ(out[i * width + j], float(values[i * 7 % count * width + j]));
}

TEST(RowKernels, GatherWidensRowsOfSixteenBits) {
  for (int64_t width : {1, 10, 16, 37}) {
    expectGatherWidens<pdlabi::BFloat16>(PDL_STORE_BF16, width);
    expectGatherWidens<pdlabi::Float16>(PDL_STORE_F16, width);
  }
}

TYPED_TEST(RowKernelsTest, PoolsExactSums) {
  using T = TypeParam;
  for (int64_t width : {1, 7, 16, 33}) {
    RandomLookup data(40, 9, 17);
    auto rows = integers<T>(static_cast<size_t>(9 * width), 3);
    std::vector<T> out(static_cast<size_t>(40 * width), T(-1));
    for (int32_t pooling : {PDL_POOL_SUM, PDL_POOL_MEAN, PDL_POOL_SQRTN}) {
      pdlrt_pool(TypeCode<T>::value, pooling, 40, width, rows.data(),
                 data.inverse.data(), data.splits.data(), 1, width, out.data());
      for (int64_t bag = 0; bag < 40; ++bag) {
        const int64_t size = data.splits[bag + 1] - data.splits[bag];
        for (int64_t j = 0; j < width; ++j) {
          T want = 0;
          for (int64_t o = data.splits[bag + 1]; o-- > data.splits[bag];)
            want += rows[data.inverse[o] * width + j];
          if (pooling == PDL_POOL_MEAN && size)
            want = want / static_cast<T>(size);
          if (pooling == PDL_POOL_SQRTN && size)
            want = want / std::sqrt(static_cast<T>(size));
          EXPECT_EQ(out[bag * width + j], want)
              << "bag " << bag << ", element " << j;
        }
      }
    }
  }
}

TYPED_TEST(RowKernelsTest, PoolAddsInBagOrder) {
  using T = TypeParam;
  // In this order the large values cancel before the small one is added.
  const T large = std::ldexp(T(1), std::numeric_limits<T>::digits + 2);
  std::vector<T> rows{large, -large, 1};
  const int32_t inverse[] = {0, 1, 2, 0, 2, 1};
  const int32_t splits[] = {0, 3, 6};
  T out[2];
  pdlrt_pool(TypeCode<T>::value, PDL_POOL_SUM, 2, 1, rows.data(), inverse,
             splits, 1, 1, out);
  EXPECT_EQ(out[0], T(1));
  EXPECT_EQ(out[1], T(0));
}

TYPED_TEST(RowKernelsTest, PoolWithoutSplitsTakesOneRowABag) {
  using T = TypeParam;
  std::vector<T> rows{1, 2, 3, 4};
  const int32_t inverse[] = {1, 0, 1};
  std::vector<T> out(6);
  pdlrt_pool(TypeCode<T>::value, PDL_POOL_MEAN, 3, 2, rows.data(), inverse,
             nullptr, 1, 2, out.data());
  EXPECT_EQ(out, (std::vector<T>{3, 4, 1, 2, 3, 4}));
}

TYPED_TEST(RowKernelsTest, PoolWritesBagsIntoColumnsOfAWiderMatrix) {
  using T = TypeParam;
  std::vector<T> rows{1, 2, 3, 4};
  const int32_t inverse[] = {1, 0, 1, 1, 0, 0};
  // Two rows of three bags each, with two unused elements.
  std::vector<T> out(16, T(-7));
  pdlrt_pool(TypeCode<T>::value, PDL_POOL_SUM, 6, 2, rows.data(), inverse,
             nullptr, 3, 8, out.data());
  EXPECT_EQ(out, (std::vector<T>{3, 4, 1, 2, 3, 4, -7, -7, //
                                 3, 4, 1, 2, 1, 2, -7, -7}));
}

TYPED_TEST(RowKernelsTest, PoolGradientIsTheTransposedPool) {
  using T = TypeParam;
  // Sums are exact; divided forms are compared in double.
  RandomLookup data(64, 13, 23);
  const int64_t width = 10;
  auto cotangent = integers<T>(static_cast<size_t>(64 * width), 4);
  for (int32_t pooling : {PDL_POOL_SUM, PDL_POOL_MEAN, PDL_POOL_SQRTN}) {
    std::vector<T> out(static_cast<size_t>(13 * width), T(5));
    const pdl_pooled_input input =
        inputOf(data, pooling, cotangent.data(), 1, width);
    std::vector<int32_t> bagOf(data.inverse.size());
    pdlrt_pool_gradient(TypeCode<T>::value, &data.lookup, width, 1, &input,
                        bagOf.data(), out.data());
    std::vector<double> want(out.size(), 0.0);
    for (size_t o = data.inverse.size(); o-- > 0;) {
      const int32_t bag = data.bagOf[o];
      const int size = data.splits[bag + 1] - data.splits[bag];
      const double divisor = pooling == PDL_POOL_SUM    ? 1.0
                             : pooling == PDL_POOL_MEAN ? size
                                                        : std::sqrt(size);
      for (int64_t j = 0; j < width; ++j)
        want[data.inverse[o] * width + j] +=
            static_cast<double>(cotangent[bag * width + j]) / divisor;
    }
    const double tolerance =
        pooling == PDL_POOL_SUM ? 0.0 : 4e3 * std::numeric_limits<T>::epsilon();
    for (size_t i = 0; i < out.size(); ++i)
      EXPECT_NEAR(static_cast<double>(out[i]), want[i], tolerance) << i;
  }
}

/// The cotangent of a bag does not depend on its position.
TYPED_TEST(RowKernelsTest, PoolGradientReadsBagsFromColumnsOfAWiderMatrix) {
  using T = TypeParam;
  RandomLookup data(60, 13, 29);
  const int64_t width = 5;
  auto plain = integers<T>(static_cast<size_t>(60 * width), 6);
  for (int64_t rowBags : {1, 3, 4, 60}) {
    const int64_t rowStride = rowBags * width + 2;
    std::vector<T> apart(static_cast<size_t>(60 / rowBags * rowStride),
                         std::numeric_limits<T>::quiet_NaN());
    for (int64_t bag = 0; bag < 60; ++bag)
      std::copy_n(plain.data() + bag * width, width,
                  apart.data() + bag / rowBags * rowStride +
                      bag % rowBags * width);
    std::vector<T> want(13 * width), out(13 * width);
    std::vector<int32_t> bagOf(data.inverse.size());
    const pdl_pooled_input neighbors =
        inputOf(data, PDL_POOL_MEAN, plain.data(), 1, width);
    const pdl_pooled_input columns =
        inputOf(data, PDL_POOL_MEAN, apart.data(), rowBags, rowStride);
    pdlrt_pool_gradient(TypeCode<T>::value, &data.lookup, width, 1, &neighbors,
                        bagOf.data(), want.data());
    pdlrt_pool_gradient(TypeCode<T>::value, &data.lookup, width, 1, &columns,
                        bagOf.data(), out.data());
    EXPECT_EQ(out, want) << rowBags << " bags a row";
  }
}

TYPED_TEST(RowKernelsTest, PoolGradientTakesInputsOfAMergedLookup) {
  using T = TypeParam;
  // Three inputs of one lookup: ids {7, 8}, {7} and {8, 7, 8}; keys 7 and 8.
  const int32_t inverse[] = {0, 1, 0, 1, 0, 1};
  const int32_t keySplits[] = {0, 3, 6};
  const int32_t occurrences[] = {0, 2, 4, 1, 3, 5};
  pdl_lookup lookup{};
  lookup.key_count = 2;
  lookup.occurrence_count = 6;
  lookup.inverse = inverse;
  lookup.key_splits = keySplits;
  lookup.occurrences = occurrences;
  const T first[] = {1, 2}, third[] = {10, 20, 40};
  T out[] = {T(99), T(99)};
  const pdl_pooled_input inputs[] = {
      {PDL_POOL_SUM, 0, 2, first, 1, 1, nullptr},
      {PDL_POOL_SUM, 3, 3, third, 1, 1, nullptr}};
  pdlrt_pool_gradient(TypeCode<T>::value, &lookup, 1, 1, inputs, nullptr, out);
  EXPECT_EQ(out[0], T(1));
  EXPECT_EQ(out[1], T(2));
  pdlrt_pool_gradient(TypeCode<T>::value, &lookup, 1, 2, inputs, nullptr, out);
  EXPECT_EQ(out[0], T(21));
  EXPECT_EQ(out[1], T(52));
}

TYPED_TEST(RowKernelsTest, PoolGradientAddsOccurrenceByOccurrence) {
  using T = TypeParam;
  // The large values cancel before the small one is added; a separate sum that
  // is added at the end would lose it.
  const T large = std::ldexp(T(1), std::numeric_limits<T>::digits + 2);
  const int32_t inverse[] = {0, 0, 0}, keySplits[] = {0, 3};
  const int32_t occurrences[] = {0, 1, 2};
  pdl_lookup lookup{};
  lookup.key_count = 1;
  lookup.occurrence_count = 3;
  lookup.inverse = inverse;
  lookup.key_splits = keySplits;
  lookup.occurrences = occurrences;
  const T first[] = {large, -large}, second[] = {1};
  const pdl_pooled_input inputs[] = {
      {PDL_POOL_SUM, 0, 2, first, 1, 1, nullptr},
      {PDL_POOL_SUM, 2, 1, second, 1, 1, nullptr}};
  T out = 5;
  pdlrt_pool_gradient(TypeCode<T>::value, &lookup, 1, 2, inputs, nullptr, &out);
  EXPECT_EQ(out, T(1));
}

TYPED_TEST(RowKernelsTest, ReductionsOfIntegersAreExact) {
  using T = TypeParam;
  for (int64_t width : {1, 2, 15, 16, 17, 31, 48, 101}) {
    auto values = integers<T>(static_cast<size_t>(3 * width), 8);
    for (int64_t row = 0; row < 3; ++row) {
      const T *begin = values.data() + row * width;
      const T sum = std::accumulate(begin, begin + width, T(0));
      T out[3];
      pdlrt_reduce_rows(TypeCode<T>::value, PDL_REDUCE_SUM, 3, width,
                        values.data(), out);
      EXPECT_EQ(out[row], sum);
      pdlrt_reduce_rows(TypeCode<T>::value, PDL_REDUCE_MEAN, 3, width,
                        values.data(), out);
      EXPECT_EQ(out[row], sum / static_cast<T>(width));
      pdlrt_reduce_rows(TypeCode<T>::value, PDL_REDUCE_MAX, 3, width,
                        values.data(), out);
      EXPECT_EQ(out[row], *std::max_element(begin, begin + width));
    }
  }
}

TYPED_TEST(RowKernelsTest, ReductionTakesTheSettledTree) {
  using T = TypeParam;
  // 2^digits + 1 is not a number of T, so each case shows which pair was added
  // first.
  const T large = std::ldexp(T(1), std::numeric_limits<T>::digits);
  std::vector<T> values(32, T(0));
  T out;
  // Elements 3 and 19 share lane 3 and cancel there, before lane 11 is added.
  values[3] = large, values[19] = -large, values[11] = 1;
  pdlrt_reduce_rows(TypeCode<T>::value, PDL_REDUCE_SUM, 1, 32, values.data(),
                    &out);
  EXPECT_EQ(out, T(1));
  // Lane 11 is added to lane 3 in the first step, and lane 7 one step later.
  std::fill(values.begin(), values.end(), T(0));
  values[3] = large, values[11] = 1, values[7] = -large;
  pdlrt_reduce_rows(TypeCode<T>::value, PDL_REDUCE_SUM, 1, 32, values.data(),
                    &out);
  EXPECT_EQ(out, T(0));
  values[3] = large, values[11] = -large, values[7] = 1;
  pdlrt_reduce_rows(TypeCode<T>::value, PDL_REDUCE_SUM, 1, 32, values.data(),
                    &out);
  EXPECT_EQ(out, T(1));
}

TYPED_TEST(RowKernelsTest, MaximumKeepsNaNWhereverItStands) {
  using T = TypeParam;
  for (int64_t width : {3, 16, 40})
    for (int64_t at = 0; at < width; ++at) {
      std::vector<T> values(static_cast<size_t>(width), T(1));
      values[at] = std::numeric_limits<T>::quiet_NaN();
      T out;
      pdlrt_reduce_rows(TypeCode<T>::value, PDL_REDUCE_MAX, 1, width,
                        values.data(), &out);
      EXPECT_TRUE(std::isnan(out)) << width << " " << at;
    }
  const T negative[] = {-3, -2, -7};
  T out;
  pdlrt_reduce_rows(TypeCode<T>::value, PDL_REDUCE_MAX, 1, 3, negative, &out);
  EXPECT_EQ(out, T(-2));
}

TYPED_TEST(RowKernelsTest, LossSumIsOneAscendingChainInDouble) {
  using T = TypeParam;
  std::vector<T> values, weights;
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(0.0, 2.0);
  double sum = 0, weightSum = 0, plain = 0;
  for (int i = 0; i < 1001; ++i) {
    values.push_back(static_cast<T>(uniform(random)));
    weights.push_back(static_cast<T>(uniform(random)));
    sum += double(values.back()) * double(weights.back());
    weightSum += double(weights.back());
    plain += double(values.back());
  }
  double gotSum, gotWeight;
  pdlrt_loss_sum(TypeCode<T>::value, 1001, values.data(), weights.data(),
                 &gotSum, &gotWeight);
  EXPECT_EQ(gotSum, sum);
  EXPECT_EQ(gotWeight, weightSum);
  pdlrt_loss_sum(TypeCode<T>::value, 1001, values.data(), nullptr, &gotSum,
                 &gotWeight);
  EXPECT_EQ(gotSum, plain);
  EXPECT_EQ(gotWeight, 1001.0);
}

/// Expects `compute` to write the same `count` elements on one thread and on
/// several.
template <typename T, typename Compute>
void expectSameOnThreads(size_t count, Compute compute) {
  std::vector<T> alone(count, T(7)), shared(count, T(7));
  compute(alone.data());
  for (int threads : {2, 5}) {
    pdlrt::Scheduler scheduler(threads);
    scheduler.parallelFor(1, [&](int64_t) { compute(shared.data()); }, threads);
    EXPECT_EQ(std::memcmp(alone.data(), shared.data(), count * sizeof(T)), 0);
  }
}

// The sums are not exact, so that another order would be detected.
TYPED_TEST(RowKernelsTest, ThreadsThatShareWorkChangeNoBit) {
  using T = TypeParam;
  constexpr int64_t bagsInRow = 6, rows = 4000, keys = 900, width = 10,
                    stride = bagsInRow * width + 3;
  constexpr int32_t type = TypeCode<T>::value;
  const RandomLookup lookup(rows * bagsInRow, keys, 3);
  std::vector<T> values(keys * width), cotangent(rows * stride);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = std::sin(T(i));
  for (size_t i = 0; i < cotangent.size(); ++i)
    cotangent[i] = std::cos(T(i) / 3);
  std::vector<void *> pointers;
  for (int64_t i = 0; i < 20000; ++i)
    pointers.push_back(values.data() + i * 37 % keys * width);
  const pdl_lookup gathered =
      lookupOf(int64_t(pointers.size()), pointers.data());
  expectSameOnThreads<T>(pointers.size() * width, [&](T *out) {
    pdlrt_gather(type, &gathered, width, out);
  });
  for (int32_t pooling : {PDL_POOL_SUM, PDL_POOL_MEAN}) {
    expectSameOnThreads<T>(size_t(rows * stride), [&](T *out) {
      pdlrt_pool(type, pooling, rows * bagsInRow, width, values.data(),
                 lookup.inverse.data(), lookup.splits.data(), bagsInRow, stride,
                 out);
    });
    // Bags, then single ids, then bags again; and without the middle part.
    const int64_t bags = rows * bagsInRow, bagsEnd = bags / 3, next = bags / 2;
    const int32_t *splits = lookup.splits.data();
    std::vector<int32_t> last;
    for (int64_t bag = next; bag <= bags; ++bag)
      last.push_back(splits[bag] - splits[next]);
    const pdl_pooled_input inputs[] = {
        {pooling, 0, bagsEnd, cotangent.data(), bagsInRow, stride, splits},
        {pooling, splits[bagsEnd], splits[next] - splits[bagsEnd],
         cotangent.data() + stride, 1, 1, nullptr},
        {pooling, splits[next], bags - next, cotangent.data() + 3, 1, 2,
         last.data()}};
    const pdl_pooled_input outer[] = {inputs[0], inputs[2]};
    std::vector<int32_t> bagOf(lookup.inverse.size());
    expectSameOnThreads<T>(size_t(keys * width), [&](T *out) {
      pdlrt_pool_gradient(type, &lookup.lookup, width, 3, inputs, bagOf.data(),
                          out);
    });
    expectSameOnThreads<T>(size_t(keys * width), [&](T *out) {
      pdlrt_pool_gradient(type, &lookup.lookup, width, 2, outer, bagOf.data(),
                          out);
    });
  }
  expectSameOnThreads<T>(size_t(rows), [&](T *out) {
    pdlrt_reduce_rows(type, PDL_REDUCE_SUM, rows, stride, cotangent.data(),
                      out);
  });
  expectSameOnThreads<T>(size_t(rows * stride), [&](T *out) {
    struct Arguments {
      const T *from;
      T *to;
    } arguments = {cotangent.data(), out};
    pdlrt_run_loop(
        "scale", rows * stride, 2 * sizeof(T),
        [](const void *given, int64_t begin, int64_t end) {
          const auto &own = *static_cast<const Arguments *>(given);
          for (int64_t i = begin; i < end; ++i)
            own.to[i] = own.from[i] * T(1.1);
        },
        &arguments);
  });
}

} // namespace
