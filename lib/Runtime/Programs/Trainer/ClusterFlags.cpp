//===- ClusterFlags.cpp - Flags of a trainer with servers -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/ClusterFlags.h"

#include "pdlrt/Abi/Mode.h"
#include "pdlrt/Core/ParseFlags.h"
#include "pdlrt/Core/RandomNumber.h"
#include "pdlrt/Core/TokenFile.h"
#include "pdlrt/Job/StateHost.h"
#include "pdlrt/Protocol/PackedTraining.h"
#include "pdlrt/Transport/Address.h"

#include <fmt/format.h>

using namespace pdlrt;

/// Each queued push stores a copy of all gradients of a step.
static constexpr uint64_t maxQueuedPushes = 64, maxMergedSteps = 1024;

/// Returns the mode of a program that runs in several processes, or null for a
/// program of one process.
static const Mode *modeOfJob(const pdl_descriptor &descriptor) {
  return descriptor.role == PDL_ROLE_TRAINER ? &modeOf(descriptor) : nullptr;
}

/// Returns the rows of flags about addresses, identity and failures.
static std::vector<Flag> processFlags(const Mode *mode, ClusterFlags &flags) {
  const bool trainersOwn = mode && mode->trainersOwn();
  return {
      offeredIf(mode && mode->needsServers(), serversFlag(flags, "A,B")),
      {.names = "--peers",
       .placeholder = "A,B",
       .value = FlagValue::list(flags.peers),
       .help = "Addresses of all trainers, including this one, in the order of "
               "their ranks. Each trainer owns a part of the state. A single "
               "trainer needs none",
       .isOffered = trainersOwn},
      offeredIf(trainersOwn,
                bindFlag(flags, "this trainer's address in --peers")),
      {.names = "--rank",
       .placeholder = "N",
       .value = FlagValue::number(flags.rank, 0, maxProcesses),
       .help = "Rank of this trainer, from 0"},
      {.names = "--trainers",
       .placeholder = "N",
       .value = FlagValue::number(flags.trainers, 1, maxProcesses),
       .help = "Number of trainers of the job. Results depend on it: they are "
               "those of one process with --replicas TRAINERSxW"},
      jobFlag(flags, "Name of the job; servers of another job refuse this "
                     "trainer"),
      {.names = "--print-figures",
       .value = FlagValue::isGiven(flags.printFigures),
       .help = "Report the losses and metrics of the job here, too. Without "
               "this flag only trainer 0 reports them"},
      tokenFileFlag(flags),
      placementFlag(flags),
      onFailureFlag(flags,
                    "Reaction to a silent server: abort, or wait until it is "
                    "back. With wait, servers also wait for a trainer that was "
                    "killed and restarted")};
}

