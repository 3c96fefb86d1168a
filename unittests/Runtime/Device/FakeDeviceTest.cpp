//===- FakeDeviceTest.cpp - Errors that a GPU would punish ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlabi/rounding.h"
#include "pdlrt/Core/Trace.h"
#include "pdlrt/Device/Device.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

using namespace pdlrt;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

float *floatsAt(uint64_t argument) {
  return reinterpret_cast<float *>(argument);
}

/// y = 2 x, for the given number of elements.
void doubled(const uint64_t *arguments, int64_t first, int64_t stride) {
  for (auto i = first; i < int64_t(arguments[2]); i += stride)
    floatsAt(arguments[1])[i] = 2 * floatsAt(arguments[0])[i];
}

/// Adds 1 to each of the given number of elements.
void counted(const uint64_t *arguments, int64_t first, int64_t stride) {
  for (auto i = first; i < int64_t(arguments[1]); i += stride)
    floatsAt(arguments[0])[i] += 1;
}

/// Writes to memory far from its argument.
void astray(const uint64_t *arguments, int64_t first, int64_t) {
  if (first == 0)
    *floatsAt(arguments[1]) = 1;
}

/// Reads memory far from its argument.
void astrayRead(const uint64_t *arguments, int64_t first, int64_t) {
  if (first == 0)
    *floatsAt(arguments[0]) = *floatsAt(arguments[1]);
}

using enum DeviceArgument;
enum : size_t { Double, Count, Astray, WrongCount, AstrayRead };

class FakeDeviceTest : public testing::Test {
protected:
  void SetUp() override { open({}); }

  void open(const FakeFaults &faults) {
    stream.reset();
    other.reset();
    device = createFakeDevice(faults);
    ASSERT_TRUE(device->load({"", kernels}).ok());
    stream = *device->createStream("test");
    other = *device->createStream("test");
  }
  DeviceBuffer floats(size_t count) {
    return *device->allocate(DeviceBuffer::Kind::OfDevice,
                             count * sizeof(float));
  }
  static uint64_t at(const void *pointer) {
    return reinterpret_cast<uint64_t>(pointer);
  }
  static Status twice(DeviceStream &in, const DeviceBuffer &from,
                      const DeviceBuffer &to, size_t count) {
    return in.launch(Double, int64_t(count),
                     std::array{at(from.data()), at(to.data()), count});
  }
  static Status count(DeviceStream &in, const void *memory, size_t count) {
    return in.launch(Count, int64_t(count),
                     std::array{at(memory), uint64_t(count)});
  }

  const std::vector<DeviceKernel> kernels = {
      {"kernel_double", {Read, Written, Number}, doubled},
      {"kernel_count", {Written, Number}, counted},
      {"kernel_astray", {Written, Number}, astray},
      {"kernel_wrong_count", {Read, Number}, counted},
      {"kernel_astray_read", {Written, Number}, astrayRead},
  };
  std::unique_ptr<Device> device;
  std::unique_ptr<DeviceStream> stream, other;
};

TEST_F(FakeDeviceTest, TheMaximumOfMemoryIsKnown) {
  const size_t before = device->maxBytes();
  {
    Expected<DeviceBuffer> first =
        device->allocate(DeviceBuffer::Kind::OfDevice, 1000);
    ASSERT_TRUE(first.ok());
    DeviceBuffer moved = std::move(*first);
    // Host memory does not count.
    const auto onHost = device->allocate(DeviceBuffer::Kind::OfHost, 5000);
    EXPECT_EQ(device->maxBytes(), before + 1000);
    moved.release();
    const auto second = device->allocate(DeviceBuffer::Kind::OfDevice, 700);
    EXPECT_EQ(device->maxBytes(), before + 1000);
    const auto third = device->allocate(DeviceBuffer::Kind::OfDevice, 700);
    EXPECT_EQ(device->maxBytes(), before + 1400);
  }
  EXPECT_EQ(device->maxBytes(), before + 1400);
}

