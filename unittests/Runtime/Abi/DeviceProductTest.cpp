//===- DeviceProductTest.cpp - Products of stages on a device -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Abi/DeviceStep.h"
#include "pdlrt/Abi/Worker.h"

#include "pdlabi/device.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

using namespace pdlrt;

namespace {

int launches = 0;

/// Replaces pdldevice_product_f32; its first thread counts launches.
void runProduct(const uint64_t *arguments, int64_t first, int64_t stride) {
  launches += first == 0;
  const auto number = [&](size_t i) { return int64_t(arguments[i]); };
  const auto floats = [&](size_t i) {
    return reinterpret_cast<float *>(arguments[i]);
  };
  pdldevice_product_f32(number(0), number(1), number(2), number(3), number(4),
                        floats(5), floats(6), arguments[7], floats(8),
                        floats(9), floats(10), number(11), first, stride);
}

class DeviceProductTest : public testing::Test {
protected:
  void open(const FakeFaults &faults) {
    launches = 0;
    step.reset();
    input.reset();
    memory.release();
    result.release();
    descriptor.device_kernel_count = 1;
    descriptor.device_kernels = &kernel;
    device = createFakeDevice(faults);
    using enum DeviceArgument;
    kernels = {{"pdldevice_product_f32",
                {Number, Number, Number, Number, Number, Read, Read, Number,
                 Read, Read, Written, Number},
                runProduct}};
    ASSERT_TRUE(device->load({"", kernels, /*multiplies=*/true}).ok());
    step = std::make_unique<DeviceStep>(*device, descriptor, program, nullptr);
    input = std::make_unique<DeviceInput>(*device, descriptor, program);
    step->begin(context, *input);
    memory = *device->allocate(DeviceBuffer::Kind::OfDevice, sizeof(floats));
    result = *device->allocate(DeviceBuffer::Kind::OfDevice, sizeof(floats));
    step->copyIn(memory.data(), floats.data(), sizeof(floats));
    step->copyIn(result.data(), floats.data(), sizeof(floats));
  }

  /// Returns the product of the m x 2 numbers at the start.
  std::vector<float> product(int64_t m, int64_t k) {
    const auto *at = static_cast<const float *>(memory.data());
    step->multiply({false, true, m, 2, k, at, at + 1, at + 4, result.data(), 3,
                    /*roundsFactors=*/false},
                   0);
    std::vector<float> out(6);
    step->copyOut(out.data(), result.data(), out.size() * sizeof(float));
    status = step->wait(/*isLast=*/false);
    return out;
  }

  const std::array<float, 8> floats = {1, 2, 3, 4, 10, 20, 5, 6};
  pdl_device_kernel kernel = {"pdldevice_product_f32", 12, nullptr, runProduct};
  std::vector<DeviceKernel> kernels;
  pdl_descriptor descriptor = {};
  pdl_program program = {};
  pdl_step_context context = {};
  std::unique_ptr<Device> device;
  DeviceBuffer memory, result;
  std::unique_ptr<DeviceInput> input;
  std::unique_ptr<DeviceStep> step;
  Status status;
};

TEST_F(DeviceProductTest, IsTheDevicesOrAKernels) {
  // Rows 1 2 and 3 4, times columns 2 3 and 4 10; the third is a gap.
  const std::vector<float> want = {18, 44, 3, 28, 72, 20};
  open({});
  EXPECT_EQ(product(2, 2), want);
  EXPECT_EQ(launches, 0);
  // Let the device reject this product.
  open({.products = 1});
  EXPECT_EQ(product(2, 2), want);
  EXPECT_EQ(launches, 0);
  EXPECT_EQ(product(2, 2), want);
  EXPECT_EQ(launches, 1);
  EXPECT_TRUE(status.ok());
}

// A repeated product is one launch, either of the device or of the kernel.
TEST_F(DeviceProductTest, Repeats) {
  for (const int64_t products : {-1, 0}) {
    open({.products = products});
    const auto stream = *device->createStream("test");
    DeviceCommands commands(*stream);
    const DeviceBuffer host =
        *device->allocate(DeviceBuffer::Kind::OfHost, sizeof(floats));
    const auto *at = static_cast<const float *>(memory.data());
    EXPECT_TRUE(step->wait(/*isLast=*/false).ok());
    for (int stage = 1; stage <= 5; ++stage) {
      commands.begin(2, nullptr);
      ASSERT_TRUE(commands.clear(result.data(), sizeof(floats)).ok());
      for (const float *bias : {at, at + 2, at + 4})
        ASSERT_TRUE(commands
                        .multiply({false, true, 2, 2, 2, at, at + 1, bias,
                                   result.data(), 2},
                                  0)
                        .ok());
      ASSERT_TRUE(
          commands.copyOut(host.data(), result.data(), sizeof(floats)).ok());
      ASSERT_TRUE(commands.endPart().ok());
      ASSERT_TRUE(stream->synchronize().ok());
      const auto *out = static_cast<const float *>(host.data());
      EXPECT_EQ(std::vector<float>(out, out + 5),
                (std::vector<float>{18, 44, 28, 72, 0}));
      EXPECT_EQ(launches, products == 0 ? 3 * stage : 0);
    }
    EXPECT_EQ(commands.replayed(), 3);
  }
}

TEST_F(DeviceProductTest, OfNothingToAddIsTheBias) {
  open({});
  EXPECT_EQ(product(2, 0), (std::vector<float>{10, 20, 3, 10, 20, 20}));
  EXPECT_EQ(launches, 1);
  // A product without rows does nothing.
  product(0, 2);
  EXPECT_EQ(launches, 1);
  EXPECT_TRUE(status.ok());
}

TEST_F(DeviceProductTest, FailuresAreKept) {
  open({.launches = 0});
  product(2, 2);
  EXPECT_EQ(status.message(), "a product cannot be launched: the fake device "
                              "was told to fail");
  open({.launches = 0});
  product(2, 0);
  EXPECT_EQ(status.message(), "pdldevice_product_f32 cannot be launched: the "
                              "fake device was told to fail");
}

} // namespace
