//===- pdlabi/kernels.h - Kernels launched by the runtime -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels of the device library (pdlabi/device.h) that the runtime launches,
// not a stage. The compiler adds them to programs, and the runtime finds them
// there by name.
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_KERNELS_H
#define PDLABI_KERNELS_H

#include <string>

namespace pdlabi {

/// A kernel of the device library.
struct KernelSignature {
  /// Name without the prefix `pdldevice_` and without the suffix for the
  /// element type.
  const char *name;
  bool isTyped;
  /// One letter per argument: n for a number, r for the address of memory that
  /// the kernel reads, and w for the address of memory that it writes.
  const char *arguments;
};

/// Returns the full name of the kernel for f64 or f32.
inline std::string kernelName(const KernelSignature &kernel, bool isF64) {
  std::string name = std::string("pdldevice_") + kernel.name;
  if (kernel.isTyped)
    name += isF64 ? "_f64" : "_f32";
  return name;
}

/// Kernels for gradients that the runtime launches.
enum class GradientKernel { CheckFinite, Add, NormLanes };

/// Signatures of the kernels, by GradientKernel.
inline constexpr KernelSignature gradientKernels[] = {
    {"check_finite", true, "nrw"},
    {"add", true, "nrw"},
    {"norm_lanes", true, "nnnrw"},
};

} // namespace pdlabi

#endif // PDLABI_KERNELS_H
