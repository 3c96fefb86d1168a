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

/// Controls whether dense gradients are sent while the step still computes
/// others (`--overlap`). Auto tries both ways and chooses the faster one.
/// Results are bitwise equal in all cases.
enum class Overlap { Auto, On, Off };

/// Options of the overlap.
struct OverlapOptions {
  Overlap overlap = Overlap::Auto;
  /// True if gradients are quantized. Then none is sent early, because all
  /// gradients of a step must be complete before they are quantized.
  bool arePacked = false;
  /// Size in bytes at which a part for one owner is complete and is sent.
  int64_t partBytes = int64_t(256) << 10;
};

/// Measurements of steps, as medians over the steps. Times are in seconds. See
/// docs/Modes.md.
struct OverlapMeasures {
  /// Number of parts that were sent before the end of a step's computation, and
  /// their size in bytes.
  int64_t parts = 0, bytes = 0;
  /// Time from sending the first part until the end of the step's computation.
  double window = 0;
  /// Time during which parts were in flight, also after the end of the
  /// computation.
  double travel = 0;
  /// Time that the threads that compute have spent on sending parts.
  double handing = 0;
  /// Time from the start of the computation until all owners had responded: in
  /// steps with early gradients, and in steps without.
  double with = 0, without = 0;
  /// Estimated standard error of `with` - `without`.
  double noise = 0;
};

struct OverlapDecision {
  bool isOn = false;
  /// Reason of the decision, for the user, with the measurements.
  std::string why;
};

/// Decides whether gradients are sent early. Two times must exceed 1 % of a
/// step: the time of sending that overlaps with the computation, and the
/// measured gain per step. The gain must also be statistically significant.
OverlapDecision decideOverlap(const OverlapMeasures &measures);

/// Runs some steps with early gradients and some without, and then decides. Not
/// thread-safe.
class OverlapTrial {
public:
  /// Returns true if step `number` sends gradients early during the trial. All
  /// trainers must use the same number for a step: a step lasts until the
  /// slowest trainer is done, so all must send early in the same steps. Two
  /// steps with early gradients alternate with two steps without, so that each
  /// kind uses both of the alternating batch contexts.
  bool tries(uint64_t number) const {
    return steps >= warmUpSteps && (number + 1) % 4 >= 2;
  }
  /// Records the measurements of a step. If the step has sent gradients early
  /// (`tried`), `measures` has all members except `without` and `noise`;
  /// otherwise only `without`. Do not call for steps without gradients.
  void note(bool tried, const OverlapMeasures &measures);
  const std::optional<OverlapDecision> &decision() const { return decided; }

private:
  /// Number of first steps that are not measured, because memory and
  /// connections are cold.
  static constexpr int warmUpSteps = 2;
  static constexpr int stepsEachWay = 8;

  int steps = 0;
  std::vector<OverlapMeasures> with;
  std::vector<double> without;
  std::optional<OverlapDecision> decided;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_OVERLAP_H
