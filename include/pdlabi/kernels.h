//===- pdlabi/kernels.h - Kernels launched by the runtime -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels of the device library (pdlabi/device.h) that no stage launches. The
// compiler adds them to programs, and the runtime finds them there by name.
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_KERNELS_H
#define PDLABI_KERNELS_H

#include <string>

namespace pdlabi {

/// A kernel of the device library.
struct KernelSignature {
  /// Name without the prefix `pdldevice_` and, if typed, without the element
  /// type.
  const char *name;
  bool isTyped;
  /// One letter per argument: a number (n), or the address of memory that the
  /// kernel reads (r) or writes (w).
  const char *arguments;
};

/// Returns the full name of the kernel for f64 or f32.
inline std::string kernelName(const KernelSignature &kernel, bool isF64) {
  std::string name = std::string("pdldevice_") + kernel.name;
  if (kernel.isTyped)
    name += isF64 ? "_f64" : "_f32";
  return name;
}

/// Operations on gradients outside of the stages.
enum class GradientKernel { CheckFinite, Add, NormLanes };

/// The kernels, indexed by GradientKernel.
inline constexpr KernelSignature gradientKernels[] = {
    {"check_finite", true, "nrw"},
    {"add", true, "nrw"},
    {"norm_lanes", true, "nnnrw"},
};

} // namespace pdlabi

#endif // PDLABI_KERNELS_H
