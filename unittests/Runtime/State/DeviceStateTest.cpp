//===- DeviceStateTest.cpp - Parameters that stay on a device -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compares the same updates on the host and on a fake device.
//
//===----------------------------------------------------------------------===//

#include "pdlrt/State/DeviceState.h"
#include "OneGroup.h"
#include "pdlabi/device.h"
#include "pdlabi/norm.h"
#include "pdlrt/Sched/Scheduler.h"
#include "pdlrt/State/Model.h"
#include "pdlrt/State/Updater.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <limits>

using namespace pdlrt;
using testing::HasSubstr;

namespace {

constexpr int64_t rowCount = 5, rowWidth = 3, elements = rowCount * rowWidth;
/// An elementwise momentum rule, a rule on rows, a rule on a whole parameter,
/// and a parameter that is never trained.
enum : int32_t { ByElement, ByRow, Whole, Constant, symbolCount };

using Scalars = pdltest::OneGroup::Scalars;

bool updateElement(float *value, float *slot, float gradient,
                   const Scalars &s) {
  *slot = 0.5f * *slot + gradient / s.weight;
  *value -= s.rate * *slot;
  return std::isfinite(*value) && std::isfinite(*slot);
}

int32_t byElement(int64_t count, void *const *state, const void *gradient,
                  const void *scalars) {
  bool finite = true;
  for (int64_t i = 0; i < count; ++i)
    finite &= updateElement(static_cast<float *>(state[0]) + i,
                            static_cast<float *>(state[1]) + i,
                            static_cast<const float *>(gradient)[i],
                            *static_cast<const Scalars *>(scalars));
  return !finite;
}

bool updateRow(float *value, float *rowSlot, const float *gradient,
               const Scalars &s) {
  *rowSlot += gradient[0] * gradient[0];
  bool finite = true;
  for (int64_t i = 0; i < rowWidth; ++i) {
    value[i] -= s.rate * gradient[i] / std::sqrt(1 + *rowSlot);
    finite &= std::isfinite(value[i]);
  }
  return finite;
}

int32_t byRow(int64_t count, void *const *state, const void *gradient,
              const void *scalars) {
  bool finite = true;
  for (int64_t r = 0; r < count / rowWidth; ++r)
    finite &= updateRow(static_cast<float *>(state[0]) + r * rowWidth,
                        static_cast<float *>(state[1]) + r,
                        static_cast<const float *>(gradient) + r * rowWidth,
                        *static_cast<const Scalars *>(scalars));
  return !finite;
}

template <typename T> T *pointer(uint64_t argument) {
  return reinterpret_cast<T *>(argument);
}

void runByElement(const uint64_t *arguments, int64_t first, int64_t stride) {
  for (auto i = first; i < int64_t(arguments[0]); i += stride)
    if (!updateElement(
            pointer<float>(arguments[1]) + i, pointer<float>(arguments[2]) + i,
            pointer<float>(arguments[3])[i], *pointer<Scalars>(arguments[4])))
      *pointer<int32_t>(arguments[5]) = 1;
}

void runByRow(const uint64_t *arguments, int64_t first, int64_t stride) {
  for (auto r = first; r < int64_t(arguments[0]); r += stride)
    if (!updateRow(pointer<float>(arguments[1]) + r * rowWidth,
                   pointer<float>(arguments[2]) + r,
                   pointer<float>(arguments[3]) + r * rowWidth,
                   *pointer<Scalars>(arguments[4])))
      *pointer<int32_t>(arguments[5]) = 1;
}

void runNormLanes(const uint64_t *arguments, int64_t first, int64_t stride) {
  pdldevice_norm_lanes_f32(int64_t(arguments[0]), int64_t(arguments[1]),
                           arguments[2], pointer<float>(arguments[3]),
                           pointer<double>(arguments[4]), first, stride);
}

struct Program : pdltest::OneGroup {
  pdl_symbol symbols[symbolCount] = {};
  pdl_update_descriptor updates[3] = {
      {ByElement, -1, 0}, {ByRow, -1, 0}, {Whole, -1, 0}};

