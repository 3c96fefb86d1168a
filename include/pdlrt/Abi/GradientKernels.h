//===- GradientKernels.h - What adds and tests gradients --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ABI_GRADIENTKERNELS_H
#define PDLRT_ABI_GRADIENTKERNELS_H

#include "pdlabi/abi.h"
#include "pdlabi/kernels.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace pdlrt {

/// The numbers of the kernels of gradients in a compiled program, which has
/// those of the element types that its gradients have.
class GradientKernels {
public:
  /// Looks them up by their names.
  explicit GradientKernels(const pdl_descriptor &descriptor);

  /// Whether the program has it of that element type.
  bool has(pdlabi::GradientKernel kernel, int32_t elementType) const {
    return numbers[elementType][size_t(kernel)] >= 0;
  }
  /// Its number, where the program has it.
  size_t of(pdlabi::GradientKernel kernel, int32_t elementType) const {
    return size_t(numbers[elementType][size_t(kernel)]);
  }

private:
  using Numbers = std::array<int32_t, std::size(pdlabi::gradientKernels)>;
  /// By element type and kernel; -1: none.
  std::array<Numbers, 2> numbers;
};

} // namespace pdlrt

#endif // PDLRT_ABI_GRADIENTKERNELS_H
