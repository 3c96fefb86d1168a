//===- names.h - Names shared by compiler and runtime -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names that the compiler writes into the descriptor and the runtime looks up
// there.
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_NAMES_H
#define PDLABI_NAMES_H

#include <string_view>

namespace pdlabi {

/// The scalar of a group (`pdl_scalar`) with the learning rate of the step,
/// after schedule and number of senders. Every group with a schedule has it,
/// and every group whose rule uses the learning rate unchanged.
inline constexpr char rateScalarName[] = "rate";

/// Metric that counts samples with a label outside of [0, 1], for losses that
/// require labels in that range (see WatchLabels.h). Not shown in reports.
inline constexpr char labelRangeName[] = "labels.range";

/// Returns true for a metric of the model, false for one that the compiler
/// added.
inline bool isMetricOfModel(std::string_view name) {
  return name != labelRangeName;
}

} // namespace pdlabi

#endif // PDLABI_NAMES_H
