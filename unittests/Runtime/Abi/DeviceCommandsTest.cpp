//===- DeviceCommandsTest.cpp - Commands of a stage on a stream -----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Abi/DeviceCommands.h"

#include "pdlrt/Core/Trace.h"

#include <gmock/gmock.h>

#include <array>

using namespace pdlrt;
using testing::ElementsAre;

namespace {

/// Computes x = 10 x + digit. The digits of x then show the order of all
/// launches.
void appendDigit(const uint64_t *arguments, int64_t first, int64_t) {
  if (first != 0)
    return;
  auto *x = reinterpret_cast<int64_t *>(arguments[0]);
  *x = 10 * *x + int64_t(arguments[1]);
}

class DeviceCommandsTest : public testing::Test {
protected:
  DeviceCommandsTest() {
    EXPECT_TRUE(device->load({"", kernels}).ok());
    stream = *device->createStream("test");
    memory = *device->allocate(DeviceBuffer::Kind::OfDevice, sizeof(int64_t));
    result = *device->allocate(DeviceBuffer::Kind::OfHost, sizeof(int64_t));
    commands = std::make_unique<DeviceCommands>(*stream);
  }

  /// A part of a stage: clears, appends the digits, and copies the result out.
  int64_t part(const std::vector<uint64_t> &digits) {
    EXPECT_TRUE(commands->clear(memory.data(), sizeof(int64_t)).ok());
    for (uint64_t digit : digits)
      EXPECT_TRUE(
          commands
              ->launch(
                  0, 1,
                  std::array{reinterpret_cast<uint64_t>(memory.data()), digit})
              .ok());
    EXPECT_TRUE(
        commands->copyOut(result.data(), memory.data(), sizeof(int64_t)).ok());
    EXPECT_TRUE(commands->endPart().ok());
    EXPECT_TRUE(stream->synchronize().ok());
    return *static_cast<int64_t *>(result.data());
  }
  int64_t stage(int64_t samples, const std::vector<uint64_t> &digits,
                const void *batch = nullptr) {
    commands->begin(samples, batch);
    return part(digits);
  }

  const std::vector<DeviceKernel> kernels = {
      {"append",
       {DeviceArgument::Written, DeviceArgument::Number},
       appendDigit}};
  std::unique_ptr<Device> device = createFakeDevice();
  std::unique_ptr<DeviceStream> stream;
  DeviceBuffer memory, result;
  std::unique_ptr<DeviceCommands> commands;
};

TEST_F(DeviceCommandsTest, WhatRepeatsIsDoneByOneLaunch) {
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(stage(8, {1, 2, 3}), 123) << i;
  // The first step is recorded, the second confirms that it repeats, and three
  // further steps are replayed.
  EXPECT_EQ(commands->replayed(), 3);
}

TEST_F(DeviceCommandsTest, EachPieceIsDoneOnceWhateverChanges) {
  const std::vector<uint64_t> digits = {1, 2, 3, 4};
  const std::vector<std::pair<std::vector<uint64_t>, int64_t>> others = {
      {{9, 2, 3, 4}, 9234},
      {{1, 9, 3, 4}, 1934},
      {{1, 2, 9, 4}, 1294},
      {{1, 2, 3, 9}, 1239},
      {{1, 2, 3}, 123},
      {{1}, 1},
      {{}, 0},
      {{1, 2, 3, 4, 5}, 12345}};
  for (const auto &[other, number] : others) {
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(stage(8, digits), 1234);
    const int64_t before = commands->replayed();
    EXPECT_GT(before, 0);
    EXPECT_EQ(stage(8, other), number);
    EXPECT_EQ(commands->replayed(), before);
  }
}

TEST_F(DeviceCommandsTest, PartsAreKeptByThemselves) {
  for (uint64_t i = 0; i < 6; ++i) {
    commands->begin(8, nullptr);
    EXPECT_EQ(part({1, 2}), 12);
    EXPECT_EQ(part({3, i}), int64_t(30 + i));
    EXPECT_EQ(part({4, 5}), 45);
  }
  EXPECT_EQ(commands->replayed(), 2 * 4);
  // A stage may end early.
  EXPECT_EQ(stage(8, {1, 2}), 12);
  EXPECT_EQ(stage(8, {7, 7}), 77);
}

TEST_F(DeviceCommandsTest, AFewShapesAreKept) {
  for (int round = 0; round < 4; ++round)
    for (int64_t samples : {32, 7})
      EXPECT_EQ(stage(samples, {1, 2, uint64_t(samples % 10)}),
                120 + samples % 10);
  EXPECT_EQ(commands->replayed(), 4);
  for (int round = 0; round < 3; ++round)
    for (int64_t samples = 0; samples < int64_t(DeviceCommands::maxShapes) + 4;
         ++samples)
      EXPECT_EQ(stage(samples, {1, 2}), 12);
  EXPECT_EQ(commands->replayed(), 4);
}

// The next batch is prepared during a stage, in memory of its own.
TEST_F(DeviceCommandsTest, BatchesOfTwoPlacesRepeatEachByItself) {
  const int places[2] = {};
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(stage(8, {1, 2, 3}, &places[0]), 123);
    EXPECT_EQ(stage(8, {4, 5, 6}, &places[1]), 456);
  }
  EXPECT_EQ(commands->replayed(), 2 * 3);
}

TEST_F(DeviceCommandsTest, FewPiecesMakeNoGraph) {
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(stage(8, {1}), 1);
  EXPECT_EQ(commands->replayed(), 0);
}

TEST_F(DeviceCommandsTest, ATraceHasThePieces) {
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(stage(8, {1, 2, 3}), 123);
  Trace::start();
  EXPECT_EQ(stage(8, {1, 2, 3}), 123);
  const Trace::Recorded recorded = Trace::stop();
  const auto own =
      std::ranges::find(recorded.threads, "fake 0: test", &ThreadTrace::name);
  ASSERT_NE(own, recorded.threads.end());
  EXPECT_EQ(own->events.size(), 5u);
  EXPECT_EQ(stage(8, {1, 2, 3}), 123);
  EXPECT_EQ(commands->replayed(), 3);
}

} // namespace