/// Returns the rows of flags about the messages of a step.
static std::vector<Flag> exchangeFlags(const pdl_descriptor &descriptor,
                                       const Mode *mode, ClusterFlags &flags) {
  const std::string modeName = mode ? mode->name : "";
  const bool isEarly = mode && mode->gradientsMayLeaveEarly();
  const auto refuseEarly = [&](const std::string &name) {
    return fmt::format(
        "{} is for modes in which the sum of a trainer's workers goes to "
        "owners as it is, but this program is of mode {}; leave it out",
        name, modeName);
  };
  return {
      {.names = "--pack-keys",
       .placeholder = "FORMAT",
       .value =
           FlagValue::choice(flags.packKeys, {{"none", KeyPacking::None},
                                              {"delta", KeyPacking::Delta}}),
       .help = "Encoding of keys in messages: none, or delta, which needs "
               "fewer bytes and more work. Never changes a result"},
      offeredIf(!mode || !mode->trainersApply,
                packGradientsFlag(
                    flags,
                    "Encoding of gradients in messages: none, or quantized to "
                    "bf16 or int8. Results depend on it; servers need the "
                    "same flag")),
      {.names = "--geo-steps",
       .placeholder = "N",
       .value = FlagValue::number(flags.geoSteps, 1, uint64_t(1) << 40),
       .help = "Steps between two exchanges with servers. This trainer sends "
               "its changes, divided by TRAINERS (undivided in a group with "
               "merge(sum)), and receives those of others. Optimizer slots and "
               "step counts stay with each trainer. Results depend on it",
       .isOffered = mode && mode->trainersApply,
       .refusal = "--geo-steps is for trainers that apply the rules "
                  "themselves, and in mode " +
                  modeName + " servers do; leave it out"},
      {.names = "--push-queue",
       .placeholder = "N",
       .value = FlagValue::number(flags.pushQueue, 0, maxQueuedPushes),
       .help = "Mode async: maximum number of pushes of a worker that are in "
               "flight to one server during its next steps; 0: each step "
               "waits for its own push. Results depend on it: a step does not "
               "see pushes in flight",
       .isOffered = mode && mode->workersSend},
      {.names = "--max-merge",
       .placeholder = "K",
       .value = FlagValue::number(flags.maxMerge, 1, maxMergedSteps),
       .help = "With --push-queue: maximum number of steps of a worker that "
               "are merged into one push while servers are busy, by "
               "merge(mean) or merge(sum) of nn.group. Results depend on it",
       .isOffered = mode && mode->workersSend},
      {.names = "--overlap",
       .placeholder = "WHEN",
       .value = FlagValue::choice(flags.overlap, {{"auto", Overlap::Auto},
                                                  {"on", Overlap::On},
                                                  {"off", Overlap::Off}}),
       .help = "Send dense gradients while earlier layers still compute: on, "
               "off, or auto, which tries both for some steps and keeps the "
               "faster one. Never changes a result",
       .isOffered = isEarly,
       .refusal = refuseEarly("--overlap")},
      {.names = "--part-bytes",
       .placeholder = "N",
       .value = FlagValue::number(flags.partBytes, 1, uint64_t(1) << 40),
       .help = "With --overlap: bytes of dense gradients for one owner that "
               "are sent together",
       .isOffered = isEarly,
       .refusal = refuseEarly("--part-bytes"),
       .shownDefault = std::to_string(OverlapOptions().partBytes)},
      {.names = "--device-sums",
       .placeholder = "WHEN",
       .value =
           FlagValue::choice(flags.deviceSums, {{"auto", DeviceSumsUse::Auto},
                                                {"on", DeviceSumsUse::On},
                                                {"off", DeviceSumsUse::Off}}),
       .help = "Keep all parameters on the trainers' devices, which add the "
               "gradients of all trainers: off, on, or auto, if all trainers "
               "can. Needs numerics fast, or a single trainer",
       .isOffered = mode && mode->parametersWith == OwnerPlace::Trainers &&
                    descriptor.target != PDL_TARGET_CPU,
       .shownDefault = "auto"}};
}

FlagGroup pdlrt::clusterFlags(const pdl_descriptor &descriptor,
                              ClusterFlags &flags) {
  const Mode *mode = modeOfJob(descriptor);
  FlagGroup group = {"Trainers and servers",
                     joined(processFlags(mode, flags),
                            exchangeFlags(descriptor, mode, flags))};
  group.flags.push_back(silenceLimitFlag(flags, "a server"));
  group.flags.push_back(waitFlag(flags, "servers"));
  if (mode)
    return group;
  for (Flag &flag : group.flags) {
    flag.isOffered = false;
    flag.refusal =
        flag.names == "--device-sums"
            ? "--device-sums is for trainers that own parameters, but this "
              "program is one process, whose devices always add; leave it out, "
              "or translate the model with --mode=collective or --mode=hybrid"
            : flag.names +
                  " is for trainers with servers, but this program is one "
                  "process; leave it out, or translate the model with " +
                  serverModeFlags();
  }
  return group;
}

/// Checks that the addresses which this mode needs are given, and no others.
static Status checkAddressFlags(const Mode &mode, const ClusterFlags &flags) {
  if (mode.needsServers() && flags.servers.empty())
    return Status::invalidArgument(
        mode.trainersOwn()
            ? fmt::format("--servers is required: in mode {} the rows of "
                          "tables are on servers; give their addresses, or "
                          "translate the model with --mode=collective",
                          mode.name)
            : "--servers is required: this program is a trainer whose state is "
              "on servers; give their addresses, or translate the model with "
              "--mode=local");
  if (!mode.needsServers() && !flags.servers.empty())
    return Status::invalidArgument(fmt::format(
        "--servers is not for mode {}, in which trainers own all state; give "
        "the addresses of all trainers with --peers instead, or translate the "
        "model with --mode=sync",
        mode.name));
  if (!mode.trainersOwn() && (!flags.peers.empty() || !flags.bind.empty()))
    return Status::invalidArgument(fmt::format(
        "--peers and --bind are for trainers that own state, but in mode {} "
        "servers do; leave them out, or translate the model with "
        "--mode=collective or --mode=hybrid",
        mode.name));
  const auto peers = int64_t(flags.peers.size());
  const bool isAlone = flags.trainers == 1 && peers == 0;
  if (mode.trainersOwn() && peers != flags.trainers && !isAlone)
    return Status::invalidArgument(fmt::format(
        "--peers has {} addresses, but the job has {} trainers, each of which "
        "owns a part of the state; give the addresses of all of them, in the "
        "order of their ranks",
        peers, flags.trainers));
  PDLRT_RETURN_IF_ERROR(checkAddresses("--servers", flags.servers));
  PDLRT_RETURN_IF_ERROR(checkAddresses("--peers", flags.peers));
  std::vector<std::string> all = flags.servers;
  all.insert(all.end(), flags.peers.begin(), flags.peers.end());
  return checkAddresses("the list of --servers and --peers", all);
}

