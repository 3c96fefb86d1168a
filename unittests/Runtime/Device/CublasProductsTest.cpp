//===- CublasProductsTest.cpp - Calls of cuBLASLt -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CublasStandIn.h"

#include "Device/CublasProducts.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <random>

using namespace pdlrt;
using standin::state;
using testing::AllOf;
using testing::HasSubstr;

namespace {

const auto itsStream = reinterpret_cast<cuda::Stream>(0x40);

class CublasProductsTest : public testing::Test {
protected:
  void SetUp() override { open({}); }
  void TearDown() override {
    products.reset();
    handle.reset();
    EXPECT_EQ(state.alive, 0);
  }
  void open(const FakeFaults &faults, bool roundsToTF32 = false) {
    products.reset();
    handle.reset();
    device = createFakeDevice(faults);
    handle = *CublasHandle::create(library, roundsToTF32);
    products = std::make_unique<CublasProducts>(*device, *handle, itsStream);
  }

  /// Returns small integers, whose sums of products are exact in any order.
  std::vector<float> numbers(int64_t count) {
    std::vector<float> values(static_cast<size_t>(count));
    for (float &value : values)
      value = float(int(random() % 9) - 4);
    return values;
  }

  void expectProduct(int64_t m, int64_t n, int64_t k, int64_t gap,
                     int transposes, bool hasBias, bool roundsFactors) {
    SCOPED_TRACE(testing::Message()
                 << m << " x " << n << " x " << k << ", gap " << gap
                 << ", transposed " << transposes << ", bias " << hasBias);
    const bool transposeA = transposes & 1, transposeB = transposes & 2;
    const std::vector<float> a = numbers(m * k), b = numbers(k * n),
                             bias = numbers(n);
    const int64_t stride = n + gap;
    std::vector<float> c(size_t((m - 1) * stride + n), -77), want = c;
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        float sum = hasBias ? bias[size_t(j)] : 0;
        for (int64_t l = 0; l < k; ++l)
          sum += a[size_t(transposeA ? l * m + i : i * k + l)] *
                 b[size_t(transposeB ? j * k + l : l * n + j)];
        want[size_t(i * stride + j)] = sum;
      }
    const Expected<bool> done = products->multiply(
        {transposeA, transposeB, m, n, k, a.data(), b.data(),
         hasBias ? bias.data() : nullptr, c.data(), stride, roundsFactors});
    ASSERT_TRUE(done.ok()) << done.status().message();
    EXPECT_TRUE(*done);
    EXPECT_EQ(c, want);
    EXPECT_EQ(state.compute, roundsFactors ? cublaslt::computeFast16BF
                                           : cublaslt::computeFloat32);
  }

  /// Computes a product of m rows whose operands have the given offsets in
  /// memory.
  Expected<bool> ofRows(int64_t m, size_t aOffset = 0, size_t bOffset = 0,
                        size_t cOffset = 0, size_t biasOffset = 0,
                        bool hasBias = true) {
    return products->multiply(
        {false, false, m, 1, 1, memory.data() + aOffset,
         memory.data() + 8 + bOffset,
         hasBias ? memory.data() + 16 + biasOffset : nullptr,
         memory.data() + 24 + cOffset, 1, false});
  }
  template <typename T> static T asked(int attribute) {
    return standin::valueOf<T>(state.preference, attribute);
  }

  std::mt19937 random{3};
  const cublaslt::Library library = standin::library();
  std::unique_ptr<Device> device;
  std::unique_ptr<CublasHandle> handle;
  std::unique_ptr<CublasProducts> products;
  alignas(64) std::array<float, 4096> memory = {};
};

TEST_F(CublasProductsTest, RowsBecomeColumns) {
  for (const auto &[m, n, k] :
       {std::array<int64_t, 3>{1, 1, 1}, {5, 1, 3}, {1, 5, 3}, {7, 4, 9}})
    for (int64_t gap : {0, 3})
      for (int transposes = 0; transposes < 4; ++transposes)
        for (bool hasBias : {false, true})
          for (bool roundsFactors : {false, true})
            expectProduct(m, n, k, gap, transposes, hasBias, roundsFactors);
  EXPECT_EQ(state.stream, itsStream);
}