TEST_F(FakeDeviceTest, WorkIsDoneWhenItIsWaitedFor) {
  const DeviceBuffer x = floats(3), y = floats(3);
  std::vector<float> in = {1, 2, 3}, out = {7, 7, 7};
  ASSERT_TRUE(stream->copyIn(x.data(), in.data(), 12).ok());
  ASSERT_TRUE(twice(*stream, x, y, 3).ok());
  ASSERT_TRUE(stream->copyOut(out.data(), y.data(), 12).ok());
  // Results that are read too early are NaN.
  for (const float value : out)
    EXPECT_TRUE(std::isnan(value));
  // Input that is changed too early is used.
  in = {10, 20, 30};
  ASSERT_TRUE(stream->synchronize().ok());
  EXPECT_EQ(out, (std::vector<float>{20, 40, 60}));
  ASSERT_TRUE(stream->clear(y.data(), 8).ok());
  ASSERT_TRUE(stream->copyWithin(x.data(), y.data(), 12).ok());
  ASSERT_TRUE(stream->copyOut(out.data(), x.data(), 12).ok());
  ASSERT_TRUE(stream->synchronize().ok());
  EXPECT_EQ(out, (std::vector<float>{0, 0, 60}));
}

TEST_F(FakeDeviceTest, TracesHaveTheWorkOfStreams) {
  const DeviceBuffer x = floats(3);
  Trace::start();
  ASSERT_TRUE(stream->clear(x.data(), 12).ok());
  ASSERT_TRUE(count(*stream, x.data(), 3).ok());
  const std::array counted = {at(x.data()), uint64_t(3)};
  ASSERT_TRUE(stream->launch(Count, 3, counted, {}, "w1").ok());
  ASSERT_TRUE(stream->synchronize().ok());
  // Events of different devices can be distinguished.
  const auto second = createFakeDevice({}, 1);
  const auto itsOwn = *second->createStream("test");
  const DeviceBuffer itsMemory =
      *second->allocate(DeviceBuffer::Kind::OfDevice, 4);
  ASSERT_TRUE(itsOwn->clear(itsMemory.data(), 4).ok());
  ASSERT_TRUE(itsOwn->synchronize().ok());
  const Trace::Recorded recorded = Trace::stop();
  const auto own =
      std::ranges::find(recorded.threads, "fake 0: test", &ThreadTrace::name);
  ASSERT_NE(own, recorded.threads.end());
  ASSERT_EQ(own->events.size(), 3u);
  EXPECT_EQ(own->events[1].symbol, nullptr);
  EXPECT_STREQ(own->events[2].name, "kernel_count");
  EXPECT_STREQ(own->events[2].symbol, "w1");
  EXPECT_EQ(
      std::ranges::count(recorded.threads, "fake 1: test", &ThreadTrace::name),
      1);
  EXPECT_STREQ(own->events[0].name, "clearing memory");
  EXPECT_STREQ(own->events[1].name, "kernel_count");
}

TEST_F(FakeDeviceTest, GraphsAreWorkThatIsKept) {
  const DeviceBuffer x = floats(2), y = floats(2);
  const DeviceBuffer inMemory =
      *device->allocate(DeviceBuffer::Kind::OfHost, 8);
  const DeviceBuffer outMemory =
      *device->allocate(DeviceBuffer::Kind::OfHost, 8);
  const std::span in(static_cast<float *>(inMemory.data()), 2);
  const std::span out(static_cast<float *>(outMemory.data()), 2);
  std::ranges::fill(in, 1.0F);
  std::ranges::fill(out, 0.0F);
  ASSERT_TRUE(stream->clear(y.data(), 8).ok());
  ASSERT_TRUE(stream->beginCapture().ok());
  ASSERT_TRUE(stream->copyIn(x.data(), in.data(), 8).ok());
  ASSERT_TRUE(twice(*stream, x, y, 2).ok());
  ASSERT_TRUE(stream->copyOut(out.data(), y.data(), 8).ok());
  const auto graph = *stream->endCapture();
  // No captured work has been done yet.
  ASSERT_TRUE(stream->synchronize().ok());
  EXPECT_THAT(out, ElementsAre(0, 0));
  for (const float value : {3.0F, 4.0F}) {
    in[0] = value;
    in[1] = -value;
    ASSERT_TRUE(stream->replay(*graph).ok());
    ASSERT_TRUE(stream->synchronize().ok());
    EXPECT_THAT(out, ElementsAre(2 * value, -2 * value));
  }
  ASSERT_TRUE(stream->beginCapture().ok());
  EXPECT_EQ(stream->synchronize().message(),
            "the host waits for a stream whose work is kept");
}

