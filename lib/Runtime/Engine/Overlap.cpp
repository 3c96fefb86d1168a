//===- Overlap.cpp - Decides when gradients are sent ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Engine/Overlap.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

using namespace pdlrt;

/// Minimum gain, as a fraction of a step.
static constexpr double minGain = 0.01;
/// Minimum gain, in standard errors.
static constexpr double minErrors = 2;

static std::string inMilliseconds(double seconds) {
  return fmt::format("{:.3f} ms", 1000 * seconds);
}

OverlapDecision pdlrt::decideOverlap(const OverlapMeasures &measures) {
  if (measures.parts == 0)
    return {false, "no dense gradients fill a part"};
  const double hidden =
      std::min(measures.travel, measures.window) - measures.handing;
  const std::string what = fmt::format(
      "{} bytes in {} parts travel for {}, of which {} fit into the time of "
      "computing at "
      "the price of {}",
      measures.bytes, measures.parts, inMilliseconds(measures.travel),
      inMilliseconds(std::min(measures.travel, measures.window)),
      inMilliseconds(measures.handing));
  const std::string both = fmt::format(
      "a step takes {} with it, {} without, by chance {} more or "
      "less",
      inMilliseconds(measures.with), inMilliseconds(measures.without),
      inMilliseconds(measures.noise));
  const double least = minGain * measures.without;
  const double gain = measures.without - measures.with;
  const bool isOn =
      hidden > least && gain > std::max(least, minErrors * measures.noise);
  return {isOn, what + "; " + both};
}

template <typename Number> static Number medianOf(std::vector<Number> numbers) {
  std::ranges::sort(numbers);
  return numbers.empty() ? Number() : numbers[numbers.size() / 2];
}

/// Returns an estimate of the standard error of the median. Computes it from
/// the median absolute deviation, for a normal distribution.
static double errorOf(const std::vector<double> &numbers) {
  const double median = medianOf(numbers);
  std::vector<double> distances;
  for (double number : numbers)
    distances.push_back(std::abs(number - median));
  constexpr double deviationOfMedian = 1.4826, errorOfMedian = 1.2533;
  return errorOfMedian * deviationOfMedian * medianOf(std::move(distances)) /
         std::sqrt(double(numbers.size()));
}

void OverlapTrial::note(bool tried, const OverlapMeasures &measures) {
  if (decided || steps++ < warmUpSteps)
    return;
  if (tried)
    with.push_back(measures);
  else
    without.push_back(measures.without);
  if (with.size() < stepsEachWay || without.size() < stepsEachWay)
    return;
  const auto all = [&]<typename Number>(Number OverlapMeasures::*member) {
    std::vector<Number> numbers;
    for (const OverlapMeasures &each : with)
      numbers.push_back(each.*member);
    return numbers;
  };
  const std::vector<double> early = all(&OverlapMeasures::with);
  // Not std::hypot, which would need glibc 2.35. The squares of these times do
  // not overflow.
  const double ofEarly = errorOf(early), ofWithout = errorOf(without);
  decided = decideOverlap({
      .parts = medianOf(all(&OverlapMeasures::parts)),
      .bytes = medianOf(all(&OverlapMeasures::bytes)),
      .window = medianOf(all(&OverlapMeasures::window)),
      .travel = medianOf(all(&OverlapMeasures::travel)),
      .handing = medianOf(all(&OverlapMeasures::handing)),
      .with = medianOf(early),
      .without = medianOf(without),
      .noise = std::sqrt(ofEarly * ofEarly + ofWithout * ofWithout),
  });
}