/// Checks this trainer's rank, and the addresses of the other processes.
static Status checkPlace(const Mode &mode, const ClusterFlags &flags) {
  PDLRT_RETURN_IF_ERROR(checkAddressFlags(mode, flags));
  if (flags.rank >= flags.trainers)
    return Status::invalidArgument(
        fmt::format("--rank {} is none of the {} trainers, which are numbered "
                    "from 0 to {}",
                    flags.rank, flags.trainers, flags.trainers - 1));
  return {};
}

static Status checkTrainerFlags(const Mode &mode, const ClusterFlags &flags,
                                const SessionOptions &options) {
  const bool holdsValues = mode.trainersApply;
  if (options.groups != 1)
    return Status::invalidArgument(fmt::format(
        "--replicas {}x{} has {} groups, but a trainer with servers is one "
        "group; give --replicas 1x{}, and start {} trainers",
        options.groups, options.workers, options.groups, options.workers,
        options.groups));
  if (!options.dump.empty() && !holdsValues)
    return Status::invalidArgument(
        "--dump is not for a trainer with servers, which hold the values; give "
        "--checkpoint FOLDER, of which 'pdl-checkpoint dump FOLDER -o FILE' "
        "makes the same file");
  if (!options.dumpBatches.empty())
    return Status::invalidArgument(
        "--dump-batches is not for a trainer with servers; "
        "leave it out");
  if (!options.initFrom.empty() && !mode.trainersOwn())
    return Status::invalidArgument(
        "--init-from is not for a trainer with servers, "
        "which hold the values; give it to the servers");
  return {};
}

/// If pushes are requested to run concurrently with steps, checks that they
/// can.
static Status checkPushes(const pdl_descriptor &descriptor,
                          const ClusterFlags &flags) {
  const Mode &mode = modeOf(descriptor);
  if (flags.pushQueue == 0)
    return flags.maxMerge == 1
               ? Status()
               : Status::invalidArgument(fmt::format(
                     "--max-merge {} merges steps while a push is under way, "
                     "but each step waits for its own; {}leave it out",
                     flags.maxMerge,
                     mode.workersSend ? "give --push-queue 1 too, or " : ""));
  if (!mode.workersSend)
    return Status::invalidArgument(fmt::format(
        "--push-queue {} is for workers that send by themselves, but this "
        "program is of mode {}; leave it out, or translate the model with "
        "--mode=async",
        flags.pushQueue, mode.name));
  if (flags.onFailure == FailurePolicy::Wait)
    return Status::invalidArgument(
        "--push-queue is not for --on-failure=wait: which steps were merged, "
        "and which pushes have reached which server, is lost with a trainer "
        "that dies; leave one of the two out");
  return {};
}

/// If dense gradients are requested to be sent early, checks that they can.
static Status checkOverlap(const Mode &mode, const ClusterFlags &flags) {
  // `checkOffered` refuses the flags of other modes.
  if (!mode.gradientsMayLeaveEarly())
    return {};
  const bool isPacked = flags.packGradients != GradientPacking::None;
  if (flags.overlap == Overlap::On && isPacked)
    return Status::invalidArgument(
        "--overlap on is not for --pack-gradients: gradients are packed when "
        "all of them are there; leave one of the two out");
  if (!flags.partBytes)
    return {};
  const std::string other = flags.overlap == Overlap::Off ? "--overlap off"
                            : isPacked ? std::string("--pack-gradients ") +
                                             nameOf(flags.packGradients)
                                       : std::string();
  if (!other.empty())
    return Status::invalidArgument(
        "--part-bytes is for gradients that leave early, "
        "and with " +
        other + " none does; leave one of the two out");
  return {};
}

