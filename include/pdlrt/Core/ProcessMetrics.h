//===- ProcessMetrics.h - Metrics of the process ----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_PROCESSMETRICS_H
#define PDLRT_CORE_PROCESSMETRICS_H

#include "pdlrt/Core/MetricRegistry.h"

#include <string>

namespace pdlrt {

/// Sets the metrics of memory, CPU time and open files of this process, which
/// have the names that all client libraries of Prometheus use. An exporter
/// calls this before it reads the registry. Thread-safe.
void updateProcessMetrics();

/// Declares the metrics, so that they appear in lists of metrics.
void declareProcessMetrics();

/// Adds the metric `pdl_build_info` with the properties of this program.
/// `role`: such as "trainer". `rank`: the number of the process among those of
/// its role. `mode`: the mode of training. The metric exists until the result
/// is destroyed.
Gauge addBuildInfo(const std::string &model, const std::string &mode,
                   const std::string &rank, const std::string &role);

} // namespace pdlrt

#endif // PDLRT_CORE_PROCESSMETRICS_H
