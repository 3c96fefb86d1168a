//===- Report.h - Figures of a pass over data -------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ENGINE_REPORT_H
#define PDLRT_ENGINE_REPORT_H

#include "pdlabi/metrics.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Engine/StepEngine.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace pdlrt {

/// Losses and metrics of one pass (an epoch, an evaluation). Losses are those
/// of the job in training.
struct Report {
  int64_t samples = 0;
  int64_t steps = 0;
  int64_t skippedUpdates = 0;
  double seconds = 0;
  double lossSum = 0;
  double weightSum = 0;
  /// Of the epoch or test, over all processes.
  int64_t badRows = 0;
  struct Metric {
    double value;
    /// Why it is NaN; empty where nothing was observed, or there is a value.
    std::string undefined;
    /// What belongs to the value; may be empty.
    std::string remark = {};
  };
  /// By descriptor metric.
  std::vector<Metric> metrics;

  void add(const StepResult &step);
  /// NaN if the weights sum to zero.
  double meanLoss() const;
};

/// Makes the sums of a metric of groups, but the first, of all samples in
/// `parts`; out of memory where they cannot be put in order.
Status sumGroups(const pdl_metric &metric,
                 std::span<const pdlabi::GroupedSamples *const> parts,
                 double *sums);

/// The value of the first AUC metric, summed over the replicas of this process;
/// NaN if there is none.
double firstAuc(const pdl_descriptor &descriptor, const ReplicaSet &replicas);

/// Warns of numbers outside of [0, 1]: labels of cross entropies, and
/// predictions of metrics that expect probabilities. Warns once for each
/// metric, with the count so far.
class RangeWarnings {
public:
  /// `descriptor` outlives it.
  explicit RangeWarnings(const pdl_descriptor &descriptor);

  /// Looks at the sums of one metric.
  void check(int32_t index, std::span<const double> sums);
  /// Looks at all metrics of this process. No step may run meanwhile.
  void check(const ReplicaSet &replicas);

private:
  const pdl_descriptor &descriptor;
  /// By descriptor metric.
  std::vector<bool> warned;
};

/// Why the metric of these sums has no value, in a few words; empty if it has
/// one, or nothing of any weight was observed.
std::string whyUndefined(const pdl_metric &metric,
                         std::span<const double> sums);

/// Lines such as "test loss 0.312345", "test AUC 0.9155 (@auc)", each of which
/// begins with `label` and what it is; a metric's name follows. One without a
/// value says why: "test AUC undefined: no negative labels of any weight
/// (@auc)". Those that observed nothing are left out; if all did, that is said.
std::vector<std::string> reportLines(const std::string &label,
                                     const pdl_descriptor &descriptor,
                                     bool hasLoss, const Report &report);

} // namespace pdlrt

#endif // PDLRT_ENGINE_REPORT_H
