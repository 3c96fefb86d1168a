//===- ServerFlags.cpp - Flags of a compiled server -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Server/ServerFlags.h"

#include "pdlrt/Abi/Mode.h"
#include "pdlrt/Core/TokenFile.h"
#include "pdlrt/Files/OutputFiles.h"
#include "pdlrt/Files/PlaceFlags.h"
#include "pdlrt/Programs/Server/ServerFlagForms.h"
#include "pdlrt/State/TableBoundFlags.h"
#include "pdlrt/Transport/Address.h"

#include <fmt/format.h>
#include <string>
#include <utility>
#include <vector>

using namespace pdlrt;

/// Returns the flags about the job and its other processes.
static std::vector<Flag> clusterFlags(const Mode *mode, ServerFlags &flags) {
  const std::string modeName = mode ? mode->name : "";
  return {
      {.names = "--rank",
       .placeholder = "N",
       .value = FlagValue::number(flags.rank, 0, maxProcesses),
       .help = "Rank of this server, from 0: the position of its address in "
               "--servers",
       .isRequired = true},
      required(serversFlag(flags, "ADDRESS")),
      {.names = "--trainers",
       .placeholder = "N",
       .value = FlagValue::number(flags.trainers, 1, maxProcesses),
       .help = "Number of trainers of the job"},
      bindFlag(flags, "the server's own address in --servers"),
      jobFlag(flags, "Name of the job; trainers of another job are refused"),
      tokenFileFlag(flags),
      {.names = "--reader-token-file",
       .placeholder = "FILE",
       .value = FlagValue::text(flags.readerTokenFile),
       .help = "File with another secret, for libraries that read values from "
               "the servers. A job with --token-file accepts no readers "
               "without it"},
      placementFlag(flags),
      onFailureFlag(flags, "Reaction to a lost trainer: abort the job, or wait "
                           "until it is back"),
      {.names = "--max-staleness",
       .placeholder = "N",
       .value = FlagValue::number(flags.maxStaleness),
       .help = "Modes async and half-async: delay the response to a sender "
               "that is more than N steps ahead of the slowest (default: no "
               "limit). Not with trainers that have --push-queue. Equal for "
               "all servers",
       .isOffered = mode && mode->pushesAreSteps(),
       .refusal = "--max-staleness is for modes in which servers apply each "
                  "push by itself, such as async, and this program was "
                  "translated with --mode=" +
                  modeName + "; leave it out"},
      {.names = "--quorum",
       .placeholder = "N",
       .value = FlagValue::number(flags.quorum, 1, maxProcesses),
       .help = "Mode quorum: end a round when the gradients of N trainers have "
               "arrived. Results depend on it. Equal for all servers",
       .isOffered = mode && mode->closesWithQuorum,
       .refusal = "--quorum is for mode quorum, and this program was "
                  "translated with --mode=" +
                  modeName +
                  "; leave it out, or translate the model with --mode=quorum"},
      {.names = "--late-gradients",
       .placeholder = "ACTION",
       .value = FlagValue::choice(flags.late, {{"count", LateGradients::Count},
                                               {"drop", LateGradients::Drop}}),
       .help = "Mode quorum: treatment of gradients that arrive after the end "
               "of their round: count them in the next round (default), or "
               "drop them. Equal for all servers",
       .isOffered = mode && mode->closesWithQuorum,
       .refusal = "--late-gradients is for mode quorum, and this program was "
                  "translated with --mode=" +
                  modeName + "; leave it out"},
      offeredIf(!mode || !mode->trainersApply,
                packGradientsFlag(
                    flags, "Encoding of gradients that trainers must use: "
                           "none, bf16 or int8. Results depend on it")),
      silenceLimitFlag(flags, "a trainer"),
      waitFlag(flags, "trainers")};
}

/// Returns the rows of flags about values and checkpoints.
static std::vector<Flag> stateFlags(ServerFlags &flags) {
  std::vector<Flag> all = {
      seedFlag(flags.seed, "Seed of initial values, as for trainers"),
      {.names = "--init-from",
       .placeholder = "FILE",
       .value = placeValue(flags.initFrom),
       .help = "Start from the values in this safetensors file; each server "
               "takes the part that it owns",
       .isOfJob = true},
      needing("--init-from", initValuesOnlyFlag(flags.initValuesOnly)),
      acceptOldLayoutFlag(flags.acceptOldLayout),
      {.names = "--checkpoint",
       .placeholder = "FOLDER",
       .value = placeValue(flags.checkpoint),
       .help = "Folder of the trainers' checkpoints; servers write to no other "
               "one. Without this flag the first trainer chooses the folder, "
               "unless everyone may take part",
       .isOfJob = true},
      checkpointMinutesFlag(
          flags.checkpointMinutes,
          "Of server 0: also save when N minutes have passed since the last "
          "save. In mode sync it asks trainers to save. While the job waits "
          "for a trainer (--on-failure=wait), servers save without trainers"),
      {.names = "--emergency-checkpoint",
       .placeholder = "FOLDER",
       .value = placeValue(flags.emergencyCheckpoint),
       .help = "The trainers' folder for a last checkpoint that cannot be "
               "saved to --checkpoint",
       .isOfJob = true},
      {.names = "--resume",
       .value = FlagValue::isGiven(flags.resume),
       .help = "Resume from the newest complete checkpoint in --checkpoint, "
               "whichever job wrote it; start from the beginning if there is "
               "none",
       .needs = {"--checkpoint"},
       .excludes = {"--init-from"},
       .isOfJob = true},
      {.names = "--log-applied",
       .placeholder = "PATH",
       .value = FlagValue::text(flags.logApplied),
       .help = "Modes async, half-async and quorum: log each push in the order "
               "in which it is applied, for 'pserver replay'. Mode geo: log "
               "changes; their replay has values without slots. In an existing "
               "folder the file is applied-RANK.log. Needs as much space as "
               "all gradients of the job"}};
  return joined(std::move(all), tableBoundFlags(flags.tableBound));
}

