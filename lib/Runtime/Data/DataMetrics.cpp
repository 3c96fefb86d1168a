//===- DataMetrics.cpp - Registered metrics of reading data ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Data/DataMetrics.h"

#include "Data/KafkaMetrics.h"
#include "pdlrt/Core/MetricRegistry.h"

using namespace pdlrt;

namespace {
struct BadRows {
  Counter counter =
      CounterFamily({.name = "pdl_data_bad_rows_total",
                     .unit = "rows",
                     .help = "Rows of data that could not be parsed. A row "
                             "that is read again, in another epoch or after a "
                             "restart, counts again"})
          .add();
};
} // namespace

void pdlrt::countBadRow() { ++processMetrics<BadRows>().counter; }

void pdlrt::declareDataMetrics() {
  processMetrics<BadRows>();
  declareKafkaMetrics();
}