TEST_F(CublasProductsTest, WhatIsPreferredIsTheSameEachTime) {
  ASSERT_TRUE(ofRows(2, /*aOffset=*/1, /*bOffset=*/2, /*cOffset=*/3).ok());
  EXPECT_EQ(asked<uint64_t>(cublaslt::workspaceAttribute), 32u << 20);
  // No reduction in place, and none in the type of the result.
  EXPECT_EQ(asked<uint32_t>(cublaslt::reductionAttribute), 2u);
  EXPECT_EQ(asked<uint64_t>(cublaslt::implementationAttribute),
            ~uint64_t(0x40000));
  // B is the first factor.
  EXPECT_EQ(asked<uint32_t>(cublaslt::alignmentAttributeA), 8u);
  EXPECT_EQ(asked<uint32_t>(cublaslt::alignmentAttributeB), 4u);
  EXPECT_EQ(asked<uint32_t>(cublaslt::alignmentAttributeC), 4u);
  EXPECT_EQ(asked<uint32_t>(cublaslt::alignmentAttributeD), 4u);
  EXPECT_EQ(asked<uint64_t>(standin::biasAlignment), 16u);
}

TEST_F(CublasProductsTest, TF32IsForFactorsThatNothingElseRounds) {
  open({}, /*roundsToTF32=*/true);
  for (bool roundsFactors : {false, true}) {
    ASSERT_TRUE(*products->multiply({false, false, 1, 1, 1, memory.data(),
                                     memory.data() + 8, nullptr,
                                     memory.data() + 16, 1, roundsFactors}));
    // CUBLAS_COMPUTE_32F_FAST_16BF and CUBLAS_COMPUTE_32F_FAST_TF32.
    EXPECT_EQ(state.compute, roundsFactors ? 75 : 77);
    EXPECT_EQ(asked<uint64_t>(cublaslt::implementationAttribute),
              roundsFactors ? ~uint64_t(0x40000) : ~uint64_t(0));
    // Sums have the same order each time, whether factors are rounded or not.
    EXPECT_EQ(asked<uint32_t>(cublaslt::reductionAttribute), 2u);
  }
}

TEST_F(CublasProductsTest, HeuristicsAreQueriedOnceForEachKind) {
  const auto expectRequested = [&](int times, Expected<bool> done) {
    ASSERT_TRUE(done.ok());
    EXPECT_TRUE(*done);
    EXPECT_EQ(std::exchange(state.asked, 0), times);
  };
  expectRequested(1, ofRows(2));
  expectRequested(0, ofRows(2));
  // Other addresses with the same alignment use the same algorithm.
  expectRequested(0, ofRows(2, 4, 4, 4, 4));
  expectRequested(1, ofRows(3));
  expectRequested(1, ofRows(2, 1));
  expectRequested(1, ofRows(2, 0, 1));
  expectRequested(1, ofRows(2, 0, 0, 1));
  expectRequested(1, ofRows(2, 0, 0, 0, 1));
  expectRequested(1, ofRows(2, 0, 0, 0, 0, /*hasBias=*/false));
  expectRequested(0, ofRows(2));
  EXPECT_EQ(state.multiplied, 10);
}

TEST_F(CublasProductsTest, TheLastUsedKindsStay) {
  constexpr auto most = int64_t(CublasProducts::maxPlans);
  for (int64_t m = 1; m <= most; ++m)
    ASSERT_TRUE(ofRows(m).ok());
  const int full = state.alive;
  ASSERT_TRUE(ofRows(1).ok());
  EXPECT_EQ(state.asked, most);
  // The second one is now the least recently used.
  ASSERT_TRUE(ofRows(most + 1).ok());
  EXPECT_EQ(state.alive, full);
  EXPECT_EQ(std::exchange(state.asked, 0), most + 1);
  ASSERT_TRUE(ofRows(1).ok());
  ASSERT_TRUE(ofRows(3).ok());
  EXPECT_EQ(state.asked, 0);
  ASSERT_TRUE(ofRows(2).ok());
  EXPECT_EQ(state.asked, 1);
}

TEST_F(CublasProductsTest, WhatItHasNothingForIsNoError) {
  const auto expectDeclined = [&](int64_t m) {
    for (int round = 0; round < 2; ++round) {
      const Expected<bool> done = ofRows(m);
      ASSERT_TRUE(done.ok()) << done.status().message();
      EXPECT_FALSE(*done);
    }
    EXPECT_EQ(std::exchange(state.asked, 0), 1);
    EXPECT_EQ(state.multiplied, 0);
  };
  state.nextFailure = "heuristics";
  state.failure = cublaslt::notSupported;
  expectDeclined(1);
  state.responses = 0;
  expectDeclined(2);
  state.responses = 1;
  state.response.state = 7;
  expectDeclined(3);
  state.response.state = cublaslt::success;
  state.response.workspaceBytes = CublasProducts::workspaceBytes + 1;
  expectDeclined(4);
  state.response.workspaceBytes = CublasProducts::workspaceBytes;
  // No memory was needed until now.
  EXPECT_EQ(state.workspace, nullptr);
  state.nextFailure = "multiply";
  expectDeclined(5);
  const Expected<bool> large = ofRows(int64_t(1) << 31);
  ASSERT_TRUE(large.ok());
  EXPECT_FALSE(*large);
  EXPECT_EQ(state.asked, 0);
}

