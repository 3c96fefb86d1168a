//===- ModelMetrics.cpp - Registered metrics of a model's tables ----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/State/ModelMetrics.h"

using namespace pdlrt;

namespace {

/// Metric families of tables.
struct TableFamilies {
  const CounterFamily evicted{
      {.name = "pdl_evicted_rows_total",
       .unit = "rows",
       .help = "Rows that the bound of tables evicted, or spilled to disk"}};
  const GaugeFamily rows{
      {.name = "pdl_table_rows",
       .unit = "rows",
       .help = "Rows of a table at the last checkpoint or report",
       .labels = {"table"}}};
  const GaugeFamily bytes{
      {.name = "pdl_table_bytes",
       .unit = "bytes",
       .help = "Memory of a table at the last checkpoint or report",
       .labels = {"table"}}};
};

} // namespace

/// Returns the metric families. They are declared by the first call, not by a
/// static initializer: `main` must check the CPU before other code runs.
static const TableFamilies &tableFamilies() {
  return processMetrics<TableFamilies>();
}

void pdlrt::declareModelMetrics() { tableFamilies(); }

Counter pdlrt::addEvictedRows() { return tableFamilies().evicted.add(); }

TableMetrics::TableMetrics(const std::string &table)
    : rows(tableFamilies().rows.add({table})),
      bytes(tableFamilies().bytes.add({table})) {}
