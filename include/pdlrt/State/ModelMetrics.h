//===- ModelMetrics.h - Registered metrics of a model's tables --*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_STATE_MODELMETRICS_H
#define PDLRT_STATE_MODELMETRICS_H

#include "pdlrt/Core/MetricRegistry.h"

#include <string>

namespace pdlrt {

/// Adds a counter of the rows that a model evicts or spills because of its
/// memory limit.
Counter addEvictedRows();

/// Metrics of the process with the size of one table.
struct TableMetrics {
  explicit TableMetrics(const std::string &table);

  Gauge rows, bytes;
};

/// Declares the metrics of tables, so that they appear in lists of metrics from
/// the start.
void declareModelMetrics();

} // namespace pdlrt

#endif // PDLRT_STATE_MODELMETRICS_H
