//===- GradientKernels.h - Kernels for gradients ----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ABI_GRADIENTKERNELS_H
#define PDLRT_ABI_GRADIENTKERNELS_H

#include "pdlabi/abi/descriptor.h"
#include "pdlabi/kernels.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace pdlrt {

/// Indices of the kernels for gradients (pdlabi::GradientKernel) in a compiled
/// program for a device, by element type.
class GradientKernels {
public:
  /// Finds the kernels by name.
  explicit GradientKernels(const pdl_descriptor &descriptor);

  /// Returns true if the program has the kernel for this element type.
  bool has(pdlabi::GradientKernel kernel, int32_t elementType) const {
    return numbers[elementType][size_t(kernel)] >= 0;
  }
  /// Returns the kernel's index; the program must have the kernel.
  size_t of(pdlabi::GradientKernel kernel, int32_t elementType) const {
    return size_t(numbers[elementType][size_t(kernel)]);
  }

private:
  using Numbers = std::array<int32_t, std::size(pdlabi::gradientKernels)>;
  /// Indexed by element type and kernel; -1: none.
  std::array<Numbers, 2> numbers;
};

} // namespace pdlrt

#endif // PDLRT_ABI_GRADIENTKERNELS_H
