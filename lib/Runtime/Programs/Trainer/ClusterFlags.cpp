//===- ClusterFlags.cpp - Flags of a trainer with servers -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/ClusterFlags.h"

#include "pdlrt/Abi/Mode.h"
#include "pdlrt/Core/FlagValues.h"
#include "pdlrt/Core/ParseFlags.h"
#include "pdlrt/Core/RandomNumber.h"
#include "pdlrt/Core/TokenFile.h"
#include "pdlrt/Job/StateHost.h"
#include "pdlrt/Protocol/PackedTraining.h"
#include "pdlrt/Transport/Address.h"

#include <fmt/format.h>

using namespace pdlrt;

static constexpr int64_t maxTrainers = 4096;
/// Each of them has a copy of all gradients of a step.
static constexpr int64_t mostQueuedPushes = 64, mostMergedSteps = 1024;

static constexpr const char *clusterFlagNames[] = {
    "--rank",           "--trainers",      "--servers",    "--peers",
    "--bind",           "--job",           "--token-file", "--placement",
    "--on-failure",     "--silence-limit", "--wait",       "--pack-keys",
    "--pack-gradients", "--geo-steps",     "--push-queue", "--max-merge",
    "--overlap",        "--part-bytes",    "--device-sums"};

/// The mode of a program of several processes; null of another one.
static const Mode *modeOfJob(const pdl_descriptor &descriptor) {
  return descriptor.role == PDL_ROLE_TRAINER ? &modeOf(descriptor) : nullptr;
}

