//===- DeviceGradientsTest.cpp - Gradients checked on devices -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Abi/DeviceStep.h"

#include "pdlabi/device.h"

#include "gtest/gtest.h"

#include <limits>

using namespace pdlrt;
using pdlabi::GradientKernel;

namespace {

template <typename T, auto function>
void run(const uint64_t *arguments, int64_t first, int64_t stride) {
  function(int64_t(arguments[0]), reinterpret_cast<const T *>(arguments[1]),
           reinterpret_cast<int32_t *>(arguments[2]), first, stride);
}

/// Devices that apply all rules.
struct AllRules final : DeviceParameters {
  Expected<void *> parameter(int32_t, bool) override {
    return Status::internal("nobody reads parameters");
  }
  bool takesGradient(int32_t) const override { return true; }
};

/// Gradients of two parameters of three elements.
class DeviceGradientsTest : public testing::Test {
protected:
  static constexpr int64_t elements = 3;

  /// Opens a program with two parameters of the types `types`, and with kernels
  /// for the types `checked`.
  void open(std::array<int32_t, 2> types, const std::vector<int32_t> &checked) {
    static const int64_t shape[] = {elements};
    for (size_t s = 0; s < symbols.size(); ++s) {
      symbols[s] = {};
      symbols[s].element_type = types[s];
      symbols[s].rank = 1;
      symbols[s].shape = shape;
    }
    using enum DeviceArgument;
    kernels.clear();
    described.clear();
    for (const int32_t type : checked) {
      kernels.push_back(
          type == PDL_F32
              ? DeviceKernel{"pdldevice_check_finite_f32",
                             {Number, Read, Written},
                             run<float, pdldevice_check_finite_f32>}
              : DeviceKernel{"pdldevice_check_finite_f64",
                             {Number, Read, Written},
                             run<double, pdldevice_check_finite_f64>});
      described.push_back({kernels.back().name, 3, nullptr, nullptr});
    }
    descriptor.symbols = symbols.data();
    descriptor.symbol_count = int32_t(symbols.size());
    descriptor.device_kernels = described.data();
    descriptor.device_kernel_count = int32_t(described.size());
    program.updates = updates;
    program.update_count = 2;
    step.reset();
    input.reset();
    device = createFakeDevice();
    ASSERT_TRUE(device->load({"", kernels}).ok());
    step = std::make_unique<DeviceStep>(*device, descriptor, program, &rules);
    input = std::make_unique<DeviceInput>(*device, descriptor, program);
  }

  /// Runs a stage that produces these gradients of the two parameters.
  template <typename T, typename U>
  void compute(const std::array<T, elements> &first,
               const std::array<U, elements> &second) {
    std::array<void *, 2> memory = {};
    pdl_step_context context = {};
    context.gradients = memory.data();
    step->begin(context, *input);
    step->copyIn(step->pointerTo(PDL_PLACE_GRADIENT, 0), first.data(),
                 sizeof(first));
    step->copyIn(step->pointerTo(PDL_PLACE_GRADIENT, 1), second.data(),
                 sizeof(second));
    const Status status = step->wait(/*isLast=*/true);
    ASSERT_TRUE(status.ok()) << status.message();
  }

  std::array<pdl_symbol, 2> symbols;
  const pdl_update_descriptor updates[2] = {{0, -1, 0}, {1, -1, 0}};
  std::vector<DeviceKernel> kernels;
  std::vector<pdl_device_kernel> described;
  pdl_descriptor descriptor = {};
  pdl_program program = {};
  AllRules rules;
  std::unique_ptr<Device> device;
  std::unique_ptr<DeviceInput> input;
  std::unique_ptr<DeviceStep> step;
};

TEST_F(DeviceGradientsTest, AreFiniteOrNot) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::array<double, elements> good = {1, 2, 3}, bad = {1, 2, infinity};
  const std::array<float, elements> goodFloats = {1, 2, 3};
  // A program has no kernels of types that its gradients do not have.
  open({PDL_F64, PDL_F64}, {PDL_F64});
  ASSERT_TRUE(step->checksGradients());
  const Expected<void *> onHost = step->hostGradient(0, sizeof(good));
  ASSERT_TRUE(bool(onHost));
  EXPECT_EQ(*onHost, nullptr);
  compute(good, bad);
  EXPECT_TRUE(step->isGradientFinite(0));
  EXPECT_FALSE(step->isGradientFinite(1));
  compute(good, good);
  EXPECT_TRUE(step->isGradientFinite(1));
  open({PDL_F64, PDL_F32}, {PDL_F32, PDL_F64});
  ASSERT_TRUE(step->checksGradients());
  compute(bad, goodFloats);
  EXPECT_FALSE(step->isGradientFinite(0));
  EXPECT_TRUE(step->isGradientFinite(1));
}

TEST_F(DeviceGradientsTest, AreForTheHostWhereKernelsAreMissing) {
  for (const std::vector<int32_t> &checked :
       {std::vector<int32_t>{}, {PDL_F32}, {PDL_F64}}) {
    open({PDL_F64, PDL_F32}, checked);
    EXPECT_FALSE(step->checksGradients());
    for (const int32_t update : {0, 1}) {
      const Expected<void *> onHost =
          step->hostGradient(update, elements * sizeof(double));
      ASSERT_TRUE(bool(onHost));
      EXPECT_NE(*onHost, nullptr);
    }
  }
}

TEST_F(DeviceGradientsTest, HaveKernelsThatAreFoundByName) {
  open({PDL_F64, PDL_F32}, {PDL_F64, PDL_F32});
  described.push_back({"pdldevice_norm_lanes_f32", 5, nullptr, nullptr});
  descriptor.device_kernels = described.data();
  descriptor.device_kernel_count = int32_t(described.size());
  const GradientKernels found(descriptor);
  EXPECT_EQ(found.of(GradientKernel::CheckFinite, PDL_F64), 0u);
  EXPECT_EQ(found.of(GradientKernel::CheckFinite, PDL_F32), 1u);
  EXPECT_EQ(found.of(GradientKernel::NormLanes, PDL_F32), 2u);
  EXPECT_FALSE(found.has(GradientKernel::NormLanes, PDL_F64));
  EXPECT_FALSE(found.has(GradientKernel::Add, PDL_F32));
}

} // namespace
