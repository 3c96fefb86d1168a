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

/// Losses and metrics of one pass: of an epoch or an evaluation. In training,
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
    /// The reason why the metric has no value: why it is NaN. Empty if it has a
    /// value, or if it has observed nothing.
    std::string undefined;
    /// Text printed after the value; may be empty.
    std::string remark = {};
    /// Sums of an AUC metric over the job (AreaUnderCurve.h), from which other
    /// curves can be computed. Empty for other metrics.
    std::vector<double> buckets = {};
  };
  /// Indexed by metric of the descriptor.
  std::vector<Metric> metrics;

  void add(const StepResult &step);
  /// Returns the mean loss, or NaN if the sum of weights is zero.
  double meanLoss() const;
};

/// Computes all sums of a grouped metric except the first, from all samples in
/// `parts`. Returns PDL_OUT_OF_MEMORY if memory does not suffice to sort the
/// samples.
Status sumGroups(const pdl_metric &metric,
                 std::span<const pdlabi::GroupedSamples *const> parts,
                 double *sums);

/// Returns the value of the first AUC metric over all replicas of this process;
/// NaN if the program has no AUC metric.
double firstAuc(const pdl_descriptor &descriptor, const ReplicaSet &replicas);

/// Warns if labels of cross entropies, or predictions of metrics that expect
/// probabilities, are outside of [0, 1]. Logs one warning per metric, with the
/// number of such samples so far.
class RangeWarnings {
public:
  /// `descriptor` must outlive the object.
  explicit RangeWarnings(const pdl_descriptor &descriptor);

  /// Checks the sums of the metric with index `index` in the descriptor.
  void check(int32_t index, std::span<const double> sums);
  /// Checks all metrics of this process. No step may run concurrently.
  void check(const ReplicaSet &replicas);

private:
  const pdl_descriptor &descriptor;
  /// Indexed by metric of the descriptor.
  std::vector<bool> warned;
};

/// Returns, in a few words, why a metric with the sums `sums` has no value.
/// Returns an empty text if it has a value, or if it has observed nothing with
/// a nonzero weight.
std::string whyUndefined(const pdl_metric &metric,
                         std::span<const double> sums);

/// Returns lines such as "test loss 0.312345" and "test AUC 0.9155 (@auc)". A
/// line has `label`, the title of the kind of metric, and the metric's name. If
/// a metric has no value, the line has the reason: "test AUC undefined: no
/// negative labels of any weight (@auc)". Metrics that have observed nothing
/// are left out. If no line would remain although the program has metrics, one
/// line says so.
std::vector<std::string> reportLines(const std::string &label,
                                     const pdl_descriptor &descriptor,
                                     bool hasLoss, const PassReport &report);

} // namespace pdlrt

#endif // PDLRT_ENGINE_PASSREPORT_H
