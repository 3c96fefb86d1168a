//===- PoolingTest.cpp - Bags of device threads, bit for bit --------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Threads.h"
#include "pdlabi/abi/calls.h"

#include "pdlabi/device.h"

using namespace pdltest;

namespace {

constexpr int32_t poolings[] = {PDL_POOL_SUM, PDL_POOL_MEAN, PDL_POOL_SQRTN};

/// Input of a lookup: bags of ids, or one id in each bag.
struct Input {
  int64_t first, bagCount;
  int32_t pooling;
  std::vector<int32_t> splits;

  const int32_t *splitsOrNull() const {
    return splits.empty() ? nullptr : splits.data();
  }
};

/// Lookup of some inputs. Keys are in any order, which no function requires.
struct Lookup {
  int64_t keys;
  std::vector<Input> inputs;
  std::vector<int32_t> inverse, keySplits{0}, occurrences;

  Lookup(int inputCount, int64_t maxBags, int64_t keys, std::mt19937 &random)
      : keys(keys) {
    for (int i = 0; i < inputCount; ++i)
      addInput(maxBags, random);
    for (int64_t key = 0; key < keys; ++key) {
      for (size_t o = 0; o < inverse.size(); ++o)
        if (inverse[o] == key)
          occurrences.push_back(static_cast<int32_t>(o));
      keySplits.push_back(static_cast<int32_t>(occurrences.size()));
    }
  }

  pdl_lookup onCpu() const {
    pdl_lookup lookup = {};
    lookup.key_count = keys;
    lookup.occurrence_count = static_cast<int64_t>(inverse.size());
    lookup.inverse = inverse.data();
    lookup.key_splits = keySplits.data();
    lookup.occurrences = occurrences.data();
    return lookup;
  }

private:
  void addInput(int64_t maxBags, std::mt19937 &random) {
    Input input = {static_cast<int64_t>(inverse.size()),
                   keys ? int64_t(random()) % (maxBags + 1) : 0,
                   poolings[random() % 3],
                   {}};
    const bool isRagged = random() % 3;
    if (isRagged)
      input.splits.push_back(0);
    int64_t ids = 0;
    for (int64_t bag = 0; bag < input.bagCount; ++bag) {
      const int64_t size = !isRagged           ? 1
                           : random() % 9 == 0 ? 5 + random() % 30
                                               : random() % 4;
      for (int64_t i = 0; i < size; ++i)
        // Some keys have most of the ids, and some have none.
        inverse.push_back(static_cast<int32_t>(
            random() % 2 ? random() % keys : random() % (keys / 8 + 1)));
      ids += size;
      if (isRagged)
        input.splits.push_back(static_cast<int32_t>(ids));
    }
    inputs.push_back(std::move(input));
  }
};

/// Positions of bags in the rows of a wider matrix.
struct Layout {
  int64_t rowBags, rowStride, elements;

