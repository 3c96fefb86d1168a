//===- ServingMetrics.cpp - Prometheus metrics ----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ServingMetrics.h"
#include "pdlrt/Files/StoreMetrics.h"

#include <vector>

using namespace pdlserve;
using pdlrt::AfterLastCell;
using pdlrt::Counter;
using pdlrt::Gauge;
using pdlrt::MetricInfo;

static const char *nameOf(Protocol protocol) {
  return protocol == Protocol::Http ? "http" : "grpc";
}

//===----------------------------------------------------------------------===//
// Declarations
//===----------------------------------------------------------------------===//

/// From 50 microseconds to ten seconds.
static const std::vector<double> &secondsBuckets() {
  static const std::vector<double> buckets = {
      0.00005, 0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02,
      0.05,    0.1,    0.2,    0.5,    1,     2,     5,     10};
  return buckets;
}

static const std::vector<double> &samplesBuckets() {
  static const std::vector<double> buckets = {1,  2,   4,   8,   16,   32,
                                              64, 128, 256, 512, 1024, 4096};
  return buckets;
}

/// Declares a metric whose values for a version are removed together with the
/// version.
static MetricInfo info(const char *name, const char *unit, const char *help,
                       std::vector<std::string> labels,
                       std::vector<double> bounds = {}) {
  return {.name = name,
          .unit = unit,
          .help = help,
          .labels = std::move(labels),
          .afterLastCell = AfterLastCell::Remove,
          .bounds = std::move(bounds)};
}

ServingFamilies::ServingFamilies()
    : requests(info("pdl_serve_requests_total", "requests",
                    "Inference requests by outcome",
                    {"model", "outcome", "program", "protocol", "version"}),
               registry),
      loads(info("pdl_serve_loads_total", "loads",
                 "Attempts to load a library or its values, by outcome",
                 {"model", "outcome", "version"}),
            registry),
      ids(info("pdl_serve_ids_total", "ids",
               "Ids in the samples of requests; a known id has a row in its "
               "table",
               {"model", "outcome", "version"}),
          registry),
      foundRows(info("pdl_serve_rows_total", "rows",
                     "Rows that a connected model needed: found in its cache "
                     "(hit) or pulled from servers (miss)",
                     {"model", "outcome", "version"}),
                registry),
      rowRequests(info("pdl_serve_row_requests_total", "requests",
                       "Requests of connected models to servers",
                       {"model", "version"}),
                  registry),
      requestSeconds(info("pdl_serve_request_seconds", "seconds",
                          "Latency from a request's arrival to its response",
                          {"model", "program", "protocol", "version"},
                          secondsBuckets()),
                     registry),
      waitSeconds(info("pdl_serve_wait_seconds", "seconds",
                       "Time from a request's arrival to the start of its "
                       "batch",
                       {"model", "program", "version"}, secondsBuckets()),
                  registry),
      batchSamples(info("pdl_serve_batch_samples", "samples",
                        "Samples of a computed batch",
                        {"model", "program", "version"}, samplesBuckets()),
                   registry),
      runSeconds(info("pdl_serve_batch_seconds", "seconds",
                      "Time that a model took to compute a batch",
                      {"model", "program", "version"}, secondsBuckets()),
                 registry),
      steps(info("pdl_serve_model_steps", "steps",
                 "Training steps of the values that a version uses; -1 if "
                 "unknown",
                 {"model", "version"}),
            registry),
      rows(info("pdl_serve_model_rows", "rows", "Rows of a version's tables",
                {"model", "version"}),
           registry),
      bytes(info("pdl_serve_model_bytes", "bytes",
                 "Memory of a version's parameters and tables",
                 {"model", "version"}),
            registry),
      valuesVersion(info("pdl_serve_model_values", "",
                         "Number of times that a version has loaded values: 1, "
                         "and one more with each checkpoint",
                         {"model", "version"}),
                    registry),
      broken(info("pdl_serve_model_broken", "",
                  "1 if the current content of a version's folder could not be "
                  "loaded; a version may still answer with older values",
                  {"model", "version"}),
             registry),
      waiting(info("pdl_serve_waiting_samples", "samples",
                   "Samples that wait for their batch", {}),
              registry),
      connections(info("pdl_serve_connections", "connections",
                       "Open HTTP connections, and gRPC calls in progress",
                       {"protocol"}),
                  registry),
      memory(info("pdl_serve_memory_bytes", "bytes",
                  "Memory of all requests in progress (taken), and its limit "
                  "(--max-memory)",
                  {"kind"}),
             registry) {}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

FailureCounters::FailureCounters(const pdlrt::CounterFamily &family,
                                 std::string model, std::string version,
                                 std::string program)
    : family(family), model(std::move(model)), version(std::move(version)),
      program(std::move(program)) {}

void FailureCounters::count(Protocol protocol, Code code) {
  const pdlrt::MutexLock lock(mutex);
  std::optional<Counter> &counter = counters[int(protocol)][int(code)];
  if (!counter)
    counter = family.add(
        {model, pdlserve::nameOf(code), program, ::nameOf(protocol), version});
  counter->add(1);
}