TEST_F(FakeDeviceTest, WhatNoGraphKeepsIsRefused) {
  ASSERT_TRUE(stream->beginCapture().ok());
  EXPECT_EQ(stream->record().status().message(),
            "the host asks for an event of a stream whose work is kept");
  open({});
  const auto event = *stream->record();
  ASSERT_TRUE(stream->beginCapture().ok());
  EXPECT_EQ(stream->wait(*event).message(),
            "the host adds a wait to a stream whose work is kept");
  for (const bool isOut : {false, true}) {
    open({});
    const DeviceBuffer x = floats(2);
    float host[2] = {};
    ASSERT_TRUE(stream->beginCapture().ok());
    EXPECT_EQ((isOut ? stream->copyOut(host, x.data(), 8)
                     : stream->copyIn(x.data(), host, 8))
                  .message(),
              "a copy is kept whose memory of the host the device did not "
              "give");
  }
}

TEST_F(FakeDeviceTest, EachTurnIsDoneOnce) {
  for (const size_t turns : {1, 2, 508, 509, 510, 100000}) {
    const DeviceBuffer x = floats(turns);
    std::vector<float> out(turns);
    ASSERT_TRUE(stream->clear(x.data(), x.size()).ok());
    ASSERT_TRUE(count(*stream, x.data(), turns).ok());
    ASSERT_TRUE(stream->copyOut(out.data(), x.data(), x.size()).ok());
    ASSERT_TRUE(stream->synchronize().ok());
    EXPECT_THAT(out, Each(1.0f)) << turns;
  }
}

TEST_F(FakeDeviceTest, NewMemoryHoldsNothing) {
  const DeviceBuffer x = floats(100);
  std::vector<float> out(100);
  ASSERT_TRUE(stream->copyOut(out.data(), x.data(), x.size()).ok());
  ASSERT_TRUE(stream->synchronize().ok());
  for (const float value : out)
    EXPECT_TRUE(std::isnan(value));
}

TEST_F(FakeDeviceTest, PointersOfTheOtherSideAreErrors) {
  std::vector<float> host(4);
  EXPECT_EQ(count(*stream, host.data(), 4).message(),
            "kernel_count is given a pointer of the host where one of the "
            "device is expected");
  open({});
  EXPECT_THAT(stream->clear(host.data(), 4).message(),
              HasSubstr("pointer of the host"));
  open({});
  const DeviceBuffer x = floats(4), y = floats(4);
  EXPECT_EQ(stream->copyIn(x.data(), y.data(), 16).message(),
            "a copy to the device is given a pointer of the device where one "
            "of the host is expected");
}

TEST_F(FakeDeviceTest, RangesThatAreTooLongAreErrors) {
  const DeviceBuffer x = floats(4);
  std::vector<float> host(5);
  EXPECT_EQ(stream->copyIn(x.data(), host.data(), 20).message(),
            "a copy to the device is given 20 bytes of the device that are "
            "not, or not all, allocated");
  // No work continues after an error.
  EXPECT_THAT(stream->copyIn(x.data(), host.data(), 16).message(),
              HasSubstr("20 bytes"));
  EXPECT_FALSE(stream->synchronize().ok());
  EXPECT_FALSE(device->allocate(DeviceBuffer::Kind::OfDevice, 4).status().ok());
}

