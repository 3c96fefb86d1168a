//===- ServingMetrics.h - Prometheus metrics --------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_TOOLS_PDL_SERVE_SERVINGMETRICS_H
#define PDL_TOOLS_PDL_SERVE_SERVINGMETRICS_H

#include "Outcome.h"
#include "pdl/serving.h"
#include "pdlrt/Core/MetricRegistry.h"
#include "pdlrt/Core/Mutex.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace pdlserve {

enum class Protocol { Http, Grpc };

/// Counts failed requests by protocol and code. A counter is exported only
/// after its first failure. Thread-safe.
class FailureCounters {
public:
  /// `family` must outlive the object.
  explicit FailureCounters(const pdlrt::CounterFamily &family,
                           std::string model = {}, std::string version = {},
                           std::string program = {});
  void count(Protocol protocol, Code code);

private:
  const pdlrt::CounterFamily &family;
  const std::string model, version, program;
  pdlrt::Mutex mutex;
  std::array<std::array<std::optional<pdlrt::Counter>, int(Code::Internal) + 1>,
             2>
      counters PDLRT_GUARDED_BY(mutex);
};

struct ServingFamilies;

/// Metrics of one program in one version. They are exported as long as a
/// version with that number exists.
struct ProgramMetrics {
  ProgramMetrics(const ServingFamilies &families, const std::string &model,
                 const std::string &version, const std::string &program);

  /// Number of requests with successful responses, by protocol.
  std::array<pdlrt::Counter, 2> answered;
  /// Latency from the arrival of a request to its response, by protocol.
  std::array<pdlrt::Histogram, 2> seconds;
  /// Time from arrival to the start of the request's batch.
  pdlrt::Histogram waiting;
  pdlrt::Histogram batchSamples;
  pdlrt::Histogram runSeconds;
  FailureCounters failed;
};

/// The families of the server, in a registry of their own.
struct ServingFamilies {
  ServingFamilies();

  pdlrt::MetricRegistry registry;
  const pdlrt::CounterFamily requests, loads, ids, foundRows, rowRequests;
  const pdlrt::HistogramFamily requestSeconds, waitSeconds, batchSamples,
      runSeconds;
  const pdlrt::GaugeFamily steps, rows, bytes, valuesVersion, broken, waiting,
      connections, memory;
};

/// The metrics of the process. Requests to object stores are counted in the
/// registry of the runtime, all others in one of their own. Thread-safe.
class ServingMetrics {
public:
  ServingMetrics();
  ~ServingMetrics();

  /// Returns the metrics of a program. Calls with the same names return the
  /// same object.
  std::shared_ptr<ProgramMetrics> ofProgram(const std::string &model,
                                            const std::string &version,
                                            const std::string &program);
  /// Counts a failed request. `metrics` is null if the request names no known
  /// program.
  void countFailure(ProgramMetrics *metrics, Protocol protocol, Code code);

  /// Counts an attempt to load a version.
  void countLoad(const std::string &model, const std::string &version, bool ok);
  /// Properties of a version, set by the thread that watches the folder.
  struct Values {
    int64_t steps = -1, rows = 0, bytes = 0, loads = 0;
    /// True if the folder's current content could not be loaded.
    bool isBroken = false;
  };
  void setVersion(const std::string &model, const std::string &version,
                  const Values &values);
  void removeVersion(const std::string &model, const std::string &version);
  /// Adds to the counts of how a version has found rows. `isConnected`: the
  /// version requests rows from servers.
  void countRows(const std::string &model, const std::string &version,
                 const pdl_serving_row_counts &more, bool isConnected);

  pdlrt::Gauge &waitingSamples() { return waitingNow; }
  /// Sets the number of bytes that all requests use, and its limit.
  void setMemory(uint64_t taken, uint64_t limit);
  pdlrt::Gauge &connections(Protocol protocol) {
    return openConnections[int(protocol)];
  }

  /// Returns all metrics in Prometheus' text format.
  std::string text() const {
    return families.registry.text() + pdlrt::processMetrics().text();
  }
  /// Returns the declarations of all metrics (`MetricRegistry::description`).
  std::string description() const {
    return families.registry.description() +
           pdlrt::processMetrics().description();
  }

private:
  struct VersionMetrics;
  VersionMetrics &ofVersion(const std::string &model,
                            const std::string &version) PDLRT_REQUIRES(mutex);

  const ServingFamilies families;
  std::array<pdlrt::Gauge, 2> openConnections;
  pdlrt::Gauge waitingNow, takenMemory, memoryLimit;
  /// Failed requests for unknown programs. They have no label for the program:
  /// clients could invent any number of names.
  FailureCounters failedElsewhere;
  pdlrt::Mutex mutex;
  std::map<std::tuple<std::string, std::string, std::string>,
           std::weak_ptr<ProgramMetrics>>
      programs PDLRT_GUARDED_BY(mutex);
  std::map<std::pair<std::string, std::string>, std::unique_ptr<VersionMetrics>>
      versions PDLRT_GUARDED_BY(mutex);
};

} // namespace pdlserve

#endif // PDL_TOOLS_PDL_SERVE_SERVINGMETRICS_H