/// If devices are requested to sum gradients, checks that they can.
static Status checkDeviceSums(const pdl_descriptor &descriptor,
                              const ClusterFlags &flags, int trainers) {
  const Mode &mode = modeOf(descriptor);
  if (!flags.deviceSums)
    return {};
  if (mode.parametersWith != OwnerPlace::Trainers)
    return Status::invalidArgument(fmt::format(
        "--device-sums is for modes in which trainers own parameters, but this "
        "program is of mode {}; leave it out, or translate the model with "
        "--mode=collective or --mode=hybrid",
        mode.name));
  if (flags.deviceSums != DeviceSumsUse::On)
    return {};
  if (descriptor.target == PDL_TARGET_CPU)
    return Status::invalidArgument(
        "--device-sums on is for a program that was "
        "translated with --target=cuda; leave it out, or "
        "translate the model again");
  if (descriptor.numerics == PDL_NUMERICS_STRICT && trainers > 1)
    return Status::invalidArgument(
        "--device-sums on is for numerics fast, since owners "
        "add in the order of strict ones; leave it out, or "
        "translate the model with --numerics=fast");
  return {};
}

Status pdlrt::takeClusterFlags(const pdl_descriptor &descriptor,
                               const ClusterFlags &flags,
                               SessionOptions &options) {
  if (descriptor.role != PDL_ROLE_TRAINER)
    return {};
  const Mode &mode = modeOf(descriptor);
  // Check the addresses first. If they are right, further errors can be
  // reported to the other processes.
  PDLRT_RETURN_IF_ERROR(checkPlace(mode, flags));
  DistributedOptions cluster;
  cluster.rank = int(flags.rank);
  cluster.trainers = int(flags.trainers);
  cluster.servers = flags.servers;
  cluster.peers = flags.peers;
  // The owner in this process needs an address. Without --peers, no other
  // process uses it, so it is random.
  if (mode.trainersOwn() && flags.peers.empty())
    cluster.peers = {fmt::format("unix:@pdl-trainer-{:016x}", drawNumber())};
  if (mode.trainersOwn()) {
    Expected<ListenPlace> place =
        choosePlace(fmt::format("trainer {}", flags.rank),
                    cluster.peers[flags.rank], flags.bind,
                    /*hasToken=*/!flags.tokenFile.empty());
    if (!place)
      return place.status();
    options.ownerPlace = std::move(*place);
  }
  cluster.job = flags.job;
  if (!flags.tokenFile.empty()) {
    Expected<std::string> token =
        readTokenFile("--token-file", flags.tokenFile);
    if (!token)
      return token.status();
    cluster.token = std::move(*token);
  }
  cluster.placement = flags.placement;
  const bool waits = flags.onFailure == FailurePolicy::Wait;
  cluster.silenceLimit =
      waits ? ClockTime::zero() : secondsOf(flags.silenceLimit);
  cluster.mayRejoin = waits;
  cluster.keyPacking = flags.packKeys;
  cluster.gradientPacking = flags.packGradients;
  constexpr double forEver = 1e9;
  cluster.joinPatience =
      secondsOf(flags.joinPatience > 0 ? flags.joinPatience : forEver);
  options.distributed = cluster;
  PDLRT_RETURN_IF_ERROR(checkTrainerFlags(mode, flags, options));
  PDLRT_RETURN_IF_ERROR(checkMayWait(descriptor, flags.onFailure));
  cluster.geoSteps = flags.geoSteps;
  PDLRT_RETURN_IF_ERROR(
      checkPacking(descriptor, cluster.gradientPacking, cluster.mayRejoin));
  PDLRT_RETURN_IF_ERROR(checkPushes(descriptor, flags));
  cluster.pushes = {flags.pushQueue, flags.maxMerge};
  PDLRT_RETURN_IF_ERROR(checkOverlap(mode, flags));
  cluster.overlap.overlap = flags.overlap;
  if (flags.partBytes)
    cluster.overlap.partBytes = *flags.partBytes;
  PDLRT_RETURN_IF_ERROR(checkDeviceSums(descriptor, flags, cluster.trainers));
  cluster.deviceSums = flags.deviceSums.value_or(DeviceSumsUse::Auto);
  options.printsFigures = cluster.rank == 0 || flags.printFigures;
  options.groups = cluster.trainers;
  options.distributed = std::move(cluster);
  return {};
}
