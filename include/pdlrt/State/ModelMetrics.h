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

/// Adds the counter of rows that a model's bound evicts or spills.
Counter addEvictedRows();

/// Size of one table, as metrics of the process.
struct TableMetrics {
  explicit TableMetrics(const std::string &table);

  Gauge rows, bytes;
};

/// Declares the metrics of tables, also if nothing is counted.
void declareModelMetrics();

} // namespace pdlrt

#endif // PDLRT_STATE_MODELMETRICS_H
