//===- CudaDeviceTest.cpp - Calls of the CUDA driver ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs without a GPU, with a fake driver whose functions record their calls.
//
//===----------------------------------------------------------------------===//

#include "CublasStandIn.h"
#include "RecordedCalls.h"

#include "Device/CudaDriver.h"
#include "pdlrt/Core/Trace.h"
#include "pdlrt/Device/Device.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

using namespace pdlrt;
using pdltest::calls;
using pdltest::forgetCalls;
using pdltest::nextError;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

using pdltest::respond;

/// The only device, stream, event, module and function.
constexpr cuda::DeviceNumber itsDevice = 17;
/// Compute capability of the device.
int ownGeneration = 8;
const auto itsStream = reinterpret_cast<cuda::Stream>(0x40);
const auto itsEvent = reinterpret_cast<cuda::Event>(0x50);
const auto itsModule = reinterpret_cast<cuda::Module>(0x20);
const auto itsFunction = reinterpret_cast<cuda::Function>(0x30);

cuda::Result respond(const std::string &call, cuda::Stream in) {
  EXPECT_EQ(in, itsStream) << call;
  return respond(call);
}

std::string addressText(cuda::Address address) {
  return "@" + std::to_string(address);
}

void addDevices(cuda::Driver &driver) {
  driver.init = [](unsigned) { return cuda::success; };
  driver.errorText = [](cuda::Result error, const char **text) {
    *text = "what went wrong";
    return error == 999 ? 1 : cuda::success;
  };
  driver.deviceCount = [](int *count) {
    *count = 1;
    return cuda::success;
  };
  // The driver's handle of a device may differ from its number.
  driver.findDevice = [](cuda::DeviceNumber *device, int number) {
    *device = itsDevice + number;
    return cuda::success;
  };
  driver.deviceName = [](char *name, int length, int device) {
    EXPECT_EQ(device, itsDevice);
    std::strncpy(name, "a GPU", size_t(length));
    return cuda::success;
  };
  driver.deviceAttribute = [](int *value, int attribute, int device) {
    EXPECT_EQ(device, itsDevice);
    *value = attribute == cuda::multiprocessors     ? 3
             : attribute == cuda::architectureMajor ? ownGeneration
                                                    : 6;
    return cuda::success;
  };
  driver.retainContext = [](cuda::Context *context, int device) {
    EXPECT_EQ(device, itsDevice);
    *context = reinterpret_cast<cuda::Context>(0x10);
    return respond("retain");
  };
  driver.releaseContext = [](int device) {
    EXPECT_EQ(device, itsDevice);
    return respond("release context");
  };
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
        respond("load " + std::string(static_cast<const char *>(image)));
    if (result != cuda::success)
      std::strcpy(static_cast<char *>(values[0]), "line 3: what is this?");
    *module = itsModule;
    return result;
  };
  driver.unloadModule = [](cuda::Module module) {
    EXPECT_EQ(module, itsModule);
    return respond("unload");
  };
  driver.getFunction = [](cuda::Function *function, cuda::Module module,
                          const char *name) {
    EXPECT_EQ(module, itsModule);
    *function = itsFunction;
    return respond(std::string("find ") + name);
  };
}

void addMemory(cuda::Driver &driver) {
  driver.allocate = [](cuda::Address *address, size_t bytes) {
    static cuda::Address next = 0;
    *address = next = next % 2000 + 1000;
    return respond("allocate " + std::to_string(bytes));
  };
  driver.release = [](cuda::Address address) {
    return respond("release " + addressText(address));
  };
  driver.allocateHost = [](void **pointer, size_t bytes) {
    *pointer = std::malloc(bytes);
    return respond("allocate of host " + std::to_string(bytes));
  };
  driver.releaseHost = [](void *pointer) {
    std::free(pointer);
    return respond("release of host");
  };
  driver.copyIn = [](cuda::Address to, const void *, size_t bytes,
                     cuda::Stream in) {
    return respond("in " + std::to_string(bytes) + " to " + addressText(to),
                   in);
  };
  driver.copyOut = [](void *, cuda::Address from, size_t bytes,
                      cuda::Stream in) {
    return respond("out " + std::to_string(bytes) + " of " + addressText(from),
                   in);
  };
  driver.copyWithin = [](cuda::Address to, cuda::Address from, size_t bytes,
                         cuda::Stream in) {
    return respond("within " + std::to_string(bytes) + " of " +
                       addressText(from) + " to " + addressText(to),
                   in);
  };
  driver.fill = [](cuda::Address to, unsigned char value, size_t bytes,
                   cuda::Stream in) {
    return respond("fill " + std::to_string(bytes) + " of " + addressText(to) +
                       " with " + std::to_string(value),
                   in);
  };
}

