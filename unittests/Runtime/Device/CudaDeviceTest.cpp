//===- CudaDeviceTest.cpp - What the driver is asked for ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Without a GPU: a driver of functions that write down what they are asked for.
//
//===----------------------------------------------------------------------===//

#include "Device/CudaDriver.h"
#include "pdlrt/Device/Device.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <cstring>

using namespace pdlrt;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// What was asked for, and the next error.
std::vector<std::string> calls;
cuda::Result nextError = cuda::success;

cuda::Result answer(const std::string &call) {
  calls.push_back(call);
  return std::exchange(nextError, cuda::success);
}

cuda::Driver writtenDown() {
  cuda::Driver driver = {};
  driver.init = [](unsigned) { return cuda::success; };
  driver.errorText = [](cuda::Result error, const char **text) {
    *text = "what went wrong";
    return error == 999 ? 1 : cuda::success;
  };
  driver.deviceCount = [](int *count) {
    *count = 1;
    return cuda::success;
  };
  driver.deviceName = [](char *name, int length, int) {
    std::strncpy(name, "a GPU", size_t(length));
    return cuda::success;
  };
  driver.deviceAttribute = [](int *value, int attribute, int) {
    EXPECT_EQ(attribute, cuda::multiprocessors);
    *value = 3;
    return cuda::success;
  };
  driver.retainContext = [](cuda::Context *context, int) {
    *context = reinterpret_cast<cuda::Context>(0x10);
    return answer("retain");
  };
  driver.releaseContext = [](int) { return answer("release context"); };
  driver.setContext = [](cuda::Context context) {
    EXPECT_EQ(context, reinterpret_cast<cuda::Context>(0x10));
    return cuda::success;
  };
  driver.loadModule = [](cuda::Module *module, const void *image,
                         unsigned count, int *options, void **values) {
    EXPECT_EQ(count, 2u);
    EXPECT_THAT(std::vector<int>(options, options + 2),
                ElementsAre(cuda::errorLog, cuda::errorLogBytes));
    const cuda::Result result =
        answer("load " + std::string(static_cast<const char *>(image)));
    if (result != cuda::success)
      std::strcpy(static_cast<char *>(values[0]), "line 3: what is this?");
    *module = reinterpret_cast<cuda::Module>(0x20);
    return result;
  };
  driver.unloadModule = [](cuda::Module) { return answer("unload"); };
  driver.getFunction = [](cuda::Function *function, cuda::Module,
                          const char *name) {
    *function = reinterpret_cast<cuda::Function>(0x30);
    return answer(std::string("find ") + name);
  };
  driver.allocate = [](cuda::Address *address, size_t bytes) {
    *address = 0x1000;
    return answer("allocate " + std::to_string(bytes));
  };
  driver.release = [](cuda::Address) { return answer("release"); };
  driver.allocateHost = [](void **pointer, size_t bytes) {
    *pointer = std::malloc(bytes);
    return answer("allocate of host " + std::to_string(bytes));
  };
  driver.releaseHost = [](void *pointer) {
    std::free(pointer);
    return answer("release of host");
  };
  driver.copyIn = [](cuda::Address, const void *, size_t bytes, cuda::Stream) {
    return answer("in " + std::to_string(bytes));
  };
  driver.copyOut = [](void *, cuda::Address, size_t bytes, cuda::Stream) {
    return answer("out " + std::to_string(bytes));
  };
  driver.copyWithin = [](cuda::Address, cuda::Address, size_t bytes,
                         cuda::Stream) {
    return answer("within " + std::to_string(bytes));
  };
  driver.fill = [](cuda::Address, unsigned char value, size_t bytes,
                   cuda::Stream) {
    return answer("fill " + std::to_string(bytes) + " with " +
                  std::to_string(value));
  };
  driver.createStream = [](cuda::Stream *stream, unsigned flags) {
    EXPECT_EQ(flags, cuda::nonBlocking);
    *stream = reinterpret_cast<cuda::Stream>(0x40);
    return cuda::success;
  };
  driver.destroyStream = [](cuda::Stream) { return answer("end of stream"); };
  driver.synchronizeStream = [](cuda::Stream) { return answer("synchronize"); };
  driver.waitForEvent = [](cuda::Stream, cuda::Event, unsigned) {
    return answer("wait");
  };
  driver.createEvent = [](cuda::Event *event, unsigned flags) {
    EXPECT_EQ(flags, cuda::withoutTiming);
    *event = reinterpret_cast<cuda::Event>(0x50);
    return cuda::success;
  };
  driver.recordEvent = [](cuda::Event, cuda::Stream) {
    return answer("record");
  };
  driver.destroyEvent = [](cuda::Event) { return answer("end of event"); };
  driver.launch = [](cuda::Function, unsigned x, unsigned y, unsigned z,
                     unsigned blockX, unsigned blockY, unsigned blockZ,
                     unsigned, cuda::Stream, void **arguments, void **) {
    EXPECT_EQ(y * z * blockY * blockZ, 1u);
    // An address and a number of 4 bytes.
    return answer("launch " + std::to_string(x) + " x " +
                  std::to_string(blockX) + ": " +
                  std::to_string(*static_cast<uint64_t *>(arguments[0])) +
                  ", " + std::to_string(*static_cast<float *>(arguments[1])));
  };
  return driver;
}