ProgramMetrics::ProgramMetrics(const ServingFamilies &families,
                               const std::string &model,
                               const std::string &version,
                               const std::string &program)
    : answered{
          families.requests.add({model, pdlserve::nameOf(Code::Ok), program,
                                 ::nameOf(Protocol::Http), version}),
          families.requests.add({model, pdlserve::nameOf(Code::Ok), program,
                                 ::nameOf(Protocol::Grpc), version})},
      seconds{families.requestSeconds.add(
                  {model, program, ::nameOf(Protocol::Http), version}),
              families.requestSeconds.add(
                  {model, program, ::nameOf(Protocol::Grpc), version})},
      waiting(families.waitSeconds.add({model, program, version})),
      batchSamples(families.batchSamples.add({model, program, version})),
      runSeconds(families.runSeconds.add({model, program, version})),
      failed(families.requests, model, version, program) {}

std::shared_ptr<ProgramMetrics>
ServingMetrics::ofProgram(const std::string &model, const std::string &version,
                          const std::string &program) {
  const pdlrt::MutexLock lock(mutex);
  std::erase_if(programs,
                [](const auto &each) { return each.second.expired(); });
  std::weak_ptr<ProgramMetrics> &known = programs[{model, version, program}];
  if (std::shared_ptr<ProgramMetrics> found = known.lock())
    return found;
  auto made =
      std::make_shared<ProgramMetrics>(families, model, version, program);
  known = made;
  return made;
}

void ServingMetrics::countFailure(ProgramMetrics *metrics, Protocol protocol,
                                  Code code) {
  (metrics ? metrics->failed : failedElsewhere).count(protocol, code);
}

//===----------------------------------------------------------------------===//
// Versions
//===----------------------------------------------------------------------===//

/// Metrics of one version. A metric is exported after its first value.
struct ServingMetrics::VersionMetrics {
  struct Gauges {
    Gauge steps, rows, bytes, valuesVersion, broken;
  };
  std::optional<Gauges> gauges;
  /// Indexed by outcome: failed, ok.
  std::array<std::optional<Counter>, 2> loads;
  struct Ids {
    Counter known, unknown;
  };
  std::optional<Ids> ids;
  struct Rows {
    Counter requests, hits, misses;
  };
  std::optional<Rows> rows;
};

ServingMetrics::ServingMetrics()
    : openConnections{families.connections.add({::nameOf(Protocol::Http)}),
                      families.connections.add({::nameOf(Protocol::Grpc)})},
      waitingNow(families.waiting.add()),
      takenMemory(families.memory.add({"taken"})),
      memoryLimit(families.memory.add({"limit"})),
      failedElsewhere(families.requests) {
  pdlrt::declareStoreMetrics();
}

ServingMetrics::~ServingMetrics() = default;

void ServingMetrics::setMemory(uint64_t taken, uint64_t limit) {
  takenMemory.set(double(taken));
  memoryLimit.set(double(limit));
}

ServingMetrics::VersionMetrics &
ServingMetrics::ofVersion(const std::string &model,
                          const std::string &version) {
  std::unique_ptr<VersionMetrics> &found = versions[{model, version}];
  if (!found)
    found = std::make_unique<VersionMetrics>();
  return *found;
}

void ServingMetrics::countLoad(const std::string &model,
                               const std::string &version, bool ok) {
  const pdlrt::MutexLock lock(mutex);
  std::optional<Counter> &counter = ofVersion(model, version).loads[int(ok)];
  if (!counter)
    counter = families.loads.add({model, ok ? "ok" : "failed", version});
  counter->add(1);
}

void ServingMetrics::setVersion(const std::string &model,
                                const std::string &version,
                                const Values &values) {
  const pdlrt::MutexLock lock(mutex);
  auto &gauges = ofVersion(model, version).gauges;
  if (!gauges)
    gauges =
        VersionMetrics::Gauges{families.steps.add({model, version}),
                               families.rows.add({model, version}),
                               families.bytes.add({model, version}),
                               families.valuesVersion.add({model, version}),
                               families.broken.add({model, version})};
  gauges->steps.set(double(values.steps));
  gauges->rows.set(double(values.rows));
  gauges->bytes.set(double(values.bytes));
  gauges->valuesVersion.set(double(values.loads));
  gauges->broken.set(values.isBroken ? 1 : 0);
}

void ServingMetrics::removeVersion(const std::string &model,
                                   const std::string &version) {
  const pdlrt::MutexLock lock(mutex);
  versions.erase({model, version});
}

void ServingMetrics::countRows(const std::string &model,
                               const std::string &version,
                               const pdl_serving_row_counts &more,
                               bool isConnected) {
  const pdlrt::MutexLock lock(mutex);
  VersionMetrics &metrics = ofVersion(model, version);
  if (!metrics.ids)
    metrics.ids =
        VersionMetrics::Ids{families.ids.add({model, "known", version}),
                            families.ids.add({model, "unknown", version})};
  metrics.ids->known += more.ids - more.unknown_ids;
  metrics.ids->unknown += more.unknown_ids;
  if (!isConnected)
    return;
  if (!metrics.rows)
    metrics.rows =
        VersionMetrics::Rows{families.rowRequests.add({model, version}),
                             families.foundRows.add({model, "hit", version}),
                             families.foundRows.add({model, "miss", version})};
  metrics.rows->requests += more.requests;
  metrics.rows->hits += more.hits;
  metrics.rows->misses += more.misses;
}
