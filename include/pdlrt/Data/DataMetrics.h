//===- DataMetrics.h - Registered metrics of reading data -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_DATA_DATAMETRICS_H
#define PDLRT_DATA_DATAMETRICS_H

namespace pdlrt {

/// Counts a row that could not be parsed. Thread-safe.
void countBadRow();

/// Declares the metrics of reading data, so that they appear in lists of
/// metrics before a row is counted.
void declareDataMetrics();

} // namespace pdlrt

#endif // PDLRT_DATA_DATAMETRICS_H
