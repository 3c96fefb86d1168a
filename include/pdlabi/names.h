//===- names.h - Names that both halves know --------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names in the descriptor that the compiler writes and the runtime looks for.
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_NAMES_H
#define PDLABI_NAMES_H

#include <string_view>

namespace pdlabi {

/// The scalar of a group (`pdl_scalar`) that is the learning rate of the step,
/// as schedule and pushers make it. Every group with a schedule has it, and so
/// has every group whose rule takes the rate as it is.
inline constexpr char rateScalarName[] = "rate";

/// The metric by which a training program counts labels of cross entropies that
/// lie outside of [0, 1]. Reports do not show it.
inline constexpr char labelRangeName[] = "labels.range";

/// Whether it is a metric of the model, and not one that the compiler added.
inline bool isMetricOfModel(std::string_view name) {
  return name != labelRangeName;
}

} // namespace pdlabi

#endif // PDLABI_NAMES_H
