//===- StepMetrics.cpp - Registered metrics of a trainer's steps ----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Engine/StepMetrics.h"

#include "pdlrt/Transport/Envelope.h"

#include <algorithm>

using namespace pdlrt;

namespace {

/// The metric families of steps.
struct StepFamilies {
  const CounterFamily step{
      {.name = "pdl_trainer_steps_total",
       .unit = "steps",
       .help = "Steps of this process; if workers step by themselves, "
               "the steps of each of them",
       .labels = {"program"}}};
  const CounterFamily sample{{.name = "pdl_trainer_samples_total",
                              .unit = "samples",
                              .help = "Samples in the steps of this process",
                              .labels = {"program"}}};
  const CounterFamily skipped{
      {.name = "pdl_trainer_skipped_updates_total",
       .unit = "updates",
       .help = "Updates skipped because the weights sum to zero",
       .labels = {"program"}}};
  const CounterFamily id{
      {.name = "pdl_trainer_ids_total",
       .unit = "ids",
       .help = "Ids that lookups read; not counted if workers step by "
               "themselves",
       .labels = {"program"}}};
  const CounterFamily key{
      {.name = "pdl_trainer_keys_total",
       .unit = "keys",
       .help = "Distinct keys in the batches of workers; not counted "
               "if workers step by themselves",
       .labels = {"program"}}};
  const RealCounterFamily phase{
      {.name = "pdl_trainer_phase_seconds_total",
       .unit = "seconds",
       .help = "Time of each phase of a step, in the thread that "
               "drives it; \"prepare in background\" overlaps with "
               "\"forward/backward\", and \"wait\" lasts until the "
               "last server has responded",
       .labels = {"phase", "program"}}};
  const CounterFamily message{
      {.name = "pdl_trainer_messages_total",
       .unit = "messages",
       .help = "Requests to an owner of state; each has one "
               "response. Retries and heartbeats are not counted",
       .labels = {"owner", "program"}}};
  const CounterFamily sent{{.name = "pdl_trainer_sent_bytes_total",
                            .unit = "bytes",
                            .help = "Bytes of requests to an owner of state",
                            .labels = {"owner", "program"}}};
  const CounterFamily received{
      {.name = "pdl_trainer_received_bytes_total",
       .unit = "bytes",
       .help = "Bytes of responses of an owner of state",
       .labels = {"owner", "program"}}};
  const CounterFamily push{{.name = "pdl_trainer_pushes_total",
                            .unit = "pushes",
                            .help = "Pushes in the background (--push-queue)",
                            .labels = {"program"}}};
  const CounterFamily pushedStep{
      {.name = "pdl_trainer_pushed_steps_total",
       .unit = "steps",
       .help = "Steps whose gradients were pushed in the "
               "background",
       .labels = {"program"}}};
  const RealCounterFamily background{
      {.name = "pdl_trainer_background_seconds_total",
       .unit = "seconds",
       .help = "Time with a push or pull in flight in the "
               "background, and time that workers waited for "
               "one, summed over the workers",
       .labels = {"activity", "program"}}};
  const GaugeFamily pushBytes{
      {.name = "pdl_trainer_push_bytes_max",
       .unit = "bytes",
       .help = "Maximum number of bytes of a worker's pushes in "
               "flight, summed over the workers",
       .labels = {"program"}}};
  const CounterFamily earlyStep{
      {.name = "pdl_trainer_early_steps_total",
       .unit = "steps",
       .help = "Steps whose dense gradients were sent before the "
               "step was computed (--overlap)",
       .labels = {"program"}}};
  const CounterFamily earlyPart{
      {.name = "pdl_trainer_early_parts_total",
       .unit = "parts",
       .help = "Parts in which dense gradients were sent early (--overlap)",
       .labels = {"program"}}};
  const CounterFamily earlyByte{
      {.name = "pdl_trainer_early_bytes_total",
       .unit = "bytes",
       .help =
           "Bytes of parts that were sent early (--overlap), without headers",
       .labels = {"program"}}};
  const RealCounterFamily earlySeconds{
      {.name = "pdl_trainer_early_seconds_total",
       .unit = "seconds",
       .help = "Time of steps with gradients that were sent early (--overlap): "
               "with parts in flight during the computation (background), and "
               "spent waiting for responses afterwards (wait)",
       .labels = {"activity", "program"}}};
};

} // namespace

/// Returns the metric families. They are declared by the first call, not by a
/// static initializer: `main` must check the CPU before other code runs.
static const StepFamilies &stepFamilies() {
  return processMetrics<StepFamilies>();
}

