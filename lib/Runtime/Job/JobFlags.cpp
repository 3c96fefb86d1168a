//===- JobFlags.cpp - Flags that trainers and servers share ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Job/JobFlags.h"

#include "pdlrt/Abi/Mode.h"
#include "pdlrt/Files/RunSummary.h"

using namespace pdlrt;

Flag pdlrt::serversFlag(JobFlags &flags, const std::string &placeholder) {
  return {.names = "--servers",
          .placeholder = placeholder,
          .value = FlagValue::list(flags.servers),
          .help = "Addresses of all servers, in the order of their ranks: "
                  "HOST:PORT or unix:PATH, separated by commas"};
}

Flag pdlrt::bindFlag(JobFlags &flags, const std::string &own) {
  return {.names = "--bind",
          .placeholder = "ADDRESS",
          .value = FlagValue::anyText(flags.bind),
          .help = "Listen at this address, such as 0.0.0.0:7101, instead of " +
                  own +
                  ". An address that other machines can reach needs this flag "
                  "or --token-file: a process that reaches it and knows --job "
                  "and the secret can take part"};
}

Flag pdlrt::jobFlag(JobFlags &flags, const std::string &help) {
  return {.names = "--job",
          .placeholder = "NAME",
          .value = FlagValue::anyText(flags.job),
          .help = help,
          .isOfJob = true};
}

Flag pdlrt::tokenFileFlag(JobFlags &flags) {
  return {.names = "--token-file",
          .placeholder = "FILE",
          .value = FlagValue::text(flags.tokenFile),
          .help =
              "File with a secret of at least 16 bytes in its first line. "
              "All processes of the job share it; no other user may read it",
          .isOfJob = true};
}

Flag pdlrt::placementFlag(JobFlags &flags) {
  return {.names = "--placement",
          .placeholder = "POLICY",
          .value = FlagValue::parsed(flags.placement, parsePlacementPolicy,
                                     placementPolicyName(flags.placement)),
          .help = "Distribution of blocks and shards over servers: "
                  "least-loaded, round-robin or hash-name. Never changes a "
                  "result",
          .isOfJob = true};
}

Flag pdlrt::onFailureFlag(JobFlags &flags, const std::string &help) {
  return {.names = "--on-failure",
          .placeholder = "ACTION",
          .value = FlagValue::choice(
              flags.onFailure,
              {{"abort", FailurePolicy::Abort}, {"wait", FailurePolicy::Wait}}),
          .help = help,
          .isOfJob = true};
}

Flag pdlrt::packGradientsFlag(JobFlags &flags, const std::string &help) {
  return {.names = "--pack-gradients",
          .placeholder = "FORMAT",
          .value = FlagValue::choice(flags.packGradients,
                                     {{"none", GradientPacking::None},
                                      {"bf16", GradientPacking::BFloat16},
                                      {"int8", GradientPacking::Int8}}),
          .help = help,
          .isOfJob = true};
}

Flag pdlrt::silenceLimitFlag(JobFlags &flags, const std::string &other) {
  return {.names = "--silence-limit",
          .placeholder = "SECONDS",
          .value = FlagValue::seconds(flags.silenceLimit),
          .help = "Seconds without a message after which " + other +
                  " is lost; 0: never",
          .isOfJob = true};
}

Flag pdlrt::waitFlag(JobFlags &flags, const std::string &others) {
  return {.names = "--wait",
          .placeholder = "SECONDS",
          .value = FlagValue::seconds(flags.joinPatience),
          .help = "Seconds that " + others + " may take to start; 0: no limit"};
}

Flag pdlrt::seedFlag(std::optional<uint64_t> &seed,
                     const std::string &purpose) {
  return {.names = "--seed",
          .placeholder = "N",
          .value = FlagValue::number(seed),
          .help = purpose + " (default: that of the --init-from file or "
                            "checkpoint, else 0)",
          .isOfJob = true};
}

Flag pdlrt::initValuesOnlyFlag(bool &target) {
  return {.names = "--init-values-only",
          .value = FlagValue::isGiven(target),
          .help = "Take only values from --init-from, without optimizer slots "
                  "and step counts, so that schedules start again",
          .isOfJob = true};
}

Flag pdlrt::acceptOldLayoutFlag(bool &target) {
  return {.names = "--accept-old-layout",
          .value = FlagValue::isGiven(target),
          .help = "Accept checkpoints and dumps that were written before the "
                  "layout contained the keys of tables, and report what "
                  "cannot be checked",
          .isOfJob = true};
}

Flag pdlrt::checkpointMinutesFlag(std::optional<double> &minutes,
                                  const std::string &help) {
  return {.names = "--checkpoint-minutes",
          .placeholder = "N",
          .value = FlagValue::real(minutes, 1e-3, 1e6),
          .help = help};
}

Flag pdlrt::traceFlag(std::string &target, const std::string &time) {
  return {.names = "--trace",
          .placeholder = "FILE",
          .value = FlagValue::text(target),
          .help = "Write what each thread does over time, as JSON for "
                  "ui.perfetto.dev or chrome://tracing" +
                  time + ". A few steps make a readable trace"};
}

Flag pdlrt::metricsAddressFlag(std::string &target) {
  return {.names = "--metrics-address",
          .placeholder = "ADDRESS",
          .value = FlagValue::text(target),
          .help =
              "Answer HTTP requests for /metrics (Prometheus), /healthz and "
              "/readyz at HOST:PORT or unix:PATH. Port 0: a free port, "
              "which the log names. Requests need no secret, so give an "
              "address that only your monitoring can reach"};
}

Flag pdlrt::summaryFlag(std::string &target) {
  return {.names = "--summary",
          .placeholder = "FILE",
          .value = FlagValue::text(target),
          .help = "Write a summary of the run to this file as one JSON object: "
                  "flags, counts, losses, metrics, checkpoints, and the reason "
                  "of the end. Written at the start and at the end, also "
                  "after a failure; trainer train also updates it during "
                  "the run"};
}

Status pdlrt::openSummary(const std::string &path, const std::string &program,
                          const pdl_descriptor &descriptor,
                          const JobFlags &flags, const CLI::App &app) {
  if (path.empty())
    return {};
  RunSummary &summary = processSummary();
  PDLRT_RETURN_IF_ERROR(summary.open(path, program, descriptor.compiler_version,
                                     givenFlags(app)));
  summary.setPlace(descriptor.model_name, modeOf(descriptor).name, flags.rank,
                   flags.trainers);
  return {};
}
