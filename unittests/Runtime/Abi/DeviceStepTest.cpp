//===- DeviceStepTest.cpp - Stages that repeat on a device ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Abi/DeviceStep.h"

#include "gmock/gmock.h"

#include <array>

using namespace pdlrt;

namespace {

/// y[i] = 2 x[i].
void doubleThem(const uint64_t *arguments, int64_t first, int64_t stride) {
  const auto *x = reinterpret_cast<const float *>(arguments[0]);
  auto *y = reinterpret_cast<float *>(arguments[1]);
  for (int64_t i = first; i < int64_t(arguments[2]); i += stride)
    y[i] = 2 * x[i];
}

class DeviceStepTest : public testing::Test {
protected:
  void SetUp() override {
    descriptor.device_kernels = &described;
    descriptor.device_kernel_count = 1;
    ASSERT_TRUE(device->load({"", kernels}).ok());
    memory = *device->allocate(DeviceBuffer::Kind::OfDevice, 2 * sizeof(float));
  }

  /// Runs a stage that doubles the two numbers at place `place` of the input.
  /// The stage has enough launches to become a graph.
  std::vector<float> doubled(DeviceStep &step, const pdl_step_context &context,
                             DeviceInput &input, int32_t place) {
    step.begin(context, input);
    const std::array arguments = {
        reinterpret_cast<uint64_t>(step.pointerTo(place, 0)),
        reinterpret_cast<uint64_t>(memory.data()), uint64_t(2)};
    for (size_t i = 0; i < DeviceCommands::minPieces; ++i)
      step.launch(0, 2, arguments.data());
    auto *const out = static_cast<float *>(step.hostMemory(2 * sizeof(float)));
    step.copyOut(out, memory.data(), 2 * sizeof(float));
    const Status status = step.wait(/*isLast=*/true);
    EXPECT_TRUE(status.ok()) << status.message();
    return status.ok() ? std::vector<float>(out, out + 2)
                       : std::vector<float>();
  }

  const std::vector<DeviceKernel> kernels = {
      {"kernel_double",
       {DeviceArgument::Read, DeviceArgument::Written, DeviceArgument::Number},
       doubleThem}};
  pdl_device_kernel described = {"kernel_double", 3, nullptr, doubleThem};
  pdl_descriptor descriptor = {};
  pdl_program program = {};
  const std::unique_ptr<Device> device = createFakeDevice();
  DeviceBuffer memory;
};

// A model's parameters that are not on the device are in host memory that no
// device allocated. Graphs keep no copies of it; each stage reads the current
// values.
TEST_F(DeviceStepTest, StagesThatRepeatHaveTheParametersOfNow) {
  static const int64_t shape[] = {2};
  pdl_symbol symbol = {};
  symbol.element_type = PDL_F32;
  symbol.rank = 1;
  symbol.shape = shape;
  descriptor.symbols = &symbol;
  descriptor.symbol_count = 1;
  DeviceInput input(*device, descriptor, program);
  DeviceStep step(*device, descriptor, program, /*parameters=*/nullptr);
  std::array<float, 2> parameter = {};
  std::array<void *, 1> parameters = {parameter.data()};
  pdl_step_context context = {};
  context.parameters = parameters.data();
  for (int stage = 0; stage < 6; ++stage) {
    parameter = {float(stage), 10};
    EXPECT_THAT(doubled(step, context, input, PDL_PLACE_PARAMETER),
                testing::ElementsAre(2.0F * float(stage), 20))
        << stage;
  }
}

// The next batch is prepared during a stage: every second batch uses the same
// memory, on the host and on the device.
TEST_F(DeviceStepTest, BatchesThatAlternateRepeat) {
  static const int32_t fields[] = {0};
  pdl_field field = {};
  field.element_type = PDL_F32;
  field.width = 2;
  descriptor.fields = &field;
  descriptor.field_count = 1;
  program.fields = fields;
  program.field_count = 1;
  std::array<DeviceInput, 2> inputs = {
      DeviceInput(*device, descriptor, program),
      DeviceInput(*device, descriptor, program)};
  DeviceStep step(*device, descriptor, program, /*parameters=*/nullptr);
  std::array<std::array<float, 2>, 2> values = {};
  std::array<pdl_field_data, 2> data = {};
  std::array<pdl_step_context, 2> contexts = {};
  for (size_t i = 0; i < 2; ++i) {
    data[i] = {values[i].data(), nullptr, 2};
    contexts[i].fields = &data[i];
    contexts[i].batch = 1;
  }
  constexpr int stages = 10;
  for (int stage = 0; stage < stages; ++stage) {
    const size_t own = stage % 2;
    values[own] = {float(stage), 10};
    if (stage > 1)
      ASSERT_TRUE(inputs[own].send(contexts[own]).ok());
    EXPECT_THAT(
        doubled(step, contexts[own], inputs[own], PDL_PLACE_FIELD_VALUES),
        testing::ElementsAre(2.0F * float(stage), 20))
        << stage;
  }
  // All stages except the first two of each are replayed.
  EXPECT_GE(step.replayed(), stages - 4);
}

} // namespace
