//===- RateWatch.h - Learning rates that train nothing ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_STATE_RATEWATCH_H
#define PDLRT_STATE_RATEWATCH_H

#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Core/AlignedBuffer.h"

#include <optional>
#include <vector>

namespace pdlrt {

/// Returns the learning rate of a group's update, which its schedule computes
/// from `arguments`. Returns nullopt if its rule has no learning rate. The
/// buffer is scratch memory. Throws std::bad_alloc.
std::optional<double> learningRate(const pdl_group &group,
                                   const pdl_once_arguments &arguments,
                                   AlignedBuffer &scratch);

/// Logs a warning if updates of a group hardly change values any more, because
/// its schedule has ended. The learning rate is then 0, or it is less than 1e-4
/// of its largest value and stays the same. Warns once per group. Not
/// thread-safe.
class RateWatch {
public:
  explicit RateWatch(const pdl_descriptor &descriptor);

  /// Checks the learning rate `rate` of a group in an update. The group's
  /// function `once` has computed it from `arguments`.
  void check(int32_t group, const pdl_once_arguments &arguments, double rate);

private:
  double rateAt(int32_t group, pdl_once_arguments arguments, double step);

  struct Watched {
    /// Largest learning rate of all updates so far; negative: not known yet.
    double largestRate = -1;
    bool isWarned = false;
  };
  const pdl_descriptor &descriptor;
  std::vector<Watched> groups;
  AlignedBuffer scratch;
};

} // namespace pdlrt

#endif // PDLRT_STATE_RATEWATCH_H
