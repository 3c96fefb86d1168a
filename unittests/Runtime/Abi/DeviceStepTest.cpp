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
void doubled(const uint64_t *arguments, int64_t first, int64_t stride) {
  const auto *x = reinterpret_cast<const float *>(arguments[0]);
  auto *y = reinterpret_cast<float *>(arguments[1]);
  for (int64_t i = first; i < int64_t(arguments[2]); i += stride)
    y[i] = 2 * x[i];
}

// A model's parameters, where they are not on the device, stand in memory of
// the host that no device gave: graphs keep no copies of it, and each stage has
// what is there now.
TEST(DeviceStepTest, StagesThatRepeatHaveTheParametersOfNow) {
  static const int64_t shape[] = {2};
  pdl_symbol symbol = {};
  symbol.element_type = PDL_F32;
  symbol.rank = 1;
  symbol.shape = shape;
  pdl_device_kernel described = {"kernel_double", 3, nullptr, doubled};
  pdl_descriptor descriptor = {};
  descriptor.symbols = &symbol;
  descriptor.symbol_count = 1;
  descriptor.device_kernels = &described;
  descriptor.device_kernel_count = 1;
  using enum DeviceArgument;
  const std::vector<DeviceKernel> kernels = {
      {"kernel_double", {Read, Written, Number}, doubled}};
  const std::unique_ptr<Device> device = createFakeDevice();
  ASSERT_TRUE(device->load({"", kernels}).ok());
  const pdl_program program = {};
  DeviceInput input(*device, descriptor, program);
  DeviceStep step(*device, descriptor, program, /*parameters=*/nullptr);
  const DeviceBuffer memory =
      *device->allocate(DeviceBuffer::Kind::OfDevice, 2 * sizeof(float));
  std::array<float, 2> parameter = {};
  std::array<void *, 1> parameters = {parameter.data()};
  pdl_step_context context = {};
  context.parameters = parameters.data();
  for (int stage = 0; stage < 6; ++stage) {
    parameter = {float(stage), 10};
    step.begin(context, input);
    const std::array arguments = {
        reinterpret_cast<uint64_t>(step.pointerTo(PDL_PLACE_PARAMETER, 0)),
        reinterpret_cast<uint64_t>(memory.data()), uint64_t(2)};
    // Enough for a graph.
    for (size_t i = 0; i < DeviceCommands::leastPieces; ++i)
      step.launch(0, 2, arguments.data());
    auto *const out = static_cast<float *>(step.hostMemory(2 * sizeof(float)));
    step.copyOut(out, memory.data(), 2 * sizeof(float));
    const Status status = step.wait(/*isLast=*/true);
    ASSERT_TRUE(status.ok()) << stage << ": " << status.message();
    EXPECT_THAT(std::vector<float>(out, out + 2),
                testing::ElementsAre(2.0F * float(stage), 20))
        << stage;
  }
}

// The next batch is prepared beside a stage: every second one has the same
// memory, on the host and on the device.
TEST(DeviceStepTest, BatchesThatAlternateRepeat) {
  static const int32_t fields[] = {0};
  pdl_field field = {};
  field.element_type = PDL_F32;
  field.width = 2;
  pdl_device_kernel described = {"kernel_double", 3, nullptr, doubled};
  pdl_descriptor descriptor = {};
  descriptor.fields = &field;
  descriptor.field_count = 1;
  descriptor.device_kernels = &described;
  descriptor.device_kernel_count = 1;
  using enum DeviceArgument;
  const std::vector<DeviceKernel> kernels = {
      {"kernel_double", {Read, Written, Number}, doubled}};
  const std::unique_ptr<Device> device = createFakeDevice();
  ASSERT_TRUE(device->load({"", kernels}).ok());
  pdl_program program = {};
  program.fields = fields;
  program.field_count = 1;
  std::array<DeviceInput, 2> inputs = {
      DeviceInput(*device, descriptor, program),
      DeviceInput(*device, descriptor, program)};
  DeviceStep step(*device, descriptor, program, /*parameters=*/nullptr);
  const DeviceBuffer memory =
      *device->allocate(DeviceBuffer::Kind::OfDevice, 2 * sizeof(float));
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
    step.begin(contexts[own], inputs[own]);
    const std::array arguments = {
        reinterpret_cast<uint64_t>(step.pointerTo(PDL_PLACE_FIELD_VALUES, 0)),
        reinterpret_cast<uint64_t>(memory.data()), uint64_t(2)};
    for (size_t i = 0; i < DeviceCommands::leastPieces; ++i)
      step.launch(0, 2, arguments.data());
    auto *const out = static_cast<float *>(step.hostMemory(2 * sizeof(float)));
    step.copyOut(out, memory.data(), 2 * sizeof(float));
    const Status status = step.wait(/*isLast=*/true);
    ASSERT_TRUE(status.ok()) << stage << ": " << status.message();
    EXPECT_THAT(std::vector<float>(out, out + 2),
                testing::ElementsAre(2.0F * float(stage), 20))
        << stage;
  }
  // All but the first two of each.
  EXPECT_GE(step.replayed(), stages - 4);
}

} // namespace