void nothing(const uint64_t *, int64_t, int64_t) {}
class CudaDeviceTest : public testing::Test {
protected:
  void SetUp() override {
    calls.clear();
    nextError = cuda::success;
    device = *cuda::openDevice(driver, 0);
    ASSERT_TRUE(device->load({"TEXT", kernels}).ok());
    stream = *device->createStream();
    calls.clear();
  }
  const std::vector<DeviceKernel> kernels = {
      {"kernel_fill",
       {DeviceArgument::Written, DeviceArgument::Number},
       nothing}};
  const cuda::Driver driver = writtenDown();
  std::unique_ptr<Device> device;
  std::unique_ptr<DeviceStream> stream;
};

TEST_F(CudaDeviceTest, OpensAndEnds) {
  EXPECT_EQ(device->describe(), "a GPU");
  stream.reset();
  device.reset();
  EXPECT_THAT(calls, ElementsAre("synchronize", "end of stream", "unload",
                                 "release context"));
  EXPECT_EQ(cuda::openDevice(driver, 1).status().message(),
            "there is no GPU 1: this host has 1, numbered from 0 on");
  EXPECT_FALSE(cuda::openDevice(driver, -1).ok());
}

TEST_F(CudaDeviceTest, LaunchesAsManyThreadsAsThereAreTurnsAndPlaces) {
  const float number = 1.5f;
  uint64_t slot = 0;
  std::memcpy(&slot, &number, sizeof(number));
  const std::array arguments = {uint64_t(4096), slot};
  for (const int64_t turns : {0, 1, 100, 256, 257, 100000000})
    EXPECT_TRUE(stream->launch(0, turns, arguments).ok());
  EXPECT_THAT(calls, ElementsAre("launch 1 x 1: 4096, 1.500000",
                                 "launch 1 x 100: 4096, 1.500000",
                                 "launch 1 x 256: 4096, 1.500000",
                                 "launch 2 x 256: 4096, 1.500000",
                                 "launch 24 x 256: 4096, 1.500000"));
  EXPECT_THAT(stream->launch(1, 1, arguments).message(),
              HasSubstr("there is no kernel 1"));
}

TEST_F(CudaDeviceTest, CopiesAndWaits) {
  DeviceBuffer memory = *device->allocate(DeviceBuffer::Kind::OfDevice, 100);
  DeviceBuffer host = *device->allocate(DeviceBuffer::Kind::OfHost, 0);
  EXPECT_TRUE(stream->copyIn(memory.data(), host.data(), 8).ok());
  EXPECT_TRUE(stream->copyOut(host.data(), memory.data(), 9).ok());
  EXPECT_TRUE(stream->copyWithin(memory.data(), memory.data(), 10).ok());
  EXPECT_TRUE(stream->clear(memory.data(), 11).ok());
  {
    const auto event = *stream->record();
    EXPECT_TRUE(stream->wait(*event).ok());
  }
  EXPECT_TRUE(stream->synchronize().ok());
  memory.release();
  host.release();
  EXPECT_THAT(calls, ElementsAre("allocate 100", "allocate of host 1", "in 8",
                                 "out 9", "within 10", "fill 11 with 0",
                                 "record", "wait", "end of event",
                                 "synchronize", "release", "release of host"));
}

TEST_F(CudaDeviceTest, ErrorsAreSentences) {
  nextError = cuda::outOfMemory;
  const auto memory = device->allocate(DeviceBuffer::Kind::OfDevice, 1000);
  EXPECT_EQ(memory.status().code(), PDL_OUT_OF_MEMORY);
  EXPECT_EQ(memory.status().message(),
            "allocating 1000 bytes for a GPU: what went wrong; use a smaller "
            "--batch-size");
  nextError = 700;
  EXPECT_EQ(stream->synchronize().message(),
            "waiting for the device: what went wrong (CUDA error 700)");
  nextError = 999;
  EXPECT_THAT(stream->clear(nullptr, 1).message(),
              HasSubstr("an error that the driver has no text for"));
  const auto other = *cuda::openDevice(driver, 0);
  nextError = 218;
  EXPECT_EQ(other->load({"TEXT", kernels}).message(),
            "line 3: what is this?: loading the kernels: what went wrong (CUDA "
            "error 218)");
}

TEST(CudaDriverTest, WhatIsMissingIsNamed) {
  EXPECT_THAT(cuda::openDriver("libnone.so.7").status().message(),
              AllOf(HasSubstr("NVIDIA's driver is not there (libnone.so.7"),
                    HasSubstr("libcuda1")));
  EXPECT_THAT(cuda::openDriver("libm.so.6").status().message(),
              AllOf(HasSubstr("libm.so.6 has no function cuInit"),
                    HasSubstr("CUDA 12")));
}

} // namespace