void addStreams(cuda::Driver &driver) {
  driver.createStream = [](cuda::Stream *stream, unsigned flags) {
    EXPECT_EQ(flags, cuda::nonBlocking);
    *stream = itsStream;
    return cuda::success;
  };
  driver.destroyStream = [](cuda::Stream in) {
    return respond("end of stream", in);
  };
  driver.synchronizeStream = [](cuda::Stream in) {
    return respond("synchronize", in);
  };
  driver.waitForEvent = [](cuda::Stream in, cuda::Event event, unsigned) {
    EXPECT_EQ(event, itsEvent);
    return respond("wait", in);
  };
  driver.createEvent = [](cuda::Event *event, unsigned flags) {
    EXPECT_EQ(flags, Trace::isOn() ? cuda::withTiming : cuda::withoutTiming);
    *event = itsEvent;
    return cuda::success;
  };
  driver.recordEvent = [](cuda::Event event, cuda::Stream in) {
    EXPECT_EQ(event, itsEvent);
    return respond("record", in);
  };
  driver.destroyEvent = [](cuda::Event event) {
    EXPECT_EQ(event, itsEvent);
    return respond("end of event");
  };
  // Each event is 2 ms after the previous one and 1 ms before the next one.
  driver.timeBetween = [](float *milliseconds, cuda::Event, cuda::Event) {
    static int asked = 0;
    *milliseconds = asked++ % 2 == 0 ? 2 : 1;
    return cuda::success;
  };
  driver.launch = [](cuda::Function function, unsigned x, unsigned y,
                     unsigned z, unsigned blockX, unsigned blockY,
                     unsigned blockZ, unsigned, cuda::Stream in,
                     void **arguments, void **) {
    EXPECT_EQ(function, itsFunction);
    EXPECT_EQ(y * z * blockY * blockZ, 1u);
    // Arguments: an address, and a number of 4 bytes.
    return respond(
        "launch " + std::to_string(x) + " x " + std::to_string(blockX) + ": " +
            std::to_string(*static_cast<uint64_t *>(arguments[0])) + ", " +
            std::to_string(*static_cast<float *>(arguments[1])),
        in);
  };
}

void addGraphs(cuda::Driver &driver) {
  driver.beginCapture = [](cuda::Stream in, int mode) {
    EXPECT_EQ(mode, cuda::captureOfThread);
    return respond("begin capture", in);
  };
  driver.endCapture = [](cuda::Stream in, cuda::Graph *graph) {
    *graph = reinterpret_cast<cuda::Graph>(0x60);
    return respond("end capture", in);
  };
  driver.makeExecutable = [](cuda::GraphExecutable *executable,
                             cuda::Graph graph, unsigned long long flags) {
    EXPECT_EQ(graph, reinterpret_cast<cuda::Graph>(0x60));
    EXPECT_EQ(flags, 0u);
    *executable = reinterpret_cast<cuda::GraphExecutable>(0x70);
    return respond("make executable");
  };
  driver.launchGraph = [](cuda::GraphExecutable executable, cuda::Stream in) {
    EXPECT_EQ(executable, reinterpret_cast<cuda::GraphExecutable>(0x70));
    return respond("launch graph", in);
  };
  driver.destroyGraph = [](cuda::Graph) { return respond("end of graph"); };
  driver.destroyExecutable = [](cuda::GraphExecutable) {
    return respond("end of executable");
  };
}

