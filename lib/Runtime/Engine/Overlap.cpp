//===- Overlap.cpp - Whether gradients leave early ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Engine/Overlap.h"

#include <algorithm>
#include <fmt/format.h>

using namespace pdlrt;

/// Less of a step is no gain that can be told from chance.
static constexpr double leastGain = 0.01;

static std::string inMilliseconds(double seconds) {
  return fmt::format("{:.3f} ms", 1000 * seconds);
}

OverlapDecision pdlrt::decideOverlap(const OverlapMeasures &measures) {
  if (measures.parts == 0)
    return {false, "no dense gradients fill a part"};
  const double hidden =
      std::min(measures.travel, measures.window) - measures.handing;
  const std::string what = fmt::format(
      "{} bytes in {} parts travel for {}, of which {} fit beside computing at "
      "the price of {}",
      measures.bytes, measures.parts, inMilliseconds(measures.travel),
      inMilliseconds(std::min(measures.travel, measures.window)),
      inMilliseconds(measures.handing));
  const std::string both = fmt::format("a step takes {} with it, {} without",
                                       inMilliseconds(measures.with),
                                       inMilliseconds(measures.without));
  const double least = leastGain * measures.without;
  const bool isOn = hidden > least && measures.without - measures.with > least;
  return {isOn, what + "; " + both};
}

template <typename Number, typename Of>
static Number medianOf(const std::vector<OverlapMeasures> &all, Of of) {
  std::vector<Number> numbers;
  for (const OverlapMeasures &each : all)
    numbers.push_back(of(each));
  std::ranges::sort(numbers);
  return numbers.empty() ? Number() : numbers[numbers.size() / 2];
}

void OverlapTrial::note(const OverlapMeasures &measures) {
  const bool tried = triesNext();
  if (decided || steps++ < warmUpSteps)
    return;
  if (tried)
    with.push_back(measures);
  else
    without.push_back(measures.without);
  if (with.size() < stepsEachWay || without.size() < stepsEachWay)
    return;
  std::ranges::sort(without);
  OverlapMeasures median;
  const auto seconds = [&](double OverlapMeasures::*member) {
    return medianOf<double>(
        with, [&](const OverlapMeasures &each) { return each.*member; });
  };
  const auto number = [&](int64_t OverlapMeasures::*member) {
    return medianOf<int64_t>(
        with, [&](const OverlapMeasures &each) { return each.*member; });
  };
  median.parts = number(&OverlapMeasures::parts);
  median.bytes = number(&OverlapMeasures::bytes);
  median.window = seconds(&OverlapMeasures::window);
  median.travel = seconds(&OverlapMeasures::travel);
  median.handing = seconds(&OverlapMeasures::handing);
  median.with = seconds(&OverlapMeasures::with);
  median.without = without[without.size() / 2];
  decided = decideOverlap(median);
}