void pdlrt::declareStepMetrics() { stepFamilies(); }

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

StepMetrics::StepMetrics(const pdl_program &program)
    : steps(stepFamilies().step.add({program.name})),
      samples(stepFamilies().sample.add({program.name})),
      skippedUpdates(stepFamilies().skipped.add({program.name})),
      ids(stepFamilies().id.add({program.name})),
      keys(stepFamilies().key.add({program.name})),
      read(stepFamilies().phase.add({"read", program.name})),
      prepare(stepFamilies().phase.add({"prepare", program.name})),
      prepareInBackground(
          stepFamilies().phase.add({"prepare in background", program.name})),
      compute(stepFamilies().phase.add({"forward/backward", program.name})) {}

StepCosts StepMetrics::costs() const {
  StepCosts result;
  result.steps = steps.value();
  result.ids = ids.value();
  result.keys = keys.value();
  result.read = read.value();
  result.prepare = prepare.value();
  result.prepareInBackground = prepareInBackground.value();
  result.compute = compute.value();
  return result;
}

RealCounter pdlrt::addApplySeconds(const pdl_program &program) {
  return stepFamilies().phase.add({"apply", program.name});
}

//===----------------------------------------------------------------------===//
// Traffic
//===----------------------------------------------------------------------===//

TrafficMetrics::TrafficMetrics(const pdl_program &program, std::string of)
    : owner(std::move(of)),
      messages(stepFamilies().message.add({owner, program.name})),
      bytesSent(stepFamilies().sent.add({owner, program.name})),
      bytesReceived(stepFamilies().received.add({owner, program.name})) {}

int64_t TrafficMetrics::noteRequest(size_t payload) {
  const auto bytes = int64_t(envelopeSize + payload);
  ++messages;
  bytesSent += bytes;
  return bytes;
}

int64_t TrafficMetrics::noteResponse(size_t payload) {
  const auto bytes = int64_t(envelopeSize + payload);
  bytesReceived += bytes;
  return bytes;
}

ServerTraffic TrafficMetrics::costs() const {
  return {owner, messages.value(), bytesSent.value(), bytesReceived.value()};
}

ExchangeMetrics::ExchangeMetrics(const pdl_program &program,
                                 const Placement &placement)
    : serialize(stepFamilies().phase.add({"serialize", program.name})),
      wait(stepFamilies().phase.add({"wait", program.name})) {
  for (int32_t server = 0; server < placement.serverCount(); ++server)
    servers.emplace_back(program, placement.nameOf(server));
}

ExchangeCosts ExchangeMetrics::costs() const {
  ExchangeCosts result;
  result.serialize = serialize.value();
  result.wait = wait.value();
  for (const TrafficMetrics &server : servers)
    result.servers.push_back(server.costs());
  return result;
}

//===----------------------------------------------------------------------===//
// Background
//===----------------------------------------------------------------------===//

BackgroundMetrics::BackgroundMetrics(const pdl_program &program)
    : pushes(stepFamilies().push.add({program.name})),
      pushedSteps(stepFamilies().pushedStep.add({program.name})),
      push(stepFamilies().background.add({"push", program.name})),
      pushWait(stepFamilies().background.add({"push wait", program.name})),
      pull(stepFamilies().background.add({"pull", program.name})),
      pullWait(stepFamilies().background.add({"pull wait", program.name})),
      maxBytes(stepFamilies().pushBytes.add({program.name})) {}

BackgroundCosts BackgroundMetrics::costs() const {
  BackgroundCosts result;
  result.pushes = pushes.value();
  result.pushedSteps = pushedSteps.value();
  result.push = push.value();
  result.pushWait = pushWait.value();
  result.pull = pull.value();
  result.pullWait = pullWait.value();
  result.maxBytes = int64_t(maxBytes.value());
  return result;
}

void BackgroundMetrics::noteInFlight(int64_t bytes) {
  maxBytes.set(std::max(maxBytes.value(), double(bytes)));
}

//===----------------------------------------------------------------------===//
// Early gradients
//===----------------------------------------------------------------------===//

EarlyMetrics::EarlyMetrics(const pdl_program &program)
    : steps(stepFamilies().earlyStep.add({program.name})),
      parts(stepFamilies().earlyPart.add({program.name})),
      bytes(stepFamilies().earlyByte.add({program.name})),
      background(stepFamilies().earlySeconds.add({"background", program.name})),
      wait(stepFamilies().earlySeconds.add({"wait", program.name})) {}

EarlyCosts EarlyMetrics::costs() const {
  return {choice,        steps.value(),      parts.value(),
          bytes.value(), background.value(), wait.value()};
}
