//===- RateWatch.cpp - Learning rates that train nothing ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/State/RateWatch.h"

#include "pdlabi/names.h"
#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Core/Log.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <fmt/format.h>

using namespace pdlrt;

/// Share of the largest rate. Smaller rates have hardly any effect on training.
static constexpr double smallShare = 1e-4;

RateWatch::RateWatch(const pdl_descriptor &descriptor)
    : descriptor(descriptor), groups(descriptor.group_count) {}

std::optional<double> pdlrt::learningRate(const pdl_group &group,
                                          const pdl_once_arguments &arguments,
                                          AlignedBuffer &scratch) {
  const size_t size = elementSize(group.element_type);
  const auto *written = static_cast<const std::byte *>(
      scratch.reserve(group.scalar_count * size));
  group.once(&arguments, scratch.data());
  for (int32_t s = 0; s < group.scalar_count; ++s) {
    if (std::strcmp(group.scalars[s].name, pdlabi::rateScalarName) != 0)
      continue;
    float narrow = 0;
    double wide = 0;
    if (group.element_type == PDL_F32)
      std::memcpy(&narrow, written + s * size, size);
    else
      std::memcpy(&wide, written + s * size, size);
    return group.element_type == PDL_F32 ? double(narrow) : wide;
  }
  return std::nullopt;
}

/// Returns the rate at another step.
double RateWatch::rateAt(int32_t group, pdl_once_arguments arguments,
                         double step) {
  arguments.step = step;
  return learningRate(descriptor.groups[group], arguments, scratch).value_or(0);
}

void RateWatch::check(int32_t group, const pdl_once_arguments &arguments,
                      double rate) {
  Watched &watched = groups[group];
  if (watched.isWarned)
    return;
  const double step = arguments.step;
  // Earlier runs may have used larger rates, so compute some of them.
  if (watched.largestRate < 0) {
    constexpr int samples = 64;
    for (int i = 0; i < samples && step > 1; ++i) {
      const double then =
          rateAt(group, arguments, std::floor(1 + (step - 1) * i / samples));
      if (std::isfinite(then))
        watched.largestRate = std::max(watched.largestRate, then);
    }
  }
  watched.largestRate = std::max(watched.largestRate, rate);
  const char *const name = descriptor.groups[group].name;
  const char *const remedy =
      "or begin it anew: --init-from FILE --init-values-only takes values "
      "without step counts";
  // Logged only once, because each worker that updates the model calls this.
  if (rate == 0) {
    watched.isWarned = true;
    logWarningOnce(fmt::format(
        "group @{}: the learning rate is 0, so updates do not change its "
        "values. If its schedule is over, give it more steps or a floor above "
        "0, {}",
        name, remedy));
    return;
  }
  if (rate >= smallShare * watched.largestRate ||
      rateAt(group, arguments, step + 1) != rate ||
      rateAt(group, arguments, 2 * step + 1000) != rate)
    return;
  watched.isWarned = true;
  logWarningOnce(fmt::format(
      "group @{}: the learning rate is {:.3g} from here on, after {:.3g} "
      "before, so updates hardly change its values. If its schedule is over, "
      "give it more steps or a higher end, {}",
      name, rate, watched.largestRate, remedy));
}
