//===- Overlap.h - Whether gradients leave early ----------------*- C++ -*-===//
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

/// Whether dense gradients leave while earlier layers still compute
/// (`--overlap`). It changes no bit of a result.
enum class Overlap { Auto, On, Off };

/// And in which parts.
struct OverlapOptions {
  Overlap overlap = Overlap::Auto;
  /// Gradients travel packed, for which all of them must be there: none leaves
  /// early.
  bool arePacked = false;
  /// A part is closed when it has as many bytes for one owner.
  int64_t partBytes = int64_t(256) << 10;
};

/// What steps have shown, medians in seconds. See docs/Modes.md.
struct OverlapMeasures {
  /// Parts and their bytes that left before a step was computed.
  int64_t parts = 0, bytes = 0;
  /// From the first part's leaving until the step was computed.
  double window = 0;
  /// In which parts were on their way, whether or not the step still computed.
  double travel = 0;
  /// In which threads that compute handed parts over.
  double handing = 0;
  /// From the begin of computing until all owners had answered: of steps whose
  /// gradients left early, and of those whose did not.
  double with = 0, without = 0;
  /// By how much the last two may differ by chance: a standard error, of the
  /// spread of the steps.
  double noise = 0;
};

struct OverlapDecision {
  bool isOn = false;
  /// For the user, with the numbers.
  std::string why;
};

/// Whether it pays: what could be hidden, and what was gained, are both more
/// than a hundredth of a step, and the latter is no chance.
OverlapDecision decideOverlap(const OverlapMeasures &measures);

/// Tries some steps each way, and decides. Not thread-safe.
class OverlapTrial {
public:
  /// Whether gradients leave early in a step. `number`: the same at all
  /// trainers, because all wait for the slowest: who tries it alone sees
  /// nothing. Two go with, then two without, so that both meet each of the two
  /// contexts of batches that take turns.
  bool tries(uint64_t number) const {
    return steps >= warmUpSteps && (number + 1) % 4 >= 2;
  }
  /// How a step went; of one in which it was `tried`, `measures` has all but
  /// `without` and `noise`, else `without` alone. Steps without gradients are
  /// not told.
  void note(bool tried, const OverlapMeasures &measures);
  const std::optional<OverlapDecision> &decision() const { return decided; }

private:
  /// First steps meet cold memory and connections.
  static constexpr int warmUpSteps = 2;
  static constexpr int stepsEachWay = 8;

  int steps = 0;
  std::vector<OverlapMeasures> with;
  std::vector<double> without;
  std::optional<OverlapDecision> decided;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_OVERLAP_H