TEST_F(FakeDeviceTest, AccessOutsideTheArgumentsIsAnError) {
  // An access slightly after the end, within the 64 bytes that start before the
  // end.
  {
    const DeviceBuffer x = floats(4), y = floats(3);
    ASSERT_TRUE(stream->clear(x.data(), x.size()).ok());
    ASSERT_TRUE(twice(*stream, x, y, 4).ok());
    EXPECT_EQ(stream->synchronize().message(),
              "kernel_double: writes outside of its memory");
  }
  // An access far after the end.
  open({});
  {
    const DeviceBuffer x = floats(3);
    ASSERT_TRUE(count(*stream, x.data(), 100000).ok());
    EXPECT_EQ(stream->synchronize().message(),
              "kernel_count: touches memory that it was not given, or writes "
              "what it only reads");
  }
  // Accesses to memory of another allocation, and to null.
  for (const bool isNull : {false, true}) {
    open({});
    const DeviceBuffer x = floats(3), y = floats(3);
    ASSERT_TRUE(stream
                    ->launch(Astray, 1,
                             std::array{at(x.data()),
                                        isNull ? uint64_t(8) : at(y.data())})
                    .ok());
    EXPECT_EQ(stream->synchronize().message(),
              "kernel_astray: touches memory that it was not given, or writes "
              "what it only reads");
  }
}

TEST_F(FakeDeviceTest, ExtraUsesOfALaunchAreUsed) {
  {
    const DeviceBuffer x = floats(3), y = floats(3);
    const std::array arguments = {at(x.data()), at(y.data())};
    ASSERT_TRUE(stream->clear(x.data(), x.size()).ok());
    const auto within = static_cast<const char *>(y.data()) + 4;
    ASSERT_TRUE(stream
                    ->launch(Astray, 1, arguments,
                             std::array{DeviceUse{within, /*isWritten=*/true}})
                    .ok());
    ASSERT_TRUE(
        stream
            ->launch(AstrayRead, 1, arguments,
                     std::array{DeviceUse{y.data(), /*isWritten=*/false}})
            .ok());
    std::vector<float> out(3);
    ASSERT_TRUE(stream->copyOut(out.data(), x.data(), 12).ok());
    ASSERT_TRUE(stream->synchronize().ok());
    EXPECT_EQ(out, (std::vector<float>{1, 0, 0}));
    // This memory is ordered like memory that arguments refer to.
    EXPECT_TRUE(
        stream
            ->launch(AstrayRead, 1, arguments,
                     std::array{DeviceUse{y.data(), /*isWritten=*/false}})
            .ok());
    EXPECT_THAT(other->clear(y.data(), 12).message(),
                HasSubstr("uses memory that stream 0 reads"));
  }
  open({});
  {
    const DeviceBuffer x = floats(3), y = floats(3);
    ASSERT_TRUE(stream->clear(x.data(), x.size()).ok());
    ASSERT_TRUE(stream
                    ->launch(Astray, 1, std::array{at(x.data()), at(y.data())},
                             std::array{DeviceUse{y.data(), false}})
                    .ok());
    EXPECT_THAT(stream->synchronize().message(),
                HasSubstr("writes what it only reads"));
  }
  open({});
  const DeviceBuffer x = floats(3);
  const std::vector<float> host(3);
  EXPECT_THAT(stream
                  ->launch(Astray, 1, std::array{at(x.data()), at(x.data())},
                           std::array{DeviceUse{host.data(), true}})
                  .message(),
              HasSubstr("a pointer of the host"));
}

TEST_F(FakeDeviceTest, WhatIsOnlyReadIsNotWritten) {
  const DeviceBuffer x = floats(3);
  ASSERT_TRUE(stream->clear(x.data(), x.size()).ok());
  ASSERT_TRUE(
      stream->launch(WrongCount, 3, std::array{at(x.data()), uint64_t(3)})
          .ok());
  EXPECT_EQ(stream->synchronize().message(),
            "kernel_wrong_count: touches memory that it was not given, or "
            "writes what it only reads");
}

TEST_F(FakeDeviceTest, AccessOutsideItsMemoryFails) {
  // An access before the start, in a page that belongs to the allocation.
  // Values that are read there are NaN.
  const DeviceBuffer x = floats(16), y = floats(16);
  ASSERT_TRUE(stream->clear(x.data(), x.size()).ok());
  const auto *before = static_cast<float *>(x.data()) - 4;
  ASSERT_TRUE(
      stream->launch(Astray, 1, std::array{at(x.data()), at(before)}).ok());
  EXPECT_EQ(stream->synchronize().message(),
            "kernel_astray: writes outside of its memory");
}

