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

#include <vector>

namespace pdlrt {

/// Warns once of each group whose schedule is over: its learning rate is 0, or
/// less than 1e-4 of its largest and stays as it is. Not thread-safe.
class RateWatch {
public:
  explicit RateWatch(const pdl_descriptor &descriptor);

  /// `rate`: what the group's `once` has made of `arguments`.
  void check(int32_t group, const pdl_once_arguments &arguments, double rate);

private:
  double rateAt(int32_t group, pdl_once_arguments arguments, double step);

  struct Watched {
    /// Largest rate of the updates so far; below 0: not known yet.
    double largestRate = -1;
    bool isWarned = false;
  };
  const pdl_descriptor &descriptor;
  std::vector<Watched> groups;
  AlignedBuffer scratch;
};

} // namespace pdlrt

#endif // PDLRT_STATE_RATEWATCH_H