void pdlrt::addClusterFlags(CLI::App &command, const pdl_descriptor &descriptor,
                            ClusterFlags &flags) {
  const Mode *mode = modeOfJob(descriptor);
  const std::string group = mode ? "Trainers and servers" : "";
  command
      .add_option("--servers", flags.servers,
                  "Addresses of all servers, in the order of their ranks: "
                  "HOST:PORT or unix:PATH, separated by commas")
      ->delimiter(',')
      ->type_name("A,B")
      ->group(mode && mode->needsServers() ? group : "");
  const std::string ownersGroup = mode && mode->trainersOwn() ? group : "";
  command
      .add_option("--peers", flags.peers,
                  "Addresses of all trainers, this one too, in the order of "
                  "their ranks: each owns a part of the state. One trainer "
                  "alone needs none")
      ->delimiter(',')
      ->type_name("A,B")
      ->group(ownersGroup);
  command
      .add_option("--bind", flags.bind,
                  "Listen here instead of at this trainer's own address in "
                  "--peers (such as 0.0.0.0:7101). An address that other "
                  "machines reach needs this or --token-file: whoever reaches "
                  "it and knows --job and the secret may take part")
      ->type_name("ADDRESS")
      ->group(ownersGroup);
  command
      .add_option("--rank", flags.rank, "The number of this trainer, from 0")
      ->type_name("N")
      ->transform(wholeNumber(0, maxTrainers))
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--trainers", flags.trainers,
                  "How many trainers the job has. Part of the result: they "
                  "train as one process with --replicas TRAINERSxW does")
      ->type_name("N")
      ->transform(wholeNumber(1, maxTrainers))
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--job", flags.job,
                  "A name of the job; a server of another one refuses")
      ->type_name("NAME")
      ->group(group);
  command
      .add_option("--token-file", flags.tokenFile,
                  "A file with a secret of at least 16 bytes in its first "
                  "line, which all processes of the job share and nobody else "
                  "may read")
      ->type_name("FILE")
      ->check(notEmpty())
      ->group(group);
  command
      .add_option("--placement", flags.placement,
                  "How blocks and shards are dealt to servers: least-loaded, "
                  "round-robin or hash-name. Never changes a result")
      ->type_name("POLICY")
      ->capture_default_str()
      ->group(group);
  command
      .add_option(
          "--on-failure", flags.onFailure,
          "When a server is silent: abort, or wait until it is back. With "
          "wait servers wait too, for a trainer that was killed and "
          "started again")
      ->type_name("WHAT")
      ->check(CLI::IsMember({"abort", "wait"}))
      ->capture_default_str()
      ->group(group);
  command
      .add_option(
          "--pack-keys", flags.packKeys,
          "How keys travel: none, or delta, which takes fewer bytes and "
          "more work. Never changes a result")
      ->type_name("HOW")
      ->check(CLI::IsMember({"none", "delta"}))
      ->capture_default_str()
      ->group(group);
  command
      .add_option(
          "--pack-gradients", flags.packGradients,
          "How gradients travel: none, or rounded to bf16 or int8. Part "
          "of the result; servers need the same flag")
      ->type_name("HOW")
      ->check(CLI::IsMember({"none", "bf16", "int8"}))
      ->capture_default_str()
      ->group(mode && mode->trainersApply ? "" : group);
  command
      .add_option("--geo-steps", flags.geoSteps,
                  "Steps from one exchange with servers to the next: what this "
                  "trainer has changed, divided by TRAINERS (in a group with "
                  "merge(sum): as it is), goes to them, and "
                  "what others have changed comes back. Slots of optimizers "
                  "and step counts stay with each trainer. Part of the result")
      ->type_name("N")
      ->transform(wholeNumber(1, int64_t(1) << 40))
      ->capture_default_str()
      ->group(mode && mode->trainersApply ? group : "");
  command
      .add_option(
          "--push-queue", flags.pushQueue,
          "Mode async: how many pushes of a worker may be under way to one "
          "server beside its next steps; 0: each step waits for its own. Part "
          "of the result: a step does not see the pushes under way")
      ->type_name("N")
      ->transform(wholeNumber(0, mostQueuedPushes))
      ->capture_default_str()
      ->group(mode && mode->workersSend ? group : "");
  command
      .add_option(
          "--max-merge", flags.maxMerge,
          "With --push-queue: steps of a worker that are merged into one push "
          "while servers are busy, as nn.group says by merge(mean) or "
          "merge(sum). Part of the result")
      ->type_name("K")
      ->transform(wholeNumber(1, mostMergedSteps))
      ->capture_default_str()
      ->group(mode && mode->workersSend ? group : "");
  command
      .add_option("--overlap", flags.overlap,
                  "Whether dense gradients leave while earlier layers still "
                  "compute: on, off, or auto, which tries some steps each way "
                  "and keeps what is faster. Never changes a result")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"auto", "on", "off"}))
      ->capture_default_str()
      ->group(mode && mode->gradientsMayLeaveEarly() ? group : "");
  command
      .add_option("--part-bytes", flags.partBytes,
                  "With --overlap: how many bytes of dense gradients for one "
                  "owner leave together")
      ->type_name("N")
      ->transform(wholeNumber(1, int64_t(1) << 40))
      ->capture_default_str()
      ->group(mode && mode->gradientsMayLeaveEarly() ? group : "");
  command
      .add_option(
          "--device-sums", flags.deviceSums,
          "Whether trainers have all parameters on their devices, which "
          "add the gradients of all of them: off, on, or auto, where "
          "all of them can. Numerics fast, or one trainer alone")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"auto", "on", "off"}))
      ->capture_default_str()
      ->group(mode && mode->parametersWith == OwnerPlace::Trainers &&
                      descriptor.target != PDL_TARGET_CPU
                  ? group
                  : "");
  command
      .add_option("--silence-limit", flags.silenceLimit,
                  "Seconds after which a server that is not heard of is lost; "
                  "0: never")
      ->type_name("SECONDS")
      ->check(secondsFlag())
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--wait", flags.joinPatience,
                  "Seconds that servers may take to start; 0: for ever")
      ->type_name("SECONDS")
      ->check(secondsFlag())
      ->capture_default_str()
      ->group(group);
}

