//===- EventContents.cpp - Curves and histograms of event files -----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/EventContents.h"

#include "pdlabi/names.h"
#include "pdlrt/Abi/Descriptor.h"

#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

using namespace pdlrt;

/// Returns `count` elements as doubles.
static std::vector<double> elementsAt(const void *elements, int32_t type,
                                      size_t count) {
  if (type == PDL_F64) {
    const std::span all(static_cast<const double *>(elements), count);
    return {all.begin(), all.end()};
  }
  const std::span all(static_cast<const float *>(elements), count);
  return {all.begin(), all.end()};
}

/// Returns the norms of some rows of a table.
static std::vector<double> normsOfRows(const EmbeddingTable &table) {
  constexpr size_t enough = 100'000;
  const TableOptions &options = table.options();
  std::vector<double> norms;
  std::vector<std::byte> elements(table.elementBytes());
  for (int shard = 0;
       shard < EmbeddingTable::shardCount && norms.size() < enough; ++shard) {
    RowList rows;
    table.collectShard(shard, rows);
    for (const TableRow &row : rows) {
      table.frozenElements(row.row, elements.data());
      double sum = 0;
      for (const double each : elementsAt(elements.data(), options.elementType,
                                          size_t(options.width)))
        sum += each * each;
      norms.push_back(std::sqrt(sum));
    }
  }
  return norms;
}

Status pdlrt::addHistograms(const Model &model, EventSummary &summary) {
  PDLRT_RETURN_IF_ERROR(model.bringToHost());
  const pdl_descriptor &descriptor = model.descriptor();
  for (int32_t i = 0; i < descriptor.symbol_count; ++i) {
    const pdl_symbol &symbol = descriptor.symbols[i];
    if (symbol.kind == PDL_SYMBOL_PARAMETER) {
      const std::string tag = std::string("parameters/") + symbol.name;
      const void *const elements = model.parameters(/*frozen=*/true)[i];
      const size_t count = size_t(symbol.row_count * symbol.row_width);
      // A parameter may be large, so its elements are not copied.
      if (symbol.element_type == PDL_F64)
        summary.addHistogram(
            tag, std::span(static_cast<const double *>(elements), count));
      else
        summary.addHistogram(
            tag, std::span(static_cast<const float *>(elements), count));
    } else if (const EmbeddingTable *table = model.table(i)) {
      const std::vector<double> norms = normsOfRows(*table);
      summary.addHistogram(std::string("embedding_norms/") + symbol.name,
                           std::span<const double>(norms));
    }
  }
  return {};
}

void pdlrt::addCurves(const pdl_descriptor &descriptor,
                      const PassReport &tested, EventSummary &summary) {
  for (size_t i = 0; i < tested.metrics.size(); ++i) {
    const PassReport::Metric &metric = tested.metrics[i];
    const char *const name = descriptor.metrics[i].name;
    if (pdlabi::isMetricOfModel(name) && !metric.buckets.empty() &&
        std::isfinite(metric.value))
      summary.addPrecisionRecall(std::string("test/precision_recall/") + name,
                                 metric.buckets);
  }
}