TEST_F(FakeDeviceTest, CopiesThatOverlapAreErrors) {
  const DeviceBuffer x = floats(4);
  auto *values = static_cast<float *>(x.data());
  EXPECT_THAT(stream->copyWithin(values + 1, values, 12).message(),
              HasSubstr("reads what it writes"));
}

TEST_F(FakeDeviceTest, DevicesAreApart) {
  const auto another = createFakeDevice();
  const auto itsStream = *another->createStream("test");
  const auto itsEvent = *itsStream->record();
  EXPECT_THAT(stream->wait(*itsEvent).message(),
              HasSubstr("an event of another device"));
  EXPECT_TRUE(another->load({"", kernels}).ok());
  EXPECT_THAT(another->load({"", kernels}).message(),
              HasSubstr("loaded its kernels before"));
}

TEST_F(FakeDeviceTest, HostMemoryOfTheDeviceHasAnOrderToo) {
  const DeviceBuffer x = floats(3), y = floats(3);
  {
    const DeviceBuffer host = *device->allocate(DeviceBuffer::Kind::OfHost, 12);
    ASSERT_TRUE(stream->clear(x.data(), 12).ok());
    ASSERT_TRUE(other->clear(y.data(), 12).ok());
    ASSERT_TRUE(stream->copyOut(host.data(), x.data(), 12).ok());
    EXPECT_THAT(other->copyOut(host.data(), y.data(), 12).message(),
                HasSubstr("uses memory that stream 0 writes"));
  }
}

TEST_F(FakeDeviceTest, HostMemoryInUseIsNotGivenBack) {
  const DeviceBuffer x = floats(3);
  DeviceBuffer host = *device->allocate(DeviceBuffer::Kind::OfHost, 12);
  ASSERT_TRUE(stream->clear(x.data(), 12).ok());
  ASSERT_TRUE(stream->copyOut(host.data(), x.data(), 12).ok());
  host.release();
  EXPECT_THAT(stream->synchronize().message(),
              HasSubstr("is given back while work of a stream uses it"));
}

TEST_F(FakeDeviceTest, NothingIsCopiedFromNowhere) {
  EXPECT_TRUE(stream->copyIn(nullptr, nullptr, 0).ok());
  EXPECT_TRUE(stream->copyOut(nullptr, nullptr, 0).ok());
  EXPECT_TRUE(stream->copyWithin(nullptr, nullptr, 0).ok());
  EXPECT_TRUE(stream->clear(nullptr, 0).ok());
  EXPECT_TRUE(stream->synchronize().ok());
}

TEST_F(FakeDeviceTest, TheHostCannotTouchItsMemory) {
  const DeviceBuffer x = floats(3);
  EXPECT_DEATH(floatsAt(at(x.data()))[0] = 1, "");
  // Access through an address that an earlier kernel got is detected too.
  ASSERT_TRUE(stream->clear(x.data(), x.size()).ok());
  ASSERT_TRUE(stream->synchronize().ok());
  EXPECT_DEATH(floatsAt(at(x.data()))[0] = 1, "");
}

TEST_F(FakeDeviceTest, StreamsThatShareMemoryNeedAnEvent) {
  {
    const DeviceBuffer x = floats(3), y = floats(3);
    ASSERT_TRUE(stream->clear(x.data(), x.size()).ok());
    EXPECT_EQ(twice(*other, x, y, 3).message(),
              "kernel_double in stream 1 uses memory that stream 0 writes: let "
              "it wait for an event of that");
  }
  open({});
  const DeviceBuffer x = floats(3), y = floats(3), z = floats(3);
  ASSERT_TRUE(stream->clear(x.data(), x.size()).ok());
  const auto written = *stream->record();
  ASSERT_TRUE(other->wait(*written).ok());
  ASSERT_TRUE(twice(*other, x, y, 3).ok());
  // Two streams may read at the same time; an earlier event does not order
  // them.
  ASSERT_TRUE(twice(*stream, x, z, 3).ok());
  ASSERT_TRUE(stream->wait(*written).ok());
  EXPECT_EQ(count(*stream, x.data(), 3).message(),
            "kernel_count in stream 0 uses memory that stream 1 reads: let it "
            "wait for an event of that");
}

