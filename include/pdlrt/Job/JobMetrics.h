//===- JobMetrics.h - Metrics that all programs of jobs have ----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_JOB_JOBMETRICS_H
#define PDLRT_JOB_JOBMETRICS_H

namespace pdlrt {

/// Declares the metrics of the process, tables, checkpoints, sessions, servers
/// and object stores, so that they appear in lists of metrics from the start.
/// Trainers declare the metrics of servers too, because in some modes they own
/// state.
void declareJobMetrics();

} // namespace pdlrt

#endif // PDLRT_JOB_JOBMETRICS_H