  Program() {
    static const char *const names[] = {"w", "r", "whole", "c"};
    static const int64_t shape[] = {rowCount, rowWidth};
    static const double slotValues[] = {0.125};
    static const char *const slotNames[] = {"m"};
    for (int32_t s = 0; s < symbolCount; ++s) {
      pdl_symbol &symbol = symbols[s];
      symbol.struct_size = sizeof(symbol);
      symbol.name = names[s];
      symbol.id = uint64_t(s) + 1;
      symbol.rank = 2;
      symbol.shape = shape;
      symbol.row_count = rowCount;
      symbol.row_width = symbol.gradient_width = rowWidth;
      symbol.initializer = {PDL_INIT_UNIFORM, -0.5, 0.5};
      symbol.device_kernel = s == ByElement ? 0 : s == ByRow ? 1 : -1;
      if (s == Constant) {
        symbol.group = -1;
        continue;
      }
      symbol.slot_count = 1;
      symbol.slot_names = slotNames;
      symbol.slot_initial_values = slotValues;
      symbol.dense_kernel = s == ByRow ? byRow : byElement;
    }
    symbols[ByRow].row_slot_count = 1;
    symbols[ByRow].kernel_unit = PDL_UNIT_ROW;
    symbols[Whole].kernel_unit = PDL_UNIT_PARAMETER;
    symbols[Whole].frozen_part = 1;
    describe(symbols, updates);
  }
};

class DeviceStateTest : public testing::Test {
protected:
  void open(const FakeFaults &faults = {}) {
    using enum DeviceArgument;
    const std::vector<DeviceArgument> arguments = {Number, Written, Written,
                                                   Read,   Read,    Written};
    kernels = {{"w", arguments, runByElement},
               {"r", arguments, runByRow},
               {"pdldevice_norm_lanes_f32",
                {Number, Number, Number, Read, Written},
                runNormLanes}};
    // A device must outlive its memory.
    deviceUpdater.reset();
    onDevice.reset();
    device = createFakeDevice(faults);
    ASSERT_TRUE(device->load({"", kernels}).ok());
    onHost = std::make_unique<Model>(program.descriptor, 7);
    onDevice = std::make_unique<Model>(program.descriptor, 7);
    onDevice->computeOn({device.get()});
    EXPECT_TRUE(onDevice->keepOnDevice().ok());
    hostUpdater =
        std::make_unique<Updater>(*onHost, program.program, scheduler);
    deviceUpdater =
        std::make_unique<Updater>(*onDevice, program.program, scheduler);
  }
  DeviceState &state() { return *onDevice->deviceState(); }

  PartialSum gradientsOf(int step) {
    PartialSum merged;
    merged.present = true;
    merged.objectives = {{0, 2.0 + step}};
    for (int b = 0; b < 3; ++b) {
      for (int64_t i = 0; i < elements; ++i)
        gradients[b][i] = float(std::sin(double(100 * step + 10 * b + i)));
      BlockGradient &block = merged.blocks.emplace_back();
      block.dense = gradients[b];
    }
    return merged;
  }
  void step(int number) {
    const PartialSum merged = gradientsOf(number);
    ASSERT_TRUE(hostUpdater->apply(merged).ok());
    ASSERT_TRUE(deviceUpdater->apply(merged).ok());
  }
  /// Returns the values that stages read on the device.
  std::vector<float> read(int32_t symbol, bool frozen) {
    const Expected<void *> found = state().copy(0).parameter(symbol, frozen);
    EXPECT_TRUE(found.ok());
    std::vector<float> values(elements);
    auto stream = device->createStream("test");
    EXPECT_TRUE(stream.ok());
    EXPECT_TRUE((*stream)
                    ->copyOut(values.data(), *found, elements * sizeof(float))
                    .ok());
    EXPECT_TRUE((*stream)->synchronize().ok());
    return values;
  }
  static std::vector<float> valuesOf(const Model &model, int32_t symbol,
                                     int32_t part = 0) {
    const auto *values = static_cast<const float *>(model.part(symbol, part));
    return {values, values + model.heldElements(symbol, part)};
  }

