//===- defaults.h - Defaults of compiler and runtime ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Defaults of trainer flags that the compiler's reports also assume.
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_DEFAULTS_H
#define PDLABI_DEFAULTS_H

#include <cstdint>

namespace pdlabi {

/// Samples per batch of a replica: default of a trainer's --batch-size, and the
/// batch size that ps-report assumes.
inline constexpr int64_t defaultBatchSize = 256;

/// Mode geo: number of steps between two exchanges.
inline constexpr int64_t defaultGeoSteps = 100;

} // namespace pdlabi

#endif // PDLABI_DEFAULTS_H