FlagTable pdlrt::serverFlags(const Mode *mode, ServerFlags &flags) {
  return {{"Cluster", clusterFlags(mode, flags)},
          {"State", stateFlags(flags)},
          {"Execution",
           {{.names = "--threads",
             .placeholder = "N",
             .value = FlagValue::number(flags.threads, 1, maxThreads),
             .help = "Number of threads. Never changes a result"},
            metricsAddressFlag(flags.metricsAddress),
            logFormatFlag(),
            summaryFlag(flags.summary),
            {.names = "--log-metrics",
             .placeholder = "FILE",
             .value = FlagValue::text(flags.logMetrics),
             .help = "Write counts, keys, staleness and the age of the last "
                     "checkpoint over time to this file, one JSON object per "
                     "line; - is the standard output. With --resume, lines are "
                     "appended"},
            {.names = "--log-metrics-seconds",
             .placeholder = "SECONDS",
             .value = FlagValue::seconds(flags.logMetricsSeconds),
             .help = "Write a line to --log-metrics when this time has passed "
                     "since the last one",
             .needs = {"--log-metrics"}},
            traceFlag(flags.trace, ", when the job has ended")}}};
}

std::vector<FlagForm> pdlrt::serverFlagForms(const Mode *mode) {
  ServerFlags flags;
  return formsOf(serverFlags(mode, flags));
}

/// Sets the waiting rules from the flags.
static Status takeBounds(const Mode &mode, ServerFlags &flags) {
  if (mode.closesWithQuorum && !flags.quorum)
    return Status::invalidArgument(
        "--quorum is required in mode quorum: say how many "
        "trainers end a round");
  if (flags.quorum && *flags.quorum > flags.trainers)
    return Status::invalidArgument(fmt::format(
        "--quorum {} is more than the {} trainers of the job (--trainers)",
        *flags.quorum, flags.trainers));
  if (flags.checkpointMinutes && !mode.stepsAreRounds &&
      (flags.onFailure != FailurePolicy::Wait || mode.trainersApply))
    return Status::invalidArgument(fmt::format(
        "--checkpoint-minutes of servers is for modes whose steps are rounds, "
        "such as sync, and, with --on-failure=wait, for modes in which servers "
        "hold the whole state; this program was translated with --mode={}; "
        "give it to trainers",
        mode.name));
  flags.bounds.staleness = flags.maxStaleness;
  if (flags.quorum)
    flags.bounds.quorum = uint32_t(*flags.quorum);
  flags.bounds.late = flags.late.value_or(LateGradients::Count);
  return {};
}

Status pdlrt::checkServerFlags(const pdl_descriptor &descriptor,
                               ServerFlags &flags) {
  PDLRT_RETURN_IF_ERROR(checkTableBound(descriptor, flags.tableBound));
  if (flags.tableBound.maxBytes > 0 && modeOf(descriptor).trainersApply)
    return Status::invalidArgument(
        std::string("--max-table-memory is not for mode ") +
        modeOf(descriptor).name +
        ", in which each trainer has rows of its own; "
        "leave it out");
  if (flags.tableBound.maxBytes > 0 && !flags.logApplied.empty())
    return Status::invalidArgument(
        "--log-applied is not for servers with "
        "--max-table-memory: a log does not say which rows "
        "were evicted; leave one of the two out");
  const auto servers = int64_t(flags.servers.size());
  if (flags.rank >= servers)
    return Status::invalidArgument(fmt::format(
        "--rank {} is none of the {} servers in --servers, which are numbered "
        "from 0 to {}",
        flags.rank, servers, servers - 1));
  PDLRT_RETURN_IF_ERROR(checkAddresses("--servers", flags.servers));
  Expected<ListenPlace> place =
      choosePlace(fmt::format("server {}", flags.rank),
                  flags.servers[flags.rank], flags.bind,
                  /*hasToken=*/!flags.tokenFile.empty());
  if (!place)
    return place.status();
  flags.address = place->address;
  flags.isOpenToAll = place->isOpenToAll;
  if (descriptor.role == PDL_ROLE_PSERVER)
    PDLRT_RETURN_IF_ERROR(takeBounds(modeOf(descriptor), flags));
  PDLRT_RETURN_IF_ERROR(
      checkOutputs({{"--log-applied", flags.logApplied},
                    {"--log-metrics", flags.logMetrics},
                    {"--summary", flags.summary},
                    {"--trace", flags.trace}},
                   {{"--init-from", flags.initFrom},
                    {"--token-file", flags.tokenFile},
                    {"--reader-token-file", flags.readerTokenFile}}));
  if (!flags.tokenFile.empty()) {
    Expected<std::string> token =
        readTokenFile("--token-file", flags.tokenFile);
    if (!token)
      return token.status();
    flags.token = std::move(*token);
  }
  if (!flags.readerTokenFile.empty()) {
    Expected<std::string> token =
        readTokenFile("--reader-token-file", flags.readerTokenFile);
    if (!token)
      return token.status();
    flags.readerToken = std::move(*token);
  }
  if (!flags.token.empty() && flags.readerToken == flags.token)
    return Status::invalidArgument(
        "--reader-token-file holds the secret of --token-file, with which "
        "readers could take part in the job; give them another one");
  return {};
}