TEST_F(FakeDeviceTest, EventsAndTheHostGiveWorkAnOrder) {
  const DeviceBuffer x = floats(3), y = floats(3);
  std::vector<float> in = {1, 2, 3}, out(3);
  ASSERT_TRUE(stream->copyIn(x.data(), in.data(), 12).ok());
  const auto copied = *stream->record();
  ASSERT_TRUE(other->wait(*copied).ok());
  ASSERT_TRUE(twice(*other, x, y, 3).ok());
  const auto computed = *other->record();
  ASSERT_TRUE(stream->wait(*computed).ok());
  ASSERT_TRUE(count(*stream, x.data(), 3).ok());
  // Only the second stream is waited for; it also does the required work of the
  // first.
  ASSERT_TRUE(other->copyOut(out.data(), y.data(), 12).ok());
  ASSERT_TRUE(other->synchronize().ok());
  EXPECT_EQ(out, (std::vector<float>{2, 4, 6}));
  // Work that the host has waited for is done before all later work in any
  // stream.
  ASSERT_TRUE(stream->synchronize().ok());
  ASSERT_TRUE(other->copyOut(out.data(), x.data(), 12).ok());
  ASSERT_TRUE(other->synchronize().ok());
  EXPECT_EQ(out, (std::vector<float>{2, 3, 4}));
}

TEST_F(FakeDeviceTest, MemoryInUseIsNotGivenBack) {
  DeviceBuffer x = floats(3);
  ASSERT_TRUE(stream->clear(x.data(), x.size()).ok());
  ASSERT_TRUE(stream->synchronize().ok());
  x.release();
  EXPECT_EQ(x.data(), nullptr);
  ASSERT_TRUE(stream->synchronize().ok());
  DeviceBuffer y = floats(3);
  ASSERT_TRUE(stream->clear(y.data(), y.size()).ok());
  y.release();
  EXPECT_EQ(stream->synchronize().message(),
            "memory is given back while work of a stream uses it: wait for the "
            "stream before");
}

TEST_F(FakeDeviceTest, MemoryThatWasGivenBackIsGone) {
  DeviceBuffer x = floats(3);
  void *before = x.data();
  x = floats(3);
  EXPECT_NE(x.data(), before);
  EXPECT_THAT(stream->clear(before, 12).message(),
              HasSubstr("not, or not all, allocated"));
}

TEST_F(FakeDeviceTest, WrongLaunchesAreErrors) {
  EXPECT_EQ(stream->launch(7, 1, {}).message(),
            "there is no kernel 7 in the code that was loaded");
  open({});
  EXPECT_EQ(stream->launch(Count, 1, {}).message(),
            "kernel_count takes 2 arguments, and is given 0");
  open({});
  // A launch without turns does nothing.
  const DeviceBuffer x = floats(0);
  EXPECT_TRUE(count(*stream, x.data(), 0).ok());
  EXPECT_TRUE(stream->synchronize().ok());
}

TEST_F(FakeDeviceTest, FailsWhereRequested) {
  open({.allocations = 1});
  {
    const DeviceBuffer first = floats(3);
    const auto second = device->allocate(DeviceBuffer::Kind::OfHost, 12);
    EXPECT_EQ(second.status().code(), PDL_OUT_OF_MEMORY);
    EXPECT_EQ(second.status().message(),
              "the device has no 12 bytes left; use a smaller --batch-size");
    // The stream continues without the failed call.
    EXPECT_TRUE(stream->clear(first.data(), 12).ok());
    EXPECT_TRUE(stream->synchronize().ok());
  }
  open({.launches = 1});
  {
    const DeviceBuffer x = floats(3);
    EXPECT_TRUE(count(*stream, x.data(), 3).ok());
    const Status status = count(*stream, x.data(), 3);
    EXPECT_THAT(status.message(), HasSubstr("kernel_count cannot be launched"));
    // As with CUDA, a retry may succeed.
    EXPECT_EQ(status.code(), PDL_UNAVAILABLE);
  }
  open({.work = 1});
  const DeviceBuffer x = floats(3);
  EXPECT_TRUE(stream->clear(x.data(), 12).ok());
  EXPECT_TRUE(stream->clear(x.data(), 12).ok());
  EXPECT_THAT(stream->synchronize().message(), HasSubstr("the device is lost"));
  EXPECT_THAT(other->synchronize().message(), HasSubstr("is lost"));
}

