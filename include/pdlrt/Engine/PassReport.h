//===- PassReport.h - Losses and metrics of a pass over data ----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ENGINE_PASSREPORT_H
#define PDLRT_ENGINE_PASSREPORT_H

#include "pdlabi/metrics.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Engine/StepEngine.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace pdlrt {

/// Losses and metrics of one pass (an epoch or an evaluation). In training,
/// losses cover the whole job.
struct PassReport {
  int64_t samples = 0;
  int64_t steps = 0;
  int64_t skippedUpdates = 0;
  double seconds = 0;
  double lossSum = 0;
  double weightSum = 0;
  /// Bad rows of the epoch or test, over all processes.
  int64_t badRows = 0;
  struct Metric {
    double value;
    /// Why the value is NaN. Empty if there is a value, or if nothing was
    /// observed.
    std::string undefined;
    /// Text printed after the value; may be empty.
    std::string remark = {};
  };
  /// Indexed by descriptor metric.
  std::vector<Metric> metrics;

  void add(const StepResult &step);
  /// Returns NaN if the weights sum to zero.
  double meanLoss() const;
};

/// Computes all sums of a metric of groups except the first, from all samples
/// in `parts`. Returns an out-of-memory error if there is too little memory to
/// sort them.
Status sumGroups(const pdl_metric &metric,
                 std::span<const pdlabi::GroupedSamples *const> parts,
                 double *sums);

/// Returns the value of the first AUC metric, summed over the replicas of this
/// process; NaN if there is none.
double firstAuc(const pdl_descriptor &descriptor, const ReplicaSet &replicas);

/// Warns of numbers outside of [0, 1]: labels of cross entropies, and
/// predictions of metrics that expect probabilities. Warns once for each
/// metric, with the current count.
class RangeWarnings {
public:
  /// `descriptor` must outlive the object.
  explicit RangeWarnings(const pdl_descriptor &descriptor);

  /// Checks the sums of one metric.
  void check(int32_t index, std::span<const double> sums);
  /// Checks all metrics of this process. No step may run concurrently.
  void check(const ReplicaSet &replicas);

private:
  const pdl_descriptor &descriptor;
  /// Indexed by descriptor metric.
  std::vector<bool> warned;
};

/// Returns, in a few words, why the metric with these sums has no value.
/// Returns "" if it has one, or if nothing with nonzero weight was observed.
std::string whyUndefined(const pdl_metric &metric,
                         std::span<const double> sums);

/// Returns lines such as "test loss 0.312345" and "test AUC 0.9155 (@auc)".
/// Each line has `label`, the title and the metric's name. If a metric has no
/// value, the line has the reason: "test AUC undefined: no negative labels of
/// any weight (@auc)". Metrics that observed nothing are left out; if this
/// applies to all of them, a line says so.
std::vector<std::string> reportLines(const std::string &label,
                                     const pdl_descriptor &descriptor,
                                     bool hasLoss, const PassReport &report);

} // namespace pdlrt

#endif // PDLRT_ENGINE_PASSREPORT_H
