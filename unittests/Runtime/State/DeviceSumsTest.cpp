//===- DeviceSumsTest.cpp - Sums of gradients on devices ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compares with the sums of the host (RunningSum), on fake devices.
//
//===----------------------------------------------------------------------===//

#include "pdlrt/State/DeviceSums.h"

#include "pdlabi/device.h"
#include "pdlrt/Sched/Scheduler.h"
#include "pdlrt/State/DeviceState.h"
#include "pdlrt/State/Model.h"
#include "pdlrt/Sum/RunningSum.h"

#include <gmock/gmock.h>

#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <thread>

using namespace pdlrt;

namespace {

template <typename T> T *pointer(uint64_t argument) {
  return reinterpret_cast<T *>(argument);
}

/// Runs a function of the device library on the host. `To` is its output type.
template <typename T, typename To, auto function>
void run(const uint64_t *arguments, int64_t first, int64_t stride) {
  function(int64_t(arguments[0]), pointer<T>(arguments[1]),
           pointer<To>(arguments[2]), first, stride);
}

/// Parameters of several sizes, two of them f64.
class DeviceSumsTest : public testing::Test {
protected:
  static constexpr size_t blockCount = 5;
  static constexpr int64_t sizes[blockCount] = {3, 1000, 16, 77, 5};

  DeviceSumsTest() {
    using enum DeviceArgument;
    const std::vector<DeviceArgument> arguments = {Number, Read, Written};
    kernels = {
        {"pdldevice_check_finite_f64", arguments,
         run<double, int32_t, pdldevice_check_finite_f64>},
        {"pdldevice_add_f32", arguments, run<float, float, pdldevice_add_f32>},
        {"pdldevice_check_finite_f32", arguments,
         run<float, int32_t, pdldevice_check_finite_f32>},
        {"pdldevice_add_f64", arguments,
         run<double, double, pdldevice_add_f64>}};
    for (size_t k = 0; k < kernels.size(); ++k)
      described[k].name = kernels[k].name;
    static const int64_t shape[] = {1};
    for (size_t b = 0; b < blockCount; ++b) {
      pdl_symbol &symbol = symbols[b];
      symbol.name = "w";
      symbol.element_type = b == 2 || b == 3 ? PDL_F64 : PDL_F32;
      symbol.rank = 1;
      symbol.shape = shape;
      symbol.row_count = symbol.row_width = 1;
      symbol.group = -1;
      blocks.push_back({int32_t(b), symbol.element_type, false, sizes[b], 0});
    }
    descriptor.symbol_count = blockCount;
    descriptor.symbols = symbols;
    descriptor.device_kernels = described;
    descriptor.device_kernel_count = int32_t(kernels.size());
  }

  void open(size_t count, int32_t numerics) {
    sums.reset();
    memory.clear();
    copies.clear();
    state.reset();
    devices.clear();
    descriptor.numerics = numerics;
    model = std::make_unique<Model>(descriptor, 1);
    std::vector<Device *> all;
    for (size_t d = 0; d < count; ++d) {
      devices.push_back(createFakeDevice());
      ASSERT_TRUE(devices.back()->load({"", kernels}).ok());
      all.push_back(devices.back().get());
    }
    state = std::make_unique<DeviceState>(all, *model);
    for (size_t d = 0; d < count; ++d)
      copies.push_back(&state->copy(d));
  }

  /// Fills the gradients of all replicas on their devices with random numbers;
  /// replicas in `absent` have none.
  void fill(size_t replicas, const std::vector<size_t> &absent) {
    std::uniform_real_distribution<double> uniform(-1, 1);
    onHost.assign(replicas, {});
    onDevice.assign(replicas, {});
    memory.clear();
    values.clear();
    for (size_t r = 0; r < replicas; ++r) {
      PartialSum &host = onHost[r], &device = onDevice[r];
      host.present = std::ranges::find(absent, r) == absent.end();
      host.blocks.resize(blockCount);
      device = host;
      if (!host.present)
        continue;
      Device &its = *devices[r % devices.size()];
      auto stream = *its.createStream("test");
      for (size_t b = 0; b < blockCount; ++b) {
        const bool isFloat = blocks[b].elementType == PDL_F32;
        const size_t bytes = size_t(sizes[b]) * (isFloat ? 4 : 8);
        std::vector<char> &own = values.emplace_back(bytes);
        for (int64_t i = 0; i < sizes[b]; ++i) {
          const double number = uniform(random);
          const auto narrow = float(number);
          std::memcpy(own.data() + i * (isFloat ? 4 : 8),
                      isFloat ? static_cast<const void *>(&narrow) : &number,
                      isFloat ? 4 : 8);
        }
        host.blocks[b].dense = own.data();
        memory.push_back(*its.allocate(DeviceBuffer::Kind::OfDevice, bytes));
        device.blocks[b].onDevice = memory.back().data();
        ASSERT_TRUE(
            stream->copyIn(memory.back().data(), own.data(), bytes).ok());
      }
      ASSERT_TRUE(stream->synchronize().ok());
    }
  }

