//===- DeviceGroupTest.cpp - Devices of several processes -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each process is simulated by a thread.
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Device/DeviceGroup.h"

#include "pdlabi/abi/codes.h"

#include <gmock/gmock.h>
#include <thread>
#include <vector>

using namespace pdlrt;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// Devices of one process, each with a stream, input numbers and memory for
/// output.
class Process {
public:
  Process(size_t deviceCount, size_t numbers, size_t room) {
    for (size_t d = 0; d < deviceCount; ++d) {
      devices.push_back(createFakeDevice());
      pointers.push_back(devices.back().get());
      streams.push_back(*devices.back()->createStream("work"));
      const auto take = [&](size_t count) {
        return *devices.back()->allocate(DeviceBuffer::Kind::OfDevice,
                                         count * sizeof(float));
      };
      given.push_back(take(numbers));
      taken.push_back(take(room));
    }
  }

  Status join(DeviceGroupPlace place) {
    auto joined = pointers.front()->joinGroup(pointers, place);
    if (!joined)
      return joined.status();
    group = std::move(*joined);
    return {};
  }
  std::vector<DeviceGroup::Part> parts() {
    std::vector<DeviceGroup::Part> all;
    for (size_t d = 0; d < streams.size(); ++d)
      all.push_back({streams[d].get(), given[d].data(), taken[d].data()});
    return all;
  }
  void give(size_t device, const std::vector<float> &values) {
    ASSERT_TRUE(streams[device]
                    ->copyIn(given[device].data(), values.data(),
                             values.size() * sizeof(float))
                    .ok());
    ASSERT_TRUE(streams[device]->synchronize().ok());
  }
  std::vector<float> took(size_t device, size_t count) {
    std::vector<float> values(count);
    EXPECT_TRUE(streams[device]
                    ->copyOut(values.data(), taken[device].data(),
                              count * sizeof(float))
                    .ok());
    EXPECT_TRUE(streams[device]->synchronize().ok());
    return values;
  }

  std::vector<std::unique_ptr<Device>> devices;
  std::vector<Device *> pointers;
  std::vector<std::unique_ptr<DeviceStream>> streams;
  std::vector<DeviceBuffer> given, taken;
  std::unique_ptr<DeviceGroup> group;
};

/// Tests with a group of two processes: the first has one device, the second
/// has two.
class DeviceGroupTest : public testing::Test {
protected:
  void SetUp() override {
    place.name = *first.pointers.front()->nameGroup();
    place.count = 3;
    first.give(0, {1, 2});
    second.give(0, {10, 20});
    second.give(1, {100, 0x1p24F});
  }
  void both(const std::function<void()> &ofFirst,
            const std::function<void()> &ofSecond) {
    std::thread other(ofSecond);
    ofFirst();
    other.join();
  }
  void join() {
    both([&] { EXPECT_TRUE(first.join(place).ok()); },
         [&] {
           DeviceGroupPlace following = place;
           following.first = 1;
           EXPECT_TRUE(second.join(following).ok());
         });
    ASSERT_TRUE(first.group && second.group);
  }

  Process first{1, 2, 6}, second{2, 2, 6};
  DeviceGroupPlace place;
};

TEST_F(DeviceGroupTest, AllGetWhatAllGive) {
  join();
  const auto gather = [](Process &process) {
    EXPECT_TRUE(process.group->gather(8, process.parts()).ok());
  };
  both([&] { gather(first); }, [&] { gather(second); });
  const auto expected = ElementsAre(1, 2, 10, 20, 100, 0x1p24F);
  EXPECT_THAT(first.took(0, 6), expected);
  EXPECT_THAT(second.took(0, 6), expected);
  EXPECT_THAT(second.took(1, 6), expected);
}

TEST_F(DeviceGroupTest, SumsAreInTheOrderOfDevices) {
  join();
  second.give(1, {100, -0x1p25F});
  second.give(0, {10, 0x1p25F});
  const auto sum = [](Process &process) {
    EXPECT_TRUE(process.group->sum(PDL_F32, 2, process.parts()).ok());
  };
  both([&] { sum(first); }, [&] { sum(second); });
  // 2 + 2^25 is not representable as a float.
  const float last = (2 + 0x1p25F) - 0x1p25F;
  ASSERT_NE(last, 2);
  const auto expected = ElementsAre(111, last);
  EXPECT_THAT(first.took(0, 2), expected);
  EXPECT_THAT(second.took(0, 2), expected);
  EXPECT_THAT(second.took(1, 2), expected);
}

TEST_F(DeviceGroupTest, WhoEndsEndsTheWaitOfOthers) {
  join();
  both([&] { first.group.reset(); },
       [&] {
         EXPECT_THAT(second.group->sum(PDL_F32, 2, second.parts()).message(),
                     HasSubstr("a process of the group of devices has ended"));
       });
}

TEST_F(DeviceGroupTest, AGroupIsEndedFromOutside) {
  join();
  both(
      [&] {
        EXPECT_FALSE(first.group->sum(PDL_F32, 2, first.parts()).ok());
        EXPECT_FALSE(first.group->gather(8, first.parts()).ok());
      },
      [&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        first.group->abort();
      });
}

TEST_F(DeviceGroupTest, WhoDoesNotComeIsNotWaitedForForEver) {
  place.patience = std::chrono::milliseconds(20);
  EXPECT_EQ(first.join(place).message(),
            "not all processes of a group of devices have come");
  place.first = 1;
  EXPECT_EQ(second.join(place).message(),
            "not all processes of a group of devices have come");
}

TEST_F(DeviceGroupTest, DifferentRequestsAreDetected) {
  join();
  both(
      [&] {
        EXPECT_THAT(first.group->gather(8, first.parts()).message(),
                    HasSubstr("exchange 8 and 4 bytes at once"));
        first.group.reset();
      },
      [&] { EXPECT_FALSE(second.group->gather(4, second.parts()).ok()); });
}

} // namespace