TEST_F(CublasProductsTest, MemoryOfItsOwnIsAllocatedOnce) {
  ASSERT_TRUE(ofRows(1).ok());
  void *const first = state.workspace;
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(state.workspaceBytes, CublasProducts::workspaceBytes);
  ASSERT_TRUE(ofRows(2).ok());
  EXPECT_EQ(state.workspace, first);
  open({.allocations = 0});
  const Expected<bool> none = ofRows(1);
  EXPECT_EQ(none.status().code(), PDL_OUT_OF_MEMORY);
}

TEST_F(CublasProductsTest, ErrorsHaveMessagesAndLeaveNothing) {
  state.failure = 14;
  for (const auto &[function, what] :
       {std::pair("createOperation", "describing a product to cuBLASLt"),
        std::pair("setOperation", "describing a product to cuBLASLt"),
        std::pair("createLayout", "describing a product to cuBLASLt"),
        std::pair("createPreference", "asking cuBLASLt for an algorithm"),
        std::pair("setPreference", "asking cuBLASLt for an algorithm"),
        std::pair("heuristics", "asking cuBLASLt for an algorithm")}) {
    state.nextFailure = function;
    const Expected<bool> done = ofRows(1);
    EXPECT_EQ(done.status().message(),
              std::string(what) + ": what went wrong (cuBLAS status 14)");
    EXPECT_EQ(done.status().code(), PDL_UNAVAILABLE);
    // Only the handle remains.
    EXPECT_EQ(state.alive, 1) << function;
  }
  state.nextFailure = "multiply";
  state.failure = 77;
  EXPECT_EQ(ofRows(1).status().message(),
            "a product of cuBLASLt: an error that the library has no text for "
            "(cuBLAS status 77)");
  EXPECT_TRUE(ofRows(1).ok());
}

TEST_F(CublasProductsTest, ALibraryThatDoesNotStart) {
  state.nextFailure = "create";
  state.failure = 1;
  EXPECT_EQ(CublasHandle::create(library, false).status().message(),
            "starting NVIDIA's cuBLASLt: what went wrong (cuBLAS status 1): "
            "install one that fits the driver, or translate the model with "
            "--numerics=strict");
}

TEST_F(CublasProductsTest, AnOlderLibraryThatStartsIsTaken) {
  static cublaslt::Library tooNew, fits;
  tooNew = fits = library;
  tooNew.create = [](cublaslt::Handle *) { return cublaslt::Result(1); };
  CublasHandle::OpenLibrary *const open = [](std::span<const char *const> names)
      -> Expected<const cublaslt::Library *> {
    if (*names[0] == 'n')
      return &tooNew;
    if (*names[0] == 'o')
      return &fits;
    return Status::invalidArgument("none");
  };
  const auto chosen = [&](std::vector<const char *> names) {
    const cublaslt::Library *found = nullptr;
    const auto created = CublasHandle::createFirst(found, false, names, open);
    EXPECT_EQ(created.ok(), found != nullptr);
    return std::pair(found, created ? "" : created.status().message());
  };
  EXPECT_EQ(chosen({"new", "old"}).first, &fits);
  EXPECT_EQ(chosen({"old", "new"}).first, &fits);
  EXPECT_THAT(chosen({"new", "absent"}).second, HasSubstr("fits the driver"));
  EXPECT_EQ(chosen({"absent"}).second, "none");
}

TEST(CublasLtTest, WhatIsMissingIsNamed) {
  const auto messageFor = [](std::vector<const char *> names) {
    return cublaslt::openLibrary(names).status().message();
  };
  EXPECT_THAT(messageFor({"libnone.so.13", "libnone.so.12"}),
              AllOf(HasSubstr("cuBLASLt, which is not there (libnone.so.13"),
                    HasSubstr("package libcublas-12-8"),
                    HasSubstr("--numerics=strict")));
  // An older version is accepted.
  EXPECT_THAT(
      messageFor({"libnone.so.13", "libm.so.6"}),
      AllOf(HasSubstr("cuBLASLt libm.so.6 has no function cublasLtCreate"),
            HasSubstr("CUDA 11"), HasSubstr("--numerics=strict")));
}

} // namespace
