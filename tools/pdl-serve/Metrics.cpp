//===- Metrics.cpp - What Prometheus reads --------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Metrics.h"

#include <map>
#include <mutex>
#include <prometheus/text_serializer.h>
#include <tuple>

using namespace pdlserve;
using prometheus::Histogram;

static const char *nameOf(Protocol protocol) {
  return protocol == Protocol::Http ? "http" : "grpc";
}

struct Metrics::Programs {
  std::mutex mutex;
  std::map<std::tuple<std::string, std::string, std::string>,
           std::weak_ptr<ProgramMetrics>>
      all;
};

/// From 50 microseconds to ten seconds.
static const Histogram::BucketBoundaries &secondsBuckets() {
  static const Histogram::BucketBoundaries buckets = {
      0.00005, 0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02,
      0.05,    0.1,    0.2,    0.5,    1,     2,     5,     10};
  return buckets;
}

static const Histogram::BucketBoundaries &samplesBuckets() {
  static const Histogram::BucketBoundaries buckets = {
      1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096};
  return buckets;
}

template <typename Builder>
static auto &family(Builder builder, prometheus::Registry &registry,
                    const char *name, const char *help) {
  return builder.Name(name).Help(help).Register(registry);
}

Metrics::Metrics()
    : requests(family(prometheus::BuildCounter(), registry,
                      "pdl_serve_requests_total",
                      "Requests that were to score something, by how they "
                      "ended")),
      loads(family(prometheus::BuildCounter(), registry,
                   "pdl_serve_loads_total",
                   "Libraries and values that were loaded, or could not be")),
      ids(family(prometheus::BuildCounter(), registry, "pdl_serve_ids_total",
                 "Ids of samples that were scored: known, with a row in their "
                 "table, and unknown")),
      foundRows(family(prometheus::BuildCounter(), registry,
                       "pdl_serve_rows_total",
                       "Rows that a connected model needed: hit, in the cache; "
                       "miss, asked of servers")),
      rowRequests(family(prometheus::BuildCounter(), registry,
                         "pdl_serve_row_requests_total",
                         "Requests of connected models to servers")),
      requestSeconds(family(prometheus::BuildHistogram(), registry,
                            "pdl_serve_request_seconds",
                            "From a request's arrival to its answer")),
      waitSeconds(family(prometheus::BuildHistogram(), registry,
                         "pdl_serve_wait_seconds",
                         "From a request's arrival to the begin of its "
                         "batch")),
      batchSamples(family(prometheus::BuildHistogram(), registry,
                          "pdl_serve_batch_samples",
                          "Samples of the batches that were scored")),
      runSeconds(family(prometheus::BuildHistogram(), registry,
                        "pdl_serve_batch_seconds",
                        "How long a model took for a batch")),
      steps(family(prometheus::BuildGauge(), registry, "pdl_serve_model_steps",
                   "Steps of the training that saved what a version answers "
                   "with; -1: not known")),
      rows(family(prometheus::BuildGauge(), registry, "pdl_serve_model_rows",
                  "Rows of all tables of a version")),
      bytes(family(prometheus::BuildGauge(), registry, "pdl_serve_model_bytes",
                   "Memory of the parameters and tables of a version")),
      valuesVersion(family(prometheus::BuildGauge(), registry,
                           "pdl_serve_model_values",
                           "How often a version got values: 1, then one more "
                           "with each checkpoint")),
      broken(family(prometheus::BuildGauge(), registry,
                    "pdl_serve_model_broken",
                    "1 where what lies in the folder of a version could not "
                    "be loaded, though older values may answer")),
      waitingFamily(family(prometheus::BuildGauge(), registry,
                           "pdl_serve_waiting_samples",
                           "Samples that wait for their batch")),
      connectionFamily(family(prometheus::BuildGauge(), registry,
                              "pdl_serve_connections",
                              "Connections of HTTP, and calls of gRPC, that "
                              "are open")),
      memoryFamily(family(prometheus::BuildGauge(), registry,
                          "pdl_serve_memory_bytes",
                          "Bytes of all requests in flight: taken, and the "
                          "limit (--max-memory)")),
      waitingNow(&waitingFamily.Add({})), programs(new Programs) {
  for (const Protocol protocol : {Protocol::Http, Protocol::Grpc})
    connectionGauges[int(protocol)] =
        &connectionFamily.Add({{"protocol", ::nameOf(protocol)}});
}

prometheus::Gauge &Metrics::connections(Protocol protocol) {
  return *connectionGauges[int(protocol)];
}

void Metrics::setMemory(uint64_t taken, uint64_t limit) {
  memoryFamily.Add({{"kind", "taken"}}).Set(double(taken));
  memoryFamily.Add({{"kind", "limit"}}).Set(double(limit));
}