/// Whether the addresses are those that a job of the mode needs.
static Status checkAddressFlags(const Mode &mode, const ClusterFlags &flags) {
  if (mode.needsServers() && flags.servers.empty())
    return Status::invalid(
        mode.trainersOwn()
            ? fmt::format("--servers is required: in mode {} the rows of "
                          "tables are on servers; give their addresses, or "
                          "translate the model with --mode=collective",
                          mode.name)
            : "--servers is required: this program is a trainer whose state is "
              "on servers; give their addresses, or translate the model with "
              "--mode=local");
  if (!mode.needsServers() && !flags.servers.empty())
    return Status::invalid(fmt::format(
        "--servers is not for mode {}, in which trainers own all state; give "
        "the addresses of all trainers with --peers instead, or translate the "
        "model with --mode=sync",
        mode.name));
  if (!mode.trainersOwn() && (!flags.peers.empty() || !flags.bind.empty()))
    return Status::invalid(fmt::format(
        "--peers and --bind are for trainers that own state, but in mode {} "
        "servers do; leave them out, or translate the model with "
        "--mode=collective or --mode=hybrid",
        mode.name));
  const auto peers = int64_t(flags.peers.size());
  const bool isAlone = flags.trainers == 1 && peers == 0;
  if (mode.trainersOwn() && peers != flags.trainers && !isAlone)
    return Status::invalid(fmt::format(
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

/// Whether it is known who this trainer is, and where the others are.
static Status checkPlace(const Mode &mode, const ClusterFlags &flags) {
  PDLRT_RETURN_IF_ERROR(checkAddressFlags(mode, flags));
  if (flags.rank >= flags.trainers)
    return Status::invalid(
        fmt::format("--rank {} is none of the {} trainers, which are numbered "
                    "from 0 to {}",
                    flags.rank, flags.trainers, flags.trainers - 1));
  return {};
}

static Status checkTrainerFlags(const Mode &mode, const ClusterFlags &flags,
                                const SessionOptions &options) {
  const bool holdsValues = mode.trainersApply;
  if (options.groups != 1)
    return Status::invalid(fmt::format(
        "--replicas {}x{} has {} groups, but a trainer with servers is one "
        "group; give --replicas 1x{}, and start {} trainers",
        options.groups, options.workers, options.groups, options.workers,
        options.groups));
  if (!options.dump.empty() && !holdsValues)
    return Status::invalid(
        "--dump is not for a trainer with servers, which hold the values; give "
        "--checkpoint FOLDER, of which 'pdl-checkpoint dump FOLDER -o FILE' "
        "makes the same file");
  if (!options.dumpBatches.empty())
    return Status::invalid("--dump-batches is not for a trainer with servers; "
                           "leave it out");
  if (!options.initFrom.empty() && !mode.trainersOwn())
    return Status::invalid("--init-from is not for a trainer with servers, "
                           "which hold the values; give it to the servers");
  return {};
}

/// Whether pushes can travel beside steps.
static Status checkPushes(const pdl_descriptor &descriptor,
                          const ClusterFlags &flags) {
  const Mode &mode = modeOf(descriptor);
  if (flags.pushQueue == 0)
    return flags.maxMerge == 1
               ? Status()
               : Status::invalid(fmt::format(
                     "--max-merge {} merges steps while a push is under way, "
                     "but each step waits for its own; {}leave it out",
                     flags.maxMerge,
                     mode.workersSend ? "give --push-queue 1 too, or " : ""));
  if (!mode.workersSend)
    return Status::invalid(fmt::format(
        "--push-queue {} is for workers that send by themselves, but this "
        "program is of mode {}; leave it out, or translate the model with "
        "--mode=async",
        flags.pushQueue, mode.name));
  if (flags.onFailure == "wait")
    return Status::invalid(
        "--push-queue is not for --on-failure=wait: which steps were merged, "
        "and which pushes have reached which server, is lost with a trainer "
        "that dies; leave one of the two out");
  return {};
}

/// Whether dense gradients can leave early, where that is asked for.
static Status checkOverlap(const CLI::App &command,
                           const pdl_descriptor &descriptor,
                           const ClusterFlags &flags) {
  const Mode &mode = modeOf(descriptor);
  if (!mode.gradientsMayLeaveEarly()) {
    for (const char *name : {"--overlap", "--part-bytes"})
      if (command.get_option(name)->count() > 0)
        return Status::invalid(fmt::format(
            "{} is for modes in which the sum of a trainer's workers goes to "
            "owners as it is, but this program is of mode {}; leave it out",
            name, mode.name));
    return {};
  }
  if (flags.overlap == "on" && flags.packGradients != "none")
    return Status::invalid(
        "--overlap on is not for --pack-gradients: gradients are packed when "
        "all of them are there; leave one of the two out");
  if (command.get_option("--part-bytes")->count() == 0)
    return {};
  const std::string beside = flags.overlap == "off" ? "--overlap off"
                             : flags.packGradients != "none"
                                 ? "--pack-gradients " + flags.packGradients
                                 : std::string();
  if (!beside.empty())
    return Status::invalid("--part-bytes is for gradients that leave early, "
                           "and with " +
                           beside + " none does; leave one of the two out");
  return {};
}

/// Whether devices can add gradients, where that is asked for.
static Status checkDeviceSums(const CLI::App &command,
                              const pdl_descriptor &descriptor,
                              const ClusterFlags &flags, int trainers) {
  const Mode &mode = modeOf(descriptor);
  if (command.get_option("--device-sums")->count() == 0)
    return {};
  if (mode.parametersWith != OwnerPlace::Trainers)
    return Status::invalid(fmt::format(
        "--device-sums is for modes in which trainers own parameters, but this "
        "program is of mode {}; leave it out, or translate the model with "
        "--mode=collective or --mode=hybrid",
        mode.name));
  if (flags.deviceSums != "on")
    return {};
  if (descriptor.target == PDL_TARGET_CPU)
    return Status::invalid("--device-sums on is for a program that was "
                           "translated with --target=cuda; leave it out, or "
                           "translate the model again");
  if (descriptor.numerics == PDL_NUMERICS_STRICT && trainers > 1)
    return Status::invalid(
        "--device-sums on is for numerics fast, since owners "
        "add in the order of strict ones; leave it out, or "
        "translate the model with --numerics=fast");
  return {};
}

Status pdlrt::takeClusterFlags(const CLI::App &command,
                               const pdl_descriptor &descriptor,
                               const ClusterFlags &flags,
                               SessionOptions &options) {
  if (descriptor.role != PDL_ROLE_TRAINER) {
    if (command.get_option("--device-sums")->count() > 0)
      return Status::invalid(
          "--device-sums is for trainers that own parameters, but this program "
          "is one process, whose devices always add; leave it out, or "
          "translate the model with --mode=collective or --mode=hybrid");
    for (const char *name : clusterFlagNames)
      if (command.get_option(name)->count() > 0)
        return Status::invalid(std::string(name) +
                               " is for trainers with servers, but this "
                               "program is one process; leave it out, or "
                               "translate the model with " +
                               serverModeFlags());
    return {};
  }
  const Mode &mode = modeOf(descriptor);
  // Where the others are comes first: they are told what is wrong with the
  // rest.
  PDLRT_RETURN_IF_ERROR(checkPlace(mode, flags));
  DistributedOptions cluster;
  cluster.rank = int(flags.rank);
  cluster.trainers = int(flags.trainers);
  cluster.servers = flags.servers;
  cluster.peers = flags.peers;
  // A name that nobody else needs.
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
  Expected<PlacementPolicy> policy = parsePlacementPolicy(flags.placement);
  if (!policy)
    return policy.status();
  cluster.placement = *policy;
  cluster.silenceLimit = flags.onFailure == "wait"
                             ? ClockTime::zero()
                             : secondsOf(flags.silenceLimit);
  cluster.mayComeBack = flags.onFailure == "wait";
  // The parser lets no other names pass.
  if (const auto packing = keyPackingOf(flags.packKeys))
    cluster.keyPacking = *packing;
  if (const auto packing = gradientPackingOf(flags.packGradients))
    cluster.gradientPacking = *packing;
  constexpr double forEver = 1e9;
  cluster.joinPatience =
      secondsOf(flags.joinPatience > 0 ? flags.joinPatience : forEver);
  options.distributed = cluster;
  PDLRT_RETURN_IF_ERROR(checkTrainerFlags(mode, flags, options));
  PDLRT_RETURN_IF_ERROR(checkMayWait(descriptor, flags.onFailure));
  if (command.get_option("--geo-steps")->count() > 0 && !mode.trainersApply)
    return Status::invalid(
        std::string("--geo-steps is for trainers that apply the rules "
                    "themselves, and in mode ") +
        mode.name + " servers do; leave it out");
  cluster.geoSteps = flags.geoSteps;
  PDLRT_RETURN_IF_ERROR(
      checkPacking(descriptor, cluster.gradientPacking, cluster.mayComeBack));
  PDLRT_RETURN_IF_ERROR(checkPushes(descriptor, flags));
  cluster.pushes = {flags.pushQueue, flags.maxMerge};
  PDLRT_RETURN_IF_ERROR(checkOverlap(command, descriptor, flags));
  cluster.overlap.overlap = flags.overlap == "on"    ? Overlap::On
                            : flags.overlap == "off" ? Overlap::Off
                                                     : Overlap::Auto;
  cluster.overlap.partBytes = flags.partBytes;
  PDLRT_RETURN_IF_ERROR(
      checkDeviceSums(command, descriptor, flags, cluster.trainers));
  cluster.deviceSums = flags.deviceSums == "on"    ? DeviceSumsUse::On
                       : flags.deviceSums == "off" ? DeviceSumsUse::Off
                                                   : DeviceSumsUse::Auto;
  options.groups = cluster.trainers;
  options.distributed = std::move(cluster);
  return {};
}