  Program program;
  Scheduler scheduler{1};
  std::vector<DeviceKernel> kernels;
  std::unique_ptr<Device> device;
  std::unique_ptr<Model> onHost, onDevice;
  std::unique_ptr<Updater> hostUpdater, deviceUpdater;
  float gradients[3][elements];
};

TEST_F(DeviceStateTest, UpdatesToTheBitsOfTheHost) {
  open();
  for (int i = 0; i < 3; ++i)
    step(i);
  EXPECT_EQ(read(ByElement, false), valuesOf(*onHost, ByElement));
  EXPECT_EQ(read(ByRow, false), valuesOf(*onHost, ByRow));
  // The host applies its rule.
  EXPECT_EQ(read(Whole, false), valuesOf(*onHost, Whole));
  EXPECT_EQ(read(Whole, true), valuesOf(*onHost, Whole, 1));
  EXPECT_EQ(read(Constant, false), valuesOf(*onHost, Constant));
  ASSERT_TRUE(onDevice->bringToHost().ok());
  for (int32_t s : {ByElement, ByRow, Whole})
    for (int32_t part : {0, 1})
      EXPECT_EQ(valuesOf(*onDevice, s, part), valuesOf(*onHost, s, part));
}

TEST_F(DeviceStateTest, TheHostIsBehindUntilItAsks) {
  open();
  const std::vector<float> before = valuesOf(*onDevice, ByElement);
  step(0);
  EXPECT_EQ(valuesOf(*onDevice, ByElement), before);
  ASSERT_TRUE(onDevice->bringToHost().ok());
  EXPECT_EQ(valuesOf(*onDevice, ByElement), valuesOf(*onHost, ByElement));
  // The next step continues from there.
  step(1);
  ASSERT_TRUE(onDevice->bringToHost().ok());
  EXPECT_EQ(valuesOf(*onDevice, ByElement), valuesOf(*onHost, ByElement));
}

TEST_F(DeviceStateTest, AFrozenStageSeesEachUpdateOfTheHost) {
  open();
  for (int i = 0; i < 3; ++i) {
    step(i);
    EXPECT_EQ(read(Whole, true), valuesOf(*onHost, Whole, 1)) << i;
  }
}

TEST_F(DeviceStateTest, TakesGradientsThatAreThere) {
  open();
  EXPECT_FALSE(state().takesGradient(ByElement));
  state().keepGradients(1, 1);
  EXPECT_TRUE(state().takesGradient(ByElement));
  EXPECT_FALSE(state().takesGradient(Whole));
  EXPECT_FALSE(state().takesGradient(Constant));

  const PartialSum merged = gradientsOf(0);
  ASSERT_TRUE(hostUpdater->apply(merged).ok());
  auto memory =
      device->allocate(DeviceBuffer::Kind::OfDevice, elements * sizeof(float));
  ASSERT_TRUE(memory.ok());
  auto stream = device->createStream("test");
  ASSERT_TRUE((*stream)
                  ->copyIn(memory->data(), gradients[ByElement],
                           elements * sizeof(float))
                  .ok());
  ASSERT_TRUE((*stream)->synchronize().ok());
  PartialSum there = merged;
  there.blocks[ByElement].dense = nullptr;
  there.blocks[ByElement].onDevice = memory->data();

  const std::vector<GradientBlock> blocks =
      gradientBlocks(program.descriptor, program.program);
  const Expected<PartialSum> brought = state().withGradients(there, blocks);
  ASSERT_TRUE(brought.ok());
  EXPECT_EQ(std::memcmp(brought->blocks[ByElement].dense, gradients[ByElement],
                        sizeof(gradients[ByElement])),
            0);
  EXPECT_EQ(brought->blocks[Whole].dense, merged.blocks[Whole].dense);

  ASSERT_TRUE(deviceUpdater->apply(there).ok());
  EXPECT_EQ(read(ByElement, false), valuesOf(*onHost, ByElement));
}

TEST_F(DeviceStateTest, WithoutItsKernelTheHostFormsNormsOfClips) {
  program.group.clip = 0;
  open();
  state().keepGradients(1, 1);
  EXPECT_FALSE(state().takesGradient(ByElement));
}

TEST_F(DeviceStateTest, NormsOfClipsHaveTheBitsOfTheHost) {
  pdl_device_kernel described[3] = {};
  described[0].name = "w";
  described[1].name = "r";
  described[2].name = "pdldevice_norm_lanes_f32";
  program.descriptor.device_kernels = described;
  program.descriptor.device_kernel_count = 3;
  program.group.clip = 0;
  open();
  state().keepGradients(1, 1);
  EXPECT_TRUE(state().takesGradient(ByElement));
  const PartialSum merged = gradientsOf(3);
  auto memory = *device->allocate(DeviceBuffer::Kind::OfDevice,
                                  sizeof(gradients[ByElement]));
  auto stream = *device->createStream("test");
  ASSERT_TRUE(stream
                  ->copyIn(memory.data(), gradients[ByElement],
                           sizeof(gradients[ByElement]))
                  .ok());
  ASSERT_TRUE(stream->synchronize().ok());
  BlockGradient there;
  there.onDevice = memory.data();
  std::vector<double> partials;
  ASSERT_TRUE(state()
                  .partialNorms(ByElement, ByElement, there,
                                pdlabi::rowsInNormUnit * rowWidth,
                                merged.objectives.front().weight, partials)
                  .ok());
  EXPECT_EQ(partials, hostUpdater->partialNorms(ByElement, merged));
  EXPECT_EQ(partials.size(), 1u);
  // Units of four elements, the last of three.
  ASSERT_TRUE(
      state().partialNorms(ByElement, ByElement, there, 4, 2, partials).ok());
  EXPECT_EQ(partials.size(), 4u);
  pdlabi::SquaredNormUnit last;
  last.add(gradients[ByElement] + 12, 3, 2);
  EXPECT_EQ(partials.back(), last.partial());
}

TEST_F(DeviceStateTest, NamesWhatIsNotFinite) {
  for (int32_t bad : {ByElement, ByRow}) {
    open();
    const PartialSum merged = gradientsOf(0);
    gradients[bad][elements - 1] = std::numeric_limits<float>::infinity();
    const Status status = deviceUpdater->apply(merged);
    EXPECT_THAT(status.message(),
                HasSubstr(std::string("gave @") + program.symbols[bad].name));
  }
}

TEST_F(DeviceStateTest, ADeviceThatFails) {
  for (int64_t allocations : {0, 1, 3, 5, 8}) {
    FakeFaults faults;
    faults.allocations = allocations;
    open(faults);
    const Status status = deviceUpdater->apply(gradientsOf(0));
    EXPECT_THAT(status.message(), HasSubstr("the device has no"))
        << allocations;
  }
  for (int64_t work : {0, 2, 5, 9}) {
    FakeFaults faults;
    faults.work = work;
    open(faults);
    EXPECT_THAT(deviceUpdater->apply(gradientsOf(0)).message(),
                HasSubstr("the device is lost"))
        << work;
    // If a rule was started on the device, the host has nothing to save.
    if (work >= 5) {
      EXPECT_FALSE(onDevice->bringToHost().ok()) << work;
    }
  }
}

} // namespace
