//===- Overlap.h - Decides when gradients are sent --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ENGINE_OVERLAP_H
#define PDLRT_ENGINE_OVERLAP_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pdlrt {

/// Controls whether dense gradients are sent while earlier layers still compute
/// (`--overlap`). Results are bitwise equal either way.
enum class Overlap { Auto, On, Off };

/// Options of the overlap.
struct OverlapOptions {
  Overlap overlap = Overlap::Auto;
  /// If gradients are quantized, all of them must be complete before sending,
  /// so none is sent early.
  bool arePacked = false;
  /// A part is closed when it has this many bytes for one owner.
  int64_t partBytes = int64_t(256) << 10;
};

/// Measurements of steps: medians, in seconds. See docs/Modes.md.
struct OverlapMeasures {
  /// Parts that were sent before a step was computed, and their bytes.
  int64_t parts = 0, bytes = 0;
  /// Time from sending the first part until the step was computed.
  double window = 0;
  /// Time during which parts were in flight, whether or not the step still
  /// computed.
  double travel = 0;
  /// Time that computing threads spent handing over parts.
  double handing = 0;
  /// Time from the start of computing until all owners had responded, of steps
  /// with and without early gradients.
  double with = 0, without = 0;
  /// Standard error of the difference of the last two, from the variation of
  /// the steps.
  double noise = 0;
};

struct OverlapDecision {
  bool isOn = false;
  /// Explanation for the user, with the numbers.
  std::string why;
};

/// Decides whether sending early is worthwhile. The time that could be hidden
/// and the time that was gained must both exceed 1 % of a step, and the latter
/// must be statistically significant.
OverlapDecision decideOverlap(const OverlapMeasures &measures);

/// Tries both ways for some steps each, and then decides. Not thread-safe.
class OverlapTrial {
public:
  /// Returns true if gradients are sent early in this step of the trial.
  /// `number` is the same at all trainers: they wait for the slowest one, so a
  /// trainer that tries alone would measure nothing. Two steps with early
  /// gradients alternate with two without, so that both use each of the two
  /// alternating batch contexts.
  bool tries(uint64_t number) const {
    return steps >= warmUpSteps && (number + 1) % 4 >= 2;
  }
  /// Records the measurements of a step. If early sending was `tried`,
  /// `measures` has all but `without` and `noise`; otherwise only `without`.
  /// Steps without gradients are not recorded.
  void note(bool tried, const OverlapMeasures &measures);
  const std::optional<OverlapDecision> &decision() const { return decided; }

private:
  /// The first steps run with cold memory and connections.
  static constexpr int warmUpSteps = 2;
  static constexpr int stepsEachWay = 8;

  int steps = 0;
  std::vector<OverlapMeasures> with;
  std::vector<double> without;
  std::optional<OverlapDecision> decided;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_OVERLAP_H
