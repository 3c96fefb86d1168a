//===- GradientKernels.cpp - Kernels for gradients ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Abi/GradientKernels.h"
#include "pdlabi/abi/codes.h"

#include <string>

using namespace pdlrt;

/// Returns the index of the kernel with this name, -1 if there is none.
static int32_t findKernel(const pdl_descriptor &descriptor,
                          const std::string &name) {
  for (int32_t i = 0; i < descriptor.device_kernel_count; ++i)
    if (name == descriptor.device_kernels[i].name)
      return i;
  return -1;
}

GradientKernels::GradientKernels(const pdl_descriptor &descriptor) {
  for (const int32_t type : {PDL_F32, PDL_F64})
    for (size_t k = 0; k < std::size(pdlabi::gradientKernels); ++k)
      numbers[type][k] =
          findKernel(descriptor, pdlabi::kernelName(pdlabi::gradientKernels[k],
                                                    type == PDL_F64));
}
