//===- ServerMetrics.cpp - Registered metrics of a server's steps ---------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Server/ServerMetrics.h"

#include <algorithm>
#include <vector>

using namespace pdlrt;

/// Returns the bounds of buckets: one for each number of steps below 64, and
/// one for larger numbers.
static std::vector<double> stalenessBounds() {
  constexpr int most = 64;
  std::vector<double> bounds;
  for (int steps = 0; steps < most; ++steps)
    bounds.push_back(steps);
  return bounds;
}

namespace {

/// Metric families of servers.
struct ServerFamilies {
  const CounterFamily step{
      {.name = "pdl_server_steps_total",
       .unit = "steps",
       .help = "Steps with gradients: rounds in mode sync, pushes in "
               "mode async",
       .labels = {"owner"}}};
  const CounterFamily late{
      {.name = "pdl_server_late_pushes_total",
       .unit = "pushes",
       .help = "Gradients that arrived after their round was closed, "
               "and counted in the next one",
       .labels = {"owner"}}};
  const CounterFamily dropped{
      {.name = "pdl_server_dropped_pushes_total",
       .unit = "pushes",
       .help = "Gradients that arrived after their round was "
               "closed, and did not count",
       .labels = {"owner"}}};
  const CounterFamily merged{
      {.name = "pdl_server_merged_steps_total",
       .unit = "steps",
       .help = "Steps that were pushed together with other steps, "
               "beyond the first of each push",
       .labels = {"owner"}}};
  const CounterFamily message{
      {.name = "pdl_server_messages_total",
       .unit = "messages",
       .help = "Step requests; each has one response. Copies and "
               "heartbeats are not counted",
       .labels = {"owner"}}};
  const CounterFamily received{{.name = "pdl_server_received_bytes_total",
                                .unit = "bytes",
                                .help = "Bytes of step requests",
                                .labels = {"owner"}}};
  const CounterFamily sent{{.name = "pdl_server_sent_bytes_total",
                            .unit = "bytes",
                            .help = "Bytes of the responses to step requests",
                            .labels = {"owner"}}};
  const CounterFamily lost{
      {.name = "pdl_server_lost_trainers_total",
       .unit = "trainers",
       .help = "Trainers whose loss ended the job: they failed, or "
               "were not heard of for --silence-limit"}};
  const RealCounterFamily phase{
      {.name = "pdl_server_phase_seconds_total",
       .unit = "seconds",
       .help = "Time of each phase of a step in the thread that "
               "handles requests",
       .labels = {"owner", "phase"}}};
  const RealCounterFamily closing{
      {.name = "pdl_server_closing_seconds_total",
       .unit = "seconds",
       .help = "Time from the request that completes a round until its "
               "responses are ready; part of the phases",
       .labels = {"owner"}}};
  const GaugeFamily seen{
      {.name = "pdl_server_seen_bytes_max",
       .unit = "bytes",
       .help = "Maximum number of bytes of values stored because "
               "senders have read them (delay compensation)",
       .labels = {"owner"}}};
  const RealCounterFamily elapsed{
      {.name = "pdl_server_elapsed_seconds_total",
       .unit = "seconds",
       .help = "Time from the first step request to the last "
               "response",
       .labels = {"owner"}}};
  const RealCounterFamily cpu{
      {.name = "pdl_server_cpu_seconds_total",
       .unit = "seconds",
       .help = "CPU time of the process from the first step "
               "request to the last response",
       .labels = {"owner"}}};
  const HistogramFamily staleness{
      {.name = "pdl_server_staleness_steps",
       .unit = "steps",
       .help = "Steps that a response was ahead of the slowest sender",
       .bounds = stalenessBounds()}};
};

} // namespace

/// Returns the metric families. They are declared by the first call, not by a
/// static initializer: `main` must check the CPU before other code runs.
static const ServerFamilies &serverFamilies() {
  return processMetrics<ServerFamilies>();
}

void pdlrt::declareServerMetrics() { serverFamilies(); }

ServerMetrics::ServerMetrics(const std::string &owner)
    : steps(serverFamilies().step.add({owner})),
      late(serverFamilies().late.add({owner})),
      dropped(serverFamilies().dropped.add({owner})),
      mergedSteps(serverFamilies().merged.add({owner})),
      seenBytes(serverFamilies().seen.add({owner})),
      messages(serverFamilies().message.add({owner})),
      bytesReceived(serverFamilies().received.add({owner})),
      bytesSent(serverFamilies().sent.add({owner})),
      check(serverFamilies().phase.add({owner, "check"})),
      sum(serverFamilies().phase.add({owner, "sum"})),
      apply(serverFamilies().phase.add({owner, "apply"})),
      response(serverFamilies().phase.add({owner, "respond"})),
      closing(serverFamilies().closing.add({owner})),
      elapsed(serverFamilies().elapsed.add({owner})),
      cpu(serverFamilies().cpu.add({owner})) {}

ServerCosts ServerMetrics::costs() const {
  ServerCosts result;
  result.steps = steps.value();
  result.late = late.value();
  result.dropped = dropped.value();
  result.mergedSteps = mergedSteps.value();
  result.seenBytes = int64_t(seenBytes.value());
  result.messages = messages.value();
  result.bytesReceived = bytesReceived.value();
  result.bytesSent = bytesSent.value();
  result.check = check.value();
  result.sum = sum.value();
  result.apply = apply.value();
  result.response = response.value();
  result.closing = closing.value();
  result.elapsed = elapsed.value();
  result.cpu = cpu.value();
  return result;
}

void ServerMetrics::noteSeenBytes(int64_t bytes) {
  seenBytes.set(std::max(seenBytes.value(), double(bytes)));
}

Histogram pdlrt::addStaleness() { return serverFamilies().staleness.add(); }

namespace {
struct LostTrainers {
  Counter counter = serverFamilies().lost.add();
};
} // namespace

void pdlrt::countLostTrainer() { ++processMetrics<LostTrainers>().counter; }
