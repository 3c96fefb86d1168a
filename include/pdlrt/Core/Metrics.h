//===- Metrics.h - Metric accumulators and their values ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What becomes of the accumulators that `pdlrt_observe` fills. All functions
// are pure or write only what is named; none allocates.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_METRICS_H
#define PDLRT_CORE_METRICS_H

#include "pdlabi/abi.h"

namespace pdlrt {

/// Elements of `pdl_metric_data::counts` for `metric`; 0 if it has none.
int64_t metricCountSize(const pdl_metric &metric);

/// Elements of `pdl_metric_data::sums` for `metric`; 0 if it has none.
int64_t metricSumSize(const pdl_metric &metric);

/// Adds the accumulators of one replica to another's. Counts are exact; sums
/// are f64, so the caller adds in replica order.
void addMetric(const pdl_metric &metric, const pdl_metric_data &from,
               pdl_metric_data &into);

/// The area under the ROC curve of the histogram, `counts` as
/// `pdl_metric_data` lays them out: the share of (positive, negative) pairs
/// that stand in the right order, pairs within one bucket counting half. Exact
/// up to the final division. NaN where one of the classes is empty.
double aucOfHistogram(int64_t bucketCount, const int64_t *counts);

/// The metric's value: the AUC, the mean log loss, or clicks over predicted
/// clicks. NaN where nothing was observed (AUC: where a class is empty).
double metricValue(const pdl_metric &metric, const pdl_metric_data &data);

} // namespace pdlrt

#endif // PDLRT_CORE_METRICS_H