TEST_F(FakeDeviceTest, HostMemoryIsThere) {
  const DeviceBuffer host = *device->allocate(DeviceBuffer::Kind::OfHost, 12);
  EXPECT_EQ(at(host.data()) % 64, 0u);
  const DeviceBuffer x = floats(3);
  EXPECT_EQ(at(x.data()) % 64, 0u);
  auto *values = static_cast<float *>(host.data());
  std::iota(values, values + 3, 1.0f);
  ASSERT_TRUE(stream->copyIn(x.data(), values, 12).ok());
  ASSERT_TRUE(count(*stream, x.data(), 3).ok());
  ASSERT_TRUE(stream->copyOut(values, x.data(), 12).ok());
  ASSERT_TRUE(stream->synchronize().ok());
  EXPECT_THAT(std::vector<float>(values, values + 3),
              testing::ElementsAre(2, 3, 4));
  EXPECT_THAT(device->describe(), HasSubstr("fake"));
}

class FakeProductTest : public FakeDeviceTest {
protected:
  void SetUp() override { openMultiplying({}); }

  void openMultiplying(const FakeFaults &faults, bool roundsToTF32 = false) {
    product = {};
    memory.clear();
    stream.reset();
    other.reset();
    device = createFakeDevice(faults);
    ASSERT_TRUE(
        device->load({"", kernels, /*multiplies=*/true, roundsToTF32}).ok());
    stream = *device->createStream("test");
    other = *device->createStream("test");
    product.m = 2;
    product.n = 3;
    product.k = 2;
    product.cStride = 4;
    product.a = filled({1, 2, 3, 4});
    product.b = filled({1, 0, 2, 0, 1, 3});
    product.bias = filled({10, 20, 30});
    product.c = filled({0, 0, 0, 7, 0, 0, 0});
  }
  /// Returns device memory with these numbers.
  void *filled(const std::vector<float> &values) {
    memory.push_back(floats(values.size()));
    EXPECT_TRUE(stream
                    ->copyIn(memory.back().data(), values.data(),
                             values.size() * sizeof(float))
                    .ok());
    EXPECT_TRUE(stream->synchronize().ok());
    return memory.back().data();
  }
  std::string refusal() { return stream->multiply(product).status().message(); }

  std::vector<DeviceBuffer> memory;
  DeviceProduct product;
};

TEST_F(FakeProductTest, IsFormedWhenItIsWaitedFor) {
  std::vector<float> out(7);
  const Expected<bool> done = stream->multiply(product);
  ASSERT_TRUE(done.ok() && *done);
  ASSERT_TRUE(stream->copyOut(out.data(), product.c, 28).ok());
  EXPECT_TRUE(std::isnan(out[0]));
  ASSERT_TRUE(stream->synchronize().ok());
  EXPECT_EQ(out, (std::vector<float>{11, 22, 38, 7, 13, 24, 48}));
  // Both transposed, with factors that round to 1 and 3.
  product.transposeA = product.transposeB = product.roundsFactors = true;
  product.bias = nullptr;
  product.a = filled({1.001f, 3.003f, 2, 4});
  product.b = filled({1, 0, 0, 1, 2, 3.003f});
  ASSERT_TRUE(*stream->multiply(product));
  ASSERT_TRUE(stream->copyOut(out.data(), product.c, 28).ok());
  ASSERT_TRUE(stream->synchronize().ok());
  EXPECT_EQ(out, (std::vector<float>{1, 2, 8, 7, 3, 4, 18}));
}

