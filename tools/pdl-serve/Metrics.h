//===- Metrics.h - What Prometheus reads ------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLSERVE_METRICS_H
#define PDLSERVE_METRICS_H

#include "Outcome.h"
#include "pdl/serving.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <string>

namespace pdlserve {

enum class Protocol { Http, Grpc };

/// Those of one program of one version. They live as long as `Metrics`.
struct ProgramMetrics {
  std::string model, version, program;
  /// Requests that were answered, by protocol.
  prometheus::Counter *answered[2];
  /// From a request's arrival to its answer, by protocol.
  prometheus::Histogram *seconds[2];
  /// From arrival to the begin of its batch.
  prometheus::Histogram *waiting;
  prometheus::Histogram *batchSamples;
  prometheus::Histogram *runSeconds;
};

/// All numbers of the process. Threads may share it.
class Metrics {
public:
  Metrics();

  /// The same one for the same names.
  ProgramMetrics &ofProgram(const std::string &model,
                            const std::string &version,
                            const std::string &program);
  /// A request that ended otherwise than well. `metrics` is null where it names
  /// no program.
  void countFailure(const ProgramMetrics *metrics, Protocol protocol,
                    Code code);

  /// One look at the folder of a version.
  void countLoad(const std::string &model, const std::string &version, bool ok);
  /// What a version has; of the folder's watcher.
  struct Values {
    int64_t steps = -1, rows = 0, bytes = 0, loads = 0;
    /// What lies in the folder now could not be loaded.
    bool isBroken = false;
  };
  void setVersion(const std::string &model, const std::string &version,
                  const Values &values);
  void removeVersion(const std::string &model, const std::string &version);
  /// How a version has found more rows; `isConnected`: it asks servers.
  void countRows(const std::string &model, const std::string &version,
                 const pdl_serving_row_counts &more, bool isConnected);

  prometheus::Gauge &waitingSamples() { return *waitingNow; }
  prometheus::Gauge &connections(Protocol protocol);

  /// In Prometheus' text format.
  std::string text() const;

private:
  prometheus::Registry registry;
  prometheus::Family<prometheus::Counter> &requests, &loads, &ids, &foundRows,
      &rowRequests;
  prometheus::Family<prometheus::Histogram> &requestSeconds, &waitSeconds,
      &batchSamples, &runSeconds;
  prometheus::Family<prometheus::Gauge> &steps, &rows, &bytes, &valuesVersion,
      &broken, &waitingFamily, &connectionFamily;
  prometheus::Gauge *waitingNow, *connectionGauges[2];
  struct Programs;
  std::shared_ptr<Programs> programs;
};

} // namespace pdlserve

#endif // PDLSERVE_METRICS_H