  /// Returns the host's result: sums over workers, then over groups.
  const PartialSum &wanted(size_t replicas, size_t workers) {
    const size_t groups = replicas / workers;
    std::vector<PartialSum> parts(groups);
    ofGroups = std::vector<RunningSum>(groups);
    for (size_t g = 0; g < groups; ++g) {
      EXPECT_TRUE(ofGroups[g]
                      .assign(blocks,
                              std::span(onHost).subspan(g * workers, workers),
                              scheduler)
                      .ok());
      parts[g] = ofGroups[g].result();
    }
    EXPECT_TRUE(whole.assign(blocks, parts, scheduler).ok());
    return whole.result();
  }

  std::vector<char> read(size_t block, size_t device) {
    std::vector<char> found(size_t(sizes[block]) *
                            (blocks[block].elementType == PDL_F32 ? 4 : 8));
    EXPECT_TRUE(
        copies[device]
            ->copyOut(found.data(), sums->of(block, device), found.size())
            .ok());
    return found;
  }

  std::mt19937 random{23};
  std::vector<DeviceKernel> kernels;
  pdl_device_kernel described[4] = {};
  pdl_symbol symbols[blockCount] = {};
  pdl_descriptor descriptor = {};
  std::vector<GradientBlock> blocks;
  Scheduler scheduler{1};
  std::vector<std::unique_ptr<Device>> devices;
  std::unique_ptr<Model> model;
  std::unique_ptr<DeviceState> state;
  std::vector<DeviceCopy *> copies;
  std::vector<DeviceBuffer> memory;
  std::vector<std::vector<char>> values;
  std::vector<PartialSum> onHost, onDevice;
  std::vector<RunningSum> ofGroups;
  RunningSum whole;
  std::unique_ptr<DeviceSums> sums;
};

TEST_F(DeviceSumsTest, StrictSumsHaveTheBitsOfTheHost) {
  for (size_t count : {1, 2, 3})
    for (auto [replicas, workers] :
         std::initializer_list<std::pair<size_t, size_t>>{
             {2, 1}, {3, 3}, {4, 2}, {6, 3}, {5, 1}})
      for (size_t bucket : {size_t(1), size_t(300), size_t(1) << 20}) {
        SCOPED_TRACE(testing::Message()
                     << replicas << " replicas of " << workers << " workers on "
                     << count << ", " << bucket << " bytes at once");
        if (count > replicas)
          continue;
        open(count, PDL_NUMERICS_STRICT);
        std::vector<Device *> all;
        for (const auto &device : devices)
          all.push_back(device.get());
        sums =
            std::make_unique<DeviceSums>(descriptor, state->kernels(), copies,
                                         all, replicas, workers, bucket);
        // The second time some replicas have no batch.
        for (const std::vector<size_t> &absent :
             {std::vector<size_t>{}, std::vector<size_t>{0},
              std::vector<size_t>{1}}) {
          fill(replicas, absent);
          const PartialSum &want = wanted(replicas, workers);
          const Status status = sums->sum(blocks, onDevice);
          ASSERT_TRUE(status.ok()) << status.message();
          for (size_t b = 0; b < blockCount; ++b)
            for (size_t d = 0; d < count; ++d) {
              const std::vector<char> found = read(b, d);
              EXPECT_EQ(
                  std::memcmp(found.data(), want.blocks[b].dense, found.size()),
                  0)
                  << "block " << b << " on " << d;
            }
          EXPECT_EQ(sums->firstNonFinite(), -1);
        }
      }
}

TEST_F(DeviceSumsTest, FastSumsAreTheSameOnAllDevices) {
  for (size_t replicas : {2, 3, 5}) {
    open(2, PDL_NUMERICS_FAST);
    std::vector<Device *> all = {devices[0].get(), devices[1].get()};
    sums = std::make_unique<DeviceSums>(descriptor, state->kernels(), copies,
                                        all, replicas, 1);
    for (const std::vector<size_t> &absent :
         {std::vector<size_t>{}, std::vector<size_t>{1, 3}}) {
      fill(replicas, absent);
      const PartialSum &want = wanted(replicas, 1);
      ASSERT_TRUE(sums->sum(blocks, onDevice).ok());
      for (size_t b = 0; b < blockCount; ++b) {
        const std::vector<char> found = read(b, 0);
        EXPECT_EQ(found, read(b, 1));
        for (int64_t i = 0; i < sizes[b]; ++i) {
          const auto number = [&](const void *from) {
            return blocks[b].elementType == PDL_F32
                       ? double(static_cast<const float *>(from)[i])
                       : static_cast<const double *>(from)[i];
          };
          EXPECT_NEAR(number(found.data()), number(want.blocks[b].dense), 1e-6);
        }
      }
    }
  }
}

TEST_F(DeviceSumsTest, ReportsSumsThatAreNotFinite) {
  open(2, PDL_NUMERICS_STRICT);
  std::vector<Device *> all = {devices[0].get(), devices[1].get()};
  sums = std::make_unique<DeviceSums>(descriptor, state->kernels(), copies, all,
                                      2, 1);
  fill(2, {});
  // Each is finite, but their sum is not.
  const double large = std::numeric_limits<double>::max();
  for (PartialSum &part : onDevice) {
    auto stream = *devices[&part - onDevice.data()]->createStream("test");
    ASSERT_TRUE(stream
                    ->copyIn(const_cast<void *>(part.blocks[3].onDevice),
                             &large, sizeof(large))
                    .ok());
    ASSERT_TRUE(stream->synchronize().ok());
  }
  ASSERT_TRUE(sums->sum(blocks, onDevice).ok());
  EXPECT_EQ(sums->firstNonFinite(), 3);
}

/// A trainer among others, whose devices compute all gradients.
class Trainer final : public DeviceSumsTest {
public:
  using DeviceSumsTest::blocks, DeviceSumsTest::copies, DeviceSumsTest::fill,
      DeviceSumsTest::onDevice, DeviceSumsTest::state, DeviceSumsTest::wanted;