TEST_F(FakeProductTest, RoundsFactorsToTF32WhereTheCodeSaysSo) {
  // Ties go to even, NaN keeps its bits, and numbers above the largest one
  // become infinite.
  constexpr float step = 0x1p-10f, infinity = INFINITY;
  const std::vector<float> given = {1 + step / 2,      1 + step * 3 / 2,
                                    -1 - step * 5 / 8, 1 + step * 3 / 8,
                                    0x1.fffp127f,      NAN},
                           rounded = {1, 1 + 2 * step, -1 - step,
                                      1, infinity,     NAN};
  const std::vector<float> factor = {1 + step / 2};
  for (bool toTF32 : {false, true})
    for (bool ofB : {false, true})
      for (bool toBFloat16 : {false, true}) {
        SCOPED_TRACE(testing::Message() << toTF32 << ofB << toBFloat16);
        openMultiplying({}, toTF32);
        const auto count = int64_t(given.size());
        product.m = ofB ? 1 : count;
        product.n = product.cStride = ofB ? count : 1;
        product.k = 1;
        product.bias = nullptr;
        product.a = filled(ofB ? factor : given);
        product.b = filled(ofB ? given : factor);
        product.c = filled(given);
        product.roundsFactors = toBFloat16;
        ASSERT_TRUE(*stream->multiply(product));
        std::vector<float> out(given.size());
        ASSERT_TRUE(
            stream->copyOut(out.data(), product.c, out.size() * 4).ok());
        ASSERT_TRUE(stream->synchronize().ok());
        for (size_t i = 0; i < given.size(); ++i) {
          const float want = toBFloat16 ? float(pdlabi::BFloat16(given[i]))
                             : toTF32   ? rounded[i]
                                        : given[i] * factor.front();
          if (std::isnan(want))
            EXPECT_TRUE(std::isnan(out[i])) << i;
          else
            EXPECT_EQ(out[i], want) << i;
        }
      }
}

TEST_F(FakeProductTest, WrongMemoryIsAnError) {
  std::vector<float> host(7);
  product.a = host.data();
  EXPECT_THAT(refusal(), HasSubstr("a product is given a pointer of the host"));
  openMultiplying({});
  product.c = static_cast<float *>(product.c) + 1;
  EXPECT_THAT(refusal(), HasSubstr("a product is given 28 bytes of the device "
                                   "that are not, or not all, allocated"));
  openMultiplying({});
  product.bias = product.c;
  EXPECT_THAT(refusal(), HasSubstr("a product reads what it writes"));
  openMultiplying({});
  product.cStride = 2;
  EXPECT_THAT(refusal(), HasSubstr("with rows 2 apart"));
  openMultiplying({});
  product.k = 0;
  EXPECT_THAT(refusal(), HasSubstr("a product of 2 x 3 x 0"));
}

TEST_F(FakeProductTest, StreamsWaitForIt) {
  ASSERT_TRUE(*stream->multiply(product));
  const auto event = *stream->record();
  ASSERT_TRUE(other->wait(*event).ok());
  EXPECT_TRUE(other->clear(product.c, 4).ok());
  ASSERT_TRUE(stream->synchronize().ok() && other->synchronize().ok());
  void *const target = filled({0});
  ASSERT_TRUE(*stream->multiply(product));
  // Concurrent reads are allowed.
  EXPECT_TRUE(other->copyWithin(target, product.a, 4).ok());
  EXPECT_THAT(other->clear(const_cast<void *>(product.b), 4).message(),
              HasSubstr("uses memory that stream 0 reads"));
}

TEST_F(FakeProductTest, IsDeclinedOrFailsWhereRequested) {
  openMultiplying({.products = 1});
  EXPECT_TRUE(*stream->multiply(product));
  const Expected<bool> second = stream->multiply(product);
  ASSERT_TRUE(second.ok());
  EXPECT_FALSE(*second);
  EXPECT_TRUE(stream->synchronize().ok());
  openMultiplying({.launches = 0});
  EXPECT_THAT(refusal(), HasSubstr("a product cannot be launched"));
  memory.clear();
  open({});
  EXPECT_THAT(refusal(), HasSubstr("a product by code that has none"));
}

} // namespace