std::shared_ptr<ProgramMetrics> Metrics::ofProgram(const std::string &model,
                                                   const std::string &version,
                                                   const std::string &program) {
  // Destroyed after the lock, which its deleter takes.
  std::shared_ptr<ProgramMetrics> shared;
  const std::lock_guard lock(programs->mutex);
  std::weak_ptr<ProgramMetrics> &known =
      programs->all[{model, version, program}];
  if (std::shared_ptr<ProgramMetrics> found = known.lock())
    return found;
  shared.reset(new ProgramMetrics(), [this](ProgramMetrics *last) {
    remove(*last);
    delete last;
  });
  ProgramMetrics &made = *shared;
  made.model = model;
  made.version = version;
  made.program = program;
  const prometheus::Labels labels = {
      {"model", model}, {"version", version}, {"program", program}};
  for (const Protocol protocol : {Protocol::Http, Protocol::Grpc}) {
    prometheus::Labels more = labels;
    more["protocol"] = ::nameOf(protocol);
    made.seconds[int(protocol)] = &requestSeconds.Add(more, secondsBuckets());
    more["outcome"] = pdlserve::nameOf(Code::Ok);
    made.answered[int(protocol)] = &requests.Add(more);
  }
  made.waiting = &waitSeconds.Add(labels, secondsBuckets());
  made.batchSamples = &batchSamples.Add(labels, samplesBuckets());
  made.runSeconds = &runSeconds.Add(labels, secondsBuckets());
  known = shared;
  return shared;
}

void Metrics::remove(ProgramMetrics &program) {
  const std::lock_guard lock(programs->mutex);
  const auto found =
      programs->all.find({program.model, program.version, program.program});
  // A version of the same number may have come meanwhile: its metrics are
  // these.
  if (found != programs->all.end() && !found->second.expired())
    return;
  if (found != programs->all.end())
    programs->all.erase(found);
  for (const Protocol protocol : {Protocol::Http, Protocol::Grpc}) {
    if (program.seconds[int(protocol)])
      requestSeconds.Remove(program.seconds[int(protocol)]);
    if (program.answered[int(protocol)])
      requests.Remove(program.answered[int(protocol)]);
    for (const auto &counter : program.failed[int(protocol)])
      if (prometheus::Counter *failed = counter.load())
        requests.Remove(failed);
  }
  if (program.waiting)
    waitSeconds.Remove(program.waiting);
  if (program.batchSamples)
    batchSamples.Remove(program.batchSamples);
  if (program.runSeconds)
    runSeconds.Remove(program.runSeconds);
}

void Metrics::countFailure(ProgramMetrics *metrics, Protocol protocol,
                           Code code) {
  std::atomic<prometheus::Counter *> *known =
      metrics ? &metrics->failed[int(protocol)][int(code)] : nullptr;
  prometheus::Counter *counter = known ? known->load() : nullptr;
  if (!counter) {
    // What a client made up is no label.
    counter = &requests.Add({{"model", metrics ? metrics->model : ""},
                             {"version", metrics ? metrics->version : ""},
                             {"program", metrics ? metrics->program : ""},
                             {"protocol", ::nameOf(protocol)},
                             {"outcome", pdlserve::nameOf(code)}});
    if (known)
      known->store(counter);
  }
  counter->Increment();
}

void Metrics::countLoad(const std::string &model, const std::string &version,
                        bool ok) {
  loads
      .Add({{"model", model},
            {"version", version},
            {"outcome", ok ? "ok" : "failed"}})
      .Increment();
}

void Metrics::setVersion(const std::string &model, const std::string &version,
                         const Values &values) {
  const prometheus::Labels labels = {{"model", model}, {"version", version}};
  steps.Add(labels).Set(double(values.steps));
  rows.Add(labels).Set(double(values.rows));
  bytes.Add(labels).Set(double(values.bytes));
  valuesVersion.Add(labels).Set(double(values.loads));
  broken.Add(labels).Set(values.isBroken ? 1 : 0);
}

void Metrics::removeVersion(const std::string &model,
                            const std::string &version) {
  const prometheus::Labels labels = {{"model", model}, {"version", version}};
  for (auto *gauges : {&steps, &rows, &bytes, &valuesVersion, &broken})
    gauges->Remove(&gauges->Add(labels));
  const auto removeAll = [&](prometheus::Family<prometheus::Counter> &counters,
                             std::initializer_list<const char *> outcomes) {
    for (const char *outcome : outcomes) {
      prometheus::Labels more = labels;
      if (*outcome)
        more["outcome"] = outcome;
      counters.Remove(&counters.Add(more));
    }
  };
  removeAll(loads, {"ok", "failed"});
  removeAll(ids, {"known", "unknown"});
  removeAll(foundRows, {"hit", "miss"});
  removeAll(rowRequests, {""});
}

void Metrics::countRows(const std::string &model, const std::string &version,
                        const pdl_serving_row_counts &more, bool isConnected) {
  prometheus::Labels labels = {{"model", model}, {"version", version}};
  labels["outcome"] = "known";
  ids.Add(labels).Increment(double(more.ids - more.unknown_ids));
  labels["outcome"] = "unknown";
  ids.Add(labels).Increment(double(more.unknown_ids));
  if (!isConnected)
    return;
  labels.erase("outcome");
  rowRequests.Add(labels).Increment(double(more.requests));
  labels["outcome"] = "hit";
  foundRows.Add(labels).Increment(double(more.hits));
  labels["outcome"] = "miss";
  foundRows.Add(labels).Increment(double(more.misses));
}

std::string Metrics::text() const {
  return prometheus::TextSerializer().Serialize(registry.Collect());
}