  Layout(int64_t bags, int64_t width, std::mt19937 &random)
      : rowBags(1 + random() % 5), rowStride(rowBags * width + random() % 4),
        elements(bags ? (bags - 1) / rowBags * rowStride +
                            ((bags - 1) % rowBags + 1) * width
                      : 0) {}
};

template <typename T> class PoolingTest : public testing::Test {
protected:
  std::mt19937 random{11};
};
TYPED_TEST_SUITE(PoolingTest, ElementTypes);

TYPED_TEST(PoolingTest, PoolsInBagOrder) {
  using T = TypeParam;
  for (int round = 0; round < 60; ++round) {
    auto &random = this->random;
    const Lookup lookup(1, 80, 1 + random() % 60, random);
    const Input &input = lookup.inputs[0];
    const int64_t bags = input.bagCount, width = 1 + random() % 20;
    const Layout layout(bags, width, random);
    const auto rows =
        anyNumbers<T>(lookup.keys * width, numbers[round % 3], random);
    std::vector<T> want(static_cast<size_t>(layout.elements), T(-7));
    pdlrt_pool(typeCode<T>, input.pooling, bags, width, rows.data(),
               lookup.inverse.data(), input.splitsOrNull(), layout.rowBags,
               layout.rowStride, want.data());
    for (int64_t threads : threadCounts)
      for (Fence fence : fences) {
        const auto source = Fenced<T>::input(rows, fence);
        const auto inverse = Fenced<int32_t>::input(lookup.inverse, fence);
        const auto splits = Fenced<int32_t>::input(input.splits, fence);
        const Fenced<T> out(std::vector<T>(want.size(), T(-7)), fence);
        runThreads(threads, random, [&](int64_t first, int64_t stride) {
          PDL_DEVICE_FUNCTION(T, pool)
          (input.pooling, bags, width, source.data(), inverse.data(),
           input.splitsOrNull() ? splits.data() : nullptr, layout.rowBags,
           layout.rowStride, out.data(), first, stride);
        });
        expectSameBits<T>(out.values(), want);
      }
  }
}

/// Gradient with respect to the rows of a lookup, on CPU and device.
template <typename T> class Gradient {
public:
  Gradient(const Lookup &lookup, Numbers numbers, std::mt19937 &random)
      : lookup(lookup), width(1 + random() % 12) {
    // The list has no entry for inputs that a program does not differentiate.
    for (const Input &input : lookup.inputs)
      if (random() % 4) {
        layouts.emplace_back(input.bagCount, width, random);
        cotangents.push_back(
            anyNumbers<T>(layouts.back().elements, numbers, random));
        inputs.push_back(&input);
      }
  }
  bool hasInputs() const { return !inputs.empty(); }

  std::vector<T> onCpu() const {
    std::vector<pdl_pooled_input> list;
    for (size_t i = 0; i < inputs.size(); ++i)
      list.push_back({inputs[i]->pooling, inputs[i]->first, inputs[i]->bagCount,
                      cotangents[i].data(), layouts[i].rowBags,
                      layouts[i].rowStride, inputs[i]->splitsOrNull()});
    std::vector<T> out(elements(), T(-7));
    std::vector<int32_t> bagOf(lookup.inverse.size());
    const pdl_lookup all = lookup.onCpu();
    pdlrt_pool_gradient(typeCode<T>, &all, width,
                        static_cast<int32_t>(list.size()), list.data(),
                        bagOf.data(), out.data());
    return out;
  }

  void expectSame(int64_t threads, Fence fence, std::mt19937 &random) const {
    const auto keySplits = Fenced<int32_t>::input(lookup.keySplits, fence);
    const auto occurrences = Fenced<int32_t>::input(lookup.occurrences, fence);
    const Fenced<int32_t> bagOf(
        std::vector<int32_t>(lookup.inverse.size(), -1000), fence);
    const Fenced<T> out(std::vector<T>(elements(), T(-7)), fence);
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Input &input = *inputs[i];
      const auto splits = Fenced<int32_t>::input(input.splits, fence);
      const auto cotangent = Fenced<T>::input(cotangents[i], fence);
      const bool isRagged = input.splitsOrNull();
      if (isRagged)
        runThreads(threads, random, [&](int64_t first, int64_t stride) {
          pdldevice_bags_of(input.bagCount, splits.data(),
                            bagOf.data() + input.first, first, stride);
        });
      runThreads(threads, random, [&](int64_t first, int64_t stride) {
        PDL_DEVICE_FUNCTION(T, pool_gradient)
        (i == 0, lookup.keys, width, keySplits.data(), occurrences.data(),
         input.pooling, input.first, input.bagCount, cotangent.data(),
         layouts[i].rowBags, layouts[i].rowStride,
         isRagged ? splits.data() : nullptr, isRagged ? bagOf.data() : nullptr,
         out.data(), first, stride);
      });
    }
    expectSameBits<T>(out.values(), onCpu());
  }

private:
  size_t elements() const { return static_cast<size_t>(lookup.keys * width); }

  const Lookup &lookup;
  int64_t width;
  std::vector<const Input *> inputs;
  std::vector<Layout> layouts;
  std::vector<std::vector<T>> cotangents;
};

TYPED_TEST(PoolingTest, GradientAddsTheOccurrencesOfEachKey) {
  for (int round = 0; round < 60; ++round) {
    const Lookup lookup(1 + round % 5, 60, 1 + this->random() % 40,
                        this->random);
    const Gradient<TypeParam> gradient(lookup, numbers[round % 3],
                                       this->random);
    if (!gradient.hasInputs())
      continue;
    for (int64_t threads : threadCounts)
      gradient.expectSame(threads, fences[round % 2], this->random);
  }
}

TYPED_TEST(PoolingTest, NoKeys) {
  const Lookup lookup(3, 0, 0, this->random);
  const Gradient<TypeParam> gradient(lookup, Numbers::normal, this->random);
  ASSERT_TRUE(gradient.hasInputs());
  for (int64_t threads : threadCounts)
    gradient.expectSame(threads, Fence::after, this->random);
}

TEST(Pooling, BagsOf) {
  std::mt19937 random(3);
  const std::vector<int32_t> splits = {0, 0, 3, 4, 4, 9, 9};
  for (int64_t threads : threadCounts) {
    const Fenced<int32_t> bagOf(std::vector<int32_t>(9, -1), Fence::after);
    runThreads(threads, random, [&](int64_t first, int64_t stride) {
      pdldevice_bags_of(6, splits.data(), bagOf.data(), first, stride);
    });
    expectSameBits<int32_t>(bagOf.values(),
                            std::vector<int32_t>{1, 1, 1, 2, 4, 4, 4, 4, 4});
  }
}

// The host computes the size of launches with these functions, from pointers of
// a device.
TEST(Pooling, TurnsReadNoMemory) {
  auto *elsewhere = reinterpret_cast<int32_t *>(8);
  EXPECT_EQ(pdldevice_pool_turns(0, 7, 3, elsewhere, elsewhere, elsewhere, 1, 3,
                                 elsewhere),
            21);
  EXPECT_EQ(pdldevice_bags_of_turns(7, elsewhere, elsewhere), 7);
  EXPECT_EQ(pdldevice_pool_gradient_turns(1, 5, 3, elsewhere, elsewhere, 0, 0,
                                          7, elsewhere, 1, 3, elsewhere,
                                          elsewhere, elsewhere),
            15);
}

} // namespace
