//===- pdlabi/kernels.h - What the runtime launches by itself ---*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels of the device library (pdlabi/device.h) that no stage launches: the
// compiler puts them into programs, and the runtime looks them up there.
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_KERNELS_H
#define PDLABI_KERNELS_H

#include <string>

namespace pdlabi {

/// A kernel of the device library.
struct KernelSignature {
  /// Behind `pdldevice_`; of typed ones, the element type follows.
  const char *name;
  bool isTyped;
  /// What it does with each argument: takes a number (n), or the address of
  /// memory that it reads (r), or also writes (w).
  const char *arguments;
};

/// What programs call it, where that is of f64, or else of f32.
inline std::string kernelName(const KernelSignature &kernel, bool isF64) {
  std::string name = std::string("pdldevice_") + kernel.name;
  if (kernel.isTyped)
    name += isF64 ? "_f64" : "_f32";
  return name;
}

/// What is done with gradients beside a stage.
enum class GradientKernel { CheckFinite, Add, NormLanes };

/// All of them, by GradientKernel.
inline constexpr KernelSignature gradientKernels[] = {
    {"check_finite", true, "nrw"},
    {"add", true, "nrw"},
    {"norm_lanes", true, "nnnrw"},
};

} // namespace pdlabi

#endif // PDLABI_KERNELS_H
