//===- TrainOwner.cpp - A trainer that owns a part of the state -----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/TrainCommand.h"

#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/StopSignal.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <utility>

using namespace pdlrt;

/// Who joins none of the others for that long ends them all. Loading may take
/// long, and is over at different times.
static constexpr std::chrono::minutes leastJoinLimit(10);

static HostOptions hostOptionsOf(const SessionOptions &options,
                                 const DistributedOptions &cluster,
                                 uint64_t seed, int32_t owner) {
  HostOptions host;
  host.owner = owner;
  host.trainers = cluster.trainers;
  host.job = cluster.job;
  host.seed = seed;
  host.initFrom = options.initFrom;
  host.initValuesOnly = options.initValuesOnly;
  host.acceptOldLayout = options.acceptOldLayout;
  host.checkpoint = options.checkpoint;
  host.resume = options.resume;
  host.saves = SaveFolder(options.checkpoint);
  if (!options.emergencyCheckpoint.empty())
    host.saves.allowAlso(options.emergencyCheckpoint);
  host.packGradients = nameOf(cluster.gradientPacking);
  host.tableBound = options.tableBound;
  host.threads = options.threads;
  host.silenceLimit = cluster.silenceLimit;
  host.joinLimit = std::max<ClockTime>(leastJoinLimit, cluster.joinPatience);
  return host;
}

/// Listens and begins to load, where trainers own state.
Status TrainCommand::startOwner() {
  if (!options.ownerProgram || !options.distributed)
    return {};
  const DistributedOptions &cluster = *options.distributed;
  Expected<uint64_t> seed =
      seedOfStart(options.seed, resumedCheckpoint(), options.initFrom);
  if (!seed)
    return seed.status();
  startSeed = *seed;
  Expected<Placement> map = placementOf(descriptor, cluster);
  if (!map)
    return map.status();
  ownerPlacement = std::make_unique<const Placement>(std::move(*map));
  owner = std::make_unique<StateHost>(
      *options.ownerProgram, *ownerPlacement,
      hostOptionsOf(options, cluster, *seed,
                    ownerPlacement->ownerOfTrainer(cluster.rank)),
      options.transport->clock());
  if (Status status =
          owner->listen(*options.transport, options.ownerPlace.address);
      !status.ok()) {
    owner.reset();
    // Another start of this trainer may have its address, and live.
    saysFailure = false;
    return status;
  }
  logInfo(fmt::format("trainer {} of {}: owns a part of the state, listening "
                      "at {}",
                      cluster.rank, cluster.trainers, owner->address()));
  owner->load();
  return {};
}

/// Serves on until all trainers have left: this one may be the first. Where it
/// has failed, the others are told.
void TrainCommand::endOwner(const Status &outcome) {
  if (!owner)
    return;
  ServerCore &core = owner->core();
  // It may have failed before it joined its own owner.
  if (!outcome.ok() && options.distributed)
    core.failWithTrainer(uint32_t(options.distributed->rank),
                         outcome.message());
  owner->waitUntilOver([] {});
  const JobStatus status = core.status();
  if (outcome.ok() && status.state == JobState::Failed)
    logWarning("this trainer has done its part, but not all of the others: " +
               status.sentence);
  owner->sayFarewell(farewellLimit(/*afterSignal=*/stopSignal() != 0));
  if (!owner->isLoaded())
    logInfo(owner->name() + ": ends when it has loaded");
  // It keeps no log, which is all that could fail.
  (void)owner->finish();
  owner.reset();
}