  void TestBody() override {}

  void join(size_t count, size_t replicas, const DeviceGroupPlace &place) {
    group.clip = -1;
    descriptor.groups = &group;
    descriptor.group_count = 1;
    for (pdl_symbol &symbol : symbols)
      symbol.group = symbol.device_kernel = 0;
    // Two trainers with the same numbers know the expected result by
    // themselves.
    random.seed(uint32_t(place.first));
    open(count, PDL_NUMERICS_FAST);
    std::vector<Device *> all;
    for (const auto &device : devices)
      all.push_back(device.get());
    auto joined = all.front()->joinGroup(all, place);
    ASSERT_TRUE(joined.ok()) << joined.status().message();
    across = std::move(*joined);
    state->keepGradients(replicas, replicas, across.get());
  }

  std::unique_ptr<DeviceGroup> across;

private:
  pdl_group group = {};
};

/// If a trainer has one device, sums use the fixed summation order.
TEST(DeviceSumsOfTrainers, AreThoseOfAll) {
  Trainer trainers[2];
  constexpr size_t replicas = 2;
  DeviceGroupPlace first;
  first.name = *createFakeDevice()->nameGroup();
  first.count = 2;
  DeviceGroupPlace second = first;
  second.first = 1;
  const auto both = [&](const std::function<void(Trainer &)> &function) {
    std::thread other([&] { function(trainers[1]); });
    function(trainers[0]);
    other.join();
  };
  both([&](Trainer &each) {
    each.join(1, replicas, &each == trainers ? first : second);
  });
  ASSERT_TRUE(trainers[0].across && trainers[1].across);
  // All batches, then one of four missing, then none at one trainer.
  for (const std::vector<size_t> &absent :
       {std::vector<size_t>{}, std::vector<size_t>{1},
        std::vector<size_t>{0, 1}}) {
    trainers[0].fill(replicas, {});
    trainers[1].fill(replicas, absent);
    both([&](Trainer &each) {
      const Status status = each.state->sum(each.blocks, each.onDevice);
      EXPECT_TRUE(status.ok()) << status.message();
    });
    std::vector<PartialSum> parts;
    for (Trainer &each : trainers)
      parts.push_back(each.wanted(replicas, replicas));
    RunningSum whole;
    Scheduler scheduler(1);
    ASSERT_TRUE(whole.assign(trainers[0].blocks, parts, scheduler).ok());
    for (size_t b = 0; b < trainers[0].blocks.size(); ++b)
      for (Trainer &each : trainers) {
        ASSERT_NE(each.state->sumOf(b), nullptr);
        std::vector<char> found(
            size_t(each.blocks[b].elementCount) *
            (each.blocks[b].elementType == PDL_F32 ? 4 : 8));
        ASSERT_TRUE(
            each.copies[0]
                ->copyOut(found.data(), each.state->sumOf(b), found.size())
                .ok());
        EXPECT_EQ(std::memcmp(found.data(), whole.result().blocks[b].dense,
                              found.size()),
                  0)
            << "block " << b;
      }
    EXPECT_EQ(trainers[0].state->nonFiniteSum(), -1);
  }
  // If one trainer ends there, the other one gets an error.
  trainers[1].across->abort();
  EXPECT_FALSE(
      trainers[0].state->sum(trainers[0].blocks, trainers[0].onDevice).ok());
}

TEST_F(DeviceSumsTest, LeavesToTheHostWhatItHas) {
  open(1, PDL_NUMERICS_STRICT);
  std::vector<Device *> all = {devices[0].get()};
  sums = std::make_unique<DeviceSums>(descriptor, state->kernels(), copies, all,
                                      2, 1);
  fill(2, {});
  for (size_t r = 0; r < 2; ++r)
    onDevice[r].blocks[1].dense = onHost[r].blocks[1].dense;
  ASSERT_TRUE(sums->sum(blocks, onDevice).ok());
  EXPECT_EQ(sums->of(1, 0), nullptr);
  EXPECT_NE(sums->of(0, 0), nullptr);
}

} // namespace
