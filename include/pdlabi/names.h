//===- names.h - Names shared by compiler and runtime -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names in descriptors that the compiler writes and that the runtime looks up.
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_NAMES_H
#define PDLABI_NAMES_H

#include <string_view>

namespace pdlabi {

/// Name of the scalar of a group (`pdl_scalar`) that is the learning rate of
/// the step: after the schedule, and after a division by the number of senders.
/// Every group with a schedule has this scalar, and every group whose rule uses
/// the learning rate unchanged.
inline constexpr char rateScalarName[] = "rate";

/// Name of a metric that the compiler adds for losses which require labels in
/// [0, 1]: it counts samples with a label outside of this range
/// (WatchLabels.h). Reports do not show it.
inline constexpr char labelRangeName[] = "labels.range";

/// Returns true if the metric `name` is from the model, and false if the
/// compiler has added it.
inline bool isMetricOfModel(std::string_view name) {
  return name != labelRangeName;
}

} // namespace pdlabi

#endif // PDLABI_NAMES_H
