//===- defaults.h - Defaults of compiler and runtime ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Defaults of trainer flags. The reports of the compiler assume the same
// values.
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_DEFAULTS_H
#define PDLABI_DEFAULTS_H

#include <cstdint>

namespace pdlabi {

/// Number of samples in a batch of a replica: the default of --batch-size, and
/// the number that the pass ps-report assumes.
inline constexpr int64_t defaultBatchSize = 256;

/// Number of steps between two exchanges in mode geo.
inline constexpr int64_t defaultGeoSteps = 100;

} // namespace pdlabi

#endif // PDLABI_DEFAULTS_H
