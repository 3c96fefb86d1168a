//===- DeviceFlagsTest.cpp - Flags that kernels set -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Device/DeviceFlags.h"

#include "gtest/gtest.h"

using namespace pdlrt;

namespace {

TEST(DeviceFlagsTest, ReportsWhichAreSet) {
  const std::unique_ptr<Device> device = createFakeDevice();
  const auto stream = *device->createStream("test");
  DeviceFlags flags;
  EXPECT_EQ(flags.size(), 0u);
  EXPECT_EQ(flags.firstSet(), -1);
  // More flags need other memory, in which no flag of the earlier memory is
  // set.
  for (const size_t count : {size_t(3), size_t(3), size_t(50)}) {
    ASSERT_TRUE(flags.reserve(*device, count).ok());
    EXPECT_EQ(flags.size(), count);
    const auto fetch = [&] {
      EXPECT_TRUE(flags.bringToHost(*stream).ok());
      EXPECT_TRUE(stream->synchronize().ok());
    };
    ASSERT_TRUE(flags.clear(*stream).ok());
    fetch();
    EXPECT_EQ(flags.firstSet(), -1);
    const int32_t one = 1;
    for (const size_t index : {count - 1, size_t(1)}) {
      ASSERT_TRUE(
          stream->copyIn(flags.onDevice(index), &one, sizeof(one)).ok());
      fetch();
      EXPECT_EQ(flags.firstSet(), int32_t(index));
      EXPECT_TRUE(flags.isSet(index));
    }
    EXPECT_TRUE(flags.isSet(count - 1));
    EXPECT_FALSE(flags.isSet(0));
  }
}

} // namespace