/// Returns a driver that records its calls as text.
cuda::Driver writtenDown() {
  cuda::Driver driver = {};
  addDevices(driver);
  addMemory(driver);
  addStreams(driver);
  addGraphs(driver);
  return driver;
}

void nothing(const uint64_t *, int64_t, int64_t) {}
class CudaDeviceTest : public testing::Test {
protected:
  void SetUp() override {
    forgetCalls();
    ownGeneration = 8;
    device = *cuda::openDevice(driver, 0);
    ASSERT_TRUE(device->load({"TEXT", kernels}).ok());
    stream = *device->createStream("test");
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
  EXPECT_EQ(device->describe(), "GPU 0, a GPU");
  stream.reset();
  device.reset();
  EXPECT_THAT(calls, ElementsAre("synchronize", "end of stream", "unload",
                                 "release context"));
  EXPECT_EQ(cuda::openDevice(driver, 1).status().message(),
            "there is no GPU 1: this host has 1, numbered from 0 on");
  EXPECT_FALSE(cuda::openDevice(driver, -1).ok());
}

TEST_F(CudaDeviceTest, LaunchesAsManyThreadsAsThereAreTurnsAndPlaces) {
  // Each of the three multiprocessors gets whole warps.
  const float number = 1.5f;
  uint64_t slot = 0;
  std::memcpy(&slot, &number, sizeof(number));
  const std::array arguments = {uint64_t(4096), slot};
  for (const int64_t turns : {0, 1, 100, 256, 257, 100000000})
    EXPECT_TRUE(stream->launch(0, turns, arguments).ok());
  EXPECT_THAT(calls, ElementsAre("launch 1 x 32: 4096, 1.500000",
                                 "launch 2 x 64: 4096, 1.500000",
                                 "launch 3 x 96: 4096, 1.500000",
                                 "launch 3 x 96: 4096, 1.500000",
                                 "launch 24 x 256: 4096, 1.500000"));
  EXPECT_THAT(stream->launch(1, 1, arguments).message(),
              HasSubstr("there is no kernel 1"));
  EXPECT_EQ(stream->launch(0, 1, {}).message(),
            "kernel_fill takes 2 arguments, and is given 0");
  EXPECT_THAT(device->load({"TEXT", kernels}).message(),
              HasSubstr("loaded its kernels before"));
}

TEST_F(CudaDeviceTest, CopiesAndWaits) {
  DeviceBuffer memory = *device->allocate(DeviceBuffer::Kind::OfDevice, 100);
  DeviceBuffer more = *device->allocate(DeviceBuffer::Kind::OfDevice, 100);
  DeviceBuffer host = *device->allocate(DeviceBuffer::Kind::OfHost, 0);
  EXPECT_TRUE(stream->copyIn(memory.data(), host.data(), 8).ok());
  EXPECT_TRUE(stream->copyOut(host.data(), memory.data(), 9).ok());
  EXPECT_TRUE(stream->copyWithin(more.data(), memory.data(), 10).ok());
  EXPECT_TRUE(stream->clear(more.data(), 11).ok());
  {
    const auto event = *stream->record();
    EXPECT_TRUE(stream->wait(*event).ok());
  }
  EXPECT_TRUE(stream->synchronize().ok());
  const std::string first =
      addressText(reinterpret_cast<cuda::Address>(memory.data()));
  const std::string second =
      addressText(reinterpret_cast<cuda::Address>(more.data()));
  EXPECT_NE(first, second);
  memory.release();
  host.release();
  EXPECT_THAT(calls,
              ElementsAre("allocate 100", "allocate 100", "allocate of host 1",
                          "in 8 to " + first, "out 9 of " + first,
                          "within 10 of " + first + " to " + second,
                          "fill 11 of " + second + " with 0", "record", "wait",
                          "end of event", "synchronize", "release " + first,
                          "release of host"));
}

TEST_F(CudaDeviceTest, NothingIsNoWork) {
  EXPECT_TRUE(stream->copyIn(nullptr, nullptr, 0).ok());
  EXPECT_TRUE(stream->copyOut(nullptr, nullptr, 0).ok());
  EXPECT_TRUE(stream->copyWithin(nullptr, nullptr, 0).ok());
  EXPECT_TRUE(stream->clear(nullptr, 0).ok());
  EXPECT_THAT(calls, ElementsAre());
}

TEST_F(CudaDeviceTest, CodeForNewerGpusIsRefused) {
  const char *const begin = "// text\n.version 7.8\n.target sm_";
  const auto loaded = [&](const std::string &architecture) {
    const std::string text = begin + architecture + "\n.address_size 64\n";
    const auto other = *cuda::openDevice(driver, 0);
    return other->load({text.c_str(), kernels});
  };
  EXPECT_TRUE(loaded("70").ok());
  EXPECT_TRUE(loaded("86").ok());
  EXPECT_EQ(loaded("90").message(),
            "the kernels are for GPUs of sm_90 and later, but a GPU is of "
            "sm_86: translate the model with --gpu-arch sm_86");
  EXPECT_EQ(loaded("120").code(), PDL_FAILED_PRECONDITION);
  // There are no kernels for this architecture.
  ownGeneration = 6;
  EXPECT_EQ(loaded("70").message(),
            "the kernels are for GPUs of sm_70 and later, but a GPU is of "
            "sm_66: use a GPU of sm_70 or later, or a program for CPUs");
}

TEST_F(CudaDeviceTest, GraphsAreWorkThatIsKept) {
  ASSERT_TRUE(stream->beginCapture().ok());
  EXPECT_TRUE(stream->clear(nullptr, 1).ok());
  {
    const auto graph = *stream->endCapture();
    EXPECT_TRUE(stream->replay(*graph).ok());
    EXPECT_TRUE(stream->replay(*graph).ok());
  }
  EXPECT_THAT(calls,
              ElementsAre("begin capture", "fill 1 of @0 with 0", "end capture",
                          "make executable", "end of graph", "launch graph",
                          "launch graph", "end of executable"));
  calls.clear();
  nextError = 900;
  EXPECT_THAT(stream->endCapture().status().message(),
              HasSubstr("ending the capture of a stream: what went wrong"));
  EXPECT_THAT(calls, ElementsAre("end capture"));
}

TEST_F(CudaDeviceTest, TracesHaveTheWorkOfStreams) {
  Trace::start();
  EXPECT_TRUE(stream->clear(nullptr, 1).ok());
  EXPECT_TRUE(
      stream->launch(0, 1, std::array<uint64_t, 2>{0, 0}, {}, "w1").ok());
  EXPECT_TRUE(stream->synchronize().ok());
  const Trace::Recorded recorded = Trace::stop();
  const auto own = std::ranges::find(recorded.threads, "GPU 0, a GPU: test",
                                     &ThreadTrace::name);
  ASSERT_NE(own, recorded.threads.end());
  const std::vector<TraceEvent> &events = own->events;
  ASSERT_EQ(events.size(), 2u);
  EXPECT_STREQ(events[0].name, "clear");
  EXPECT_STREQ(events[1].name, "kernel_fill");
  EXPECT_STREQ(events[1].symbol, "w1");
  for (const TraceEvent &event : events)
    EXPECT_EQ(event.end - event.begin, 1000000);
  // No resource of the failed call remains.
  EXPECT_EQ(std::ranges::count(calls, "record"), 5);
  EXPECT_EQ(std::ranges::count(calls, "end of event"), 5);
  calls.clear();
  EXPECT_TRUE(stream->clear(nullptr, 1).ok());
  EXPECT_TRUE(stream->synchronize().ok());
  EXPECT_THAT(calls, ElementsAre("fill 1 of @0 with 0", "synchronize"));
}

TEST_F(CudaDeviceTest, ErrorsHaveMessages) {
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

/// Returns a product with one row and one column.
DeviceProduct smallProduct(const float &a, const float &b, float &c) {
  return {false, false, 1, 1, 1, &a, &b, nullptr, &c, 1, false};
}

TEST_F(CudaDeviceTest, ProductsAreTheLibrarys) {
  const cublaslt::Library library = standin::library();
  auto multiplier = *cuda::openDevice(driver, 0, &library);
  ASSERT_TRUE(multiplier->load({"TEXT", kernels, /*multiplies=*/true}).ok());
  auto itsOwn = *multiplier->createStream("products");
  calls.clear();
  const float a = 3, b = 5;
  float c = 0;
  Trace::start();
  const Expected<bool> done = itsOwn->multiply(smallProduct(a, b, c));
  ASSERT_TRUE(done.ok());
  EXPECT_TRUE(*done);
  EXPECT_TRUE(itsOwn->synchronize().ok());
  const Trace::Recorded recorded = Trace::stop();
  EXPECT_EQ(c, 15);
  EXPECT_EQ(standin::state.stream, itsStream);
  const auto own = std::ranges::find(recorded.threads, "GPU 0, a GPU: products",
                                     &ThreadTrace::name);
  ASSERT_NE(own, recorded.threads.end());
  ASSERT_EQ(own->events.size(), 1u);
  EXPECT_STREQ(own->events[0].name, "product");
  // Its memory is freed before the stream, after all work is done; the handle
  // is freed last.
  const std::string memory =
      addressText(reinterpret_cast<cuda::Address>(standin::state.workspace));
  calls.clear();
  itsOwn.reset();
  EXPECT_THAT(calls,
              ElementsAre("synchronize", "release " + memory, "end of stream"));
  EXPECT_EQ(standin::state.alive, 1);
  multiplier.reset();
  EXPECT_EQ(standin::state.alive, 0);
}

TEST_F(CudaDeviceTest, ProductsTakeTF32WhereTheCodeSaysSo) {
  const cublaslt::Library library = standin::library();
  const float a = 3, b = 5;
  float c = 0;
  for (bool roundsToTF32 : {false, true}) {
    const auto multiplier = *cuda::openDevice(driver, 0, &library);
    ASSERT_TRUE(
        multiplier->load({"TEXT", kernels, /*multiplies=*/true, roundsToTF32})
            .ok());
    const auto itsOwn = *multiplier->createStream("products");
    ASSERT_TRUE(*itsOwn->multiply(smallProduct(a, b, c)));
    EXPECT_EQ(standin::state.compute, roundsToTF32 ? cublaslt::computeFastTF32
                                                   : cublaslt::computeFloat32);
  }
}

TEST_F(CudaDeviceTest, ProductsFailBeforeTheFirstStep) {
  const cublaslt::Library library = standin::library();
  standin::state.nextFailure = "create";
  standin::state.failure = 1;
  const auto other = *cuda::openDevice(driver, 0, &library);
  EXPECT_THAT(other->load({"TEXT", kernels, /*multiplies=*/true}).message(),
              HasSubstr("starting NVIDIA's cuBLASLt"));
  // A device without products does not need the library.
  const auto plain = *cuda::openDevice(driver, 0, &library);
  standin::state.nextFailure = "create";
  EXPECT_TRUE(plain->load({"TEXT", kernels}).ok());
  const float a = 3, b = 5;
  float c = 0;
  EXPECT_EQ(stream->multiply(smallProduct(a, b, c)).status().message(),
            "the device is asked for a product by code that has none");
  // The library's message is passed on.
  const auto third = *cuda::openDevice(driver, 0, &library);
  standin::state.nextFailure.clear();
  ASSERT_TRUE(third->load({"TEXT", kernels, /*multiplies=*/true}).ok());
  const auto itsOwn = *third->createStream("products");
  standin::state.nextFailure = "multiply";
  standin::state.failure = 13;
  EXPECT_EQ(itsOwn->multiply(smallProduct(a, b, c)).status().message(),
            "a product of cuBLASLt: what went wrong (cuBLAS status 13)");
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
