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

#include <atomic>
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

/// The metrics of one program of one version. They are removed with the last
/// version of that number.
struct ProgramMetrics {
  std::string model, version, program;
  /// Requests that were answered, by protocol.
  prometheus::Counter *answered[2] = {};
  /// From a request's arrival to its answer, by protocol.
  prometheus::Histogram *seconds[2] = {};
  /// From arrival to the begin of its batch.
  prometheus::Histogram *waiting = nullptr;
  prometheus::Histogram *batchSamples = nullptr;
  prometheus::Histogram *runSeconds = nullptr;
  /// Requests that failed, by protocol and code; null before the first one.
  std::atomic<prometheus::Counter *> failed[2][int(Code::Internal) + 1] = {};
};

/// All numbers of the process. Threads may share it.
class Metrics {
public:
  Metrics();

  /// The same one for the same names.
  std::shared_ptr<ProgramMetrics> ofProgram(const std::string &model,
                                            const std::string &version,
                                            const std::string &program);
  /// A request that ended otherwise than well. `metrics` is null where it names
  /// no program.
  void countFailure(ProgramMetrics *metrics, Protocol protocol, Code code);

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
  /// Sets the bytes of all requests in flight, and the most that they may be.
  void setMemory(uint64_t taken, uint64_t limit);
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
      &broken, &waitingFamily, &connectionFamily, &memoryFamily;
  prometheus::Gauge *waitingNow, *connectionGauges[2];
  struct Programs;
  std::shared_ptr<Programs> programs;

  void remove(ProgramMetrics &program);
};

} // namespace pdlserve

#endif // PDLSERVE_METRICS_H
