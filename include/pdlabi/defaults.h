//===- defaults.h - Defaults that both halves assume ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a trainer does unless a flag says otherwise, where the compiler's
// reports must assume the same.
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_DEFAULTS_H
#define PDLABI_DEFAULTS_H

#include <cstdint>

namespace pdlabi {

/// Samples of one batch of one replica: a trainer's --batch-size, and what
/// ps-report computes with.
inline constexpr int64_t defaultBatchSize = 256;

/// Mode geo: steps from one exchange to the next.
inline constexpr int64_t defaultGeoSteps = 100;

} // namespace pdlabi

#endif // PDLABI_DEFAULTS_H
