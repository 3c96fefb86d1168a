//===- StoreMetrics.cpp - Registered metrics of object stores -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Files/StoreMetrics.h"

#include "Files/RequestMetrics.h"
#include "pdlrt/Core/MetricRegistry.h"

#include <array>
#include <cstddef>
#include <string>
#include <vector>

using namespace pdlrt;

static constexpr std::array<const char *, 5> requestNames = {
    "read", "list", "find", "write", "remove"};
static constexpr std::array<const char *, 3> outcomeNames = {"ok", "retried",
                                                             "failed"};

namespace {

/// The metric families of requests.
struct StoreFamilies {
  const CounterFamily requests{
      {.name = "pdl_store_requests_total",
       .unit = "requests",
       .help = "Attempts of requests to an object store. A request that is "
               "retried counts once for each attempt",
       .labels = {"outcome", "request"}}};
  const HistogramFamily seconds{
      {.name = "pdl_store_request_seconds",
       .unit = "seconds",
       .help = "Time of an attempt, without the pause after it",
       .labels = {"request"},
       .bounds = {0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30}}};
  const CounterFamily bytes{
      {.name = "pdl_store_bytes_total",
       .unit = "bytes",
       .help = "Bytes of content that successful requests have read from an "
               "object store or written to it",
       .labels = {"direction"}}};
};

/// The cells of this process.
struct StoreCells {
  StoreCells() {
    const StoreFamilies &families = processMetrics<StoreFamilies>();
    for (const char *request : requestNames) {
      for (const char *outcome : outcomeNames)
        requests.push_back(families.requests.add({outcome, request}));
      seconds.push_back(families.seconds.add({request}));
    }
    readBytes.push_back(families.bytes.add({"read"}));
    writtenBytes.push_back(families.bytes.add({"written"}));
  }

  /// Cells of each kind and outcome, and of each kind.
  std::vector<Counter> requests;
  std::vector<Histogram> seconds;
  /// One cell each.
  std::vector<Counter> readBytes, writtenBytes;
};

} // namespace

void pdlrt::declareStoreMetrics() { processMetrics<StoreFamilies>(); }

void pdlrt::countStoreRequest(StoreRequest kind, StoreOutcome outcome,
                              double seconds, int64_t readBytes,
                              int64_t writtenBytes) {
  auto &cells = processMetrics<StoreCells>();
  ++cells.requests[size_t(kind) * outcomeNames.size() + size_t(outcome)];
  cells.seconds[size_t(kind)].observe(seconds);
  if (outcome != StoreOutcome::Ok)
    return;
  cells.readBytes.front() += readBytes;
  cells.writtenBytes.front() += writtenBytes;
}
