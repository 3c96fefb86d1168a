//===- TrainerOwner.cpp - Owner of state in a trainer ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/TrainerOwner.h"

#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/StopSignal.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <utility>

using namespace pdlrt;

/// Minimum time that the other trainers have to join this owner. Trainers may
/// load for a long time, and not equally long.
static constexpr std::chrono::minutes minJoinLimit(10);

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
  host.packGradients = cluster.gradientPacking;
  host.tableBound = options.tableBound;
  host.threads = options.threads;
  host.silenceLimit = cluster.silenceLimit;
  host.joinLimit = std::max<ClockTime>(minJoinLimit, cluster.joinPatience);
  return host;
}

Status TrainerOwner::start(uint64_t seed) {
  const DistributedOptions &cluster = *options.distributed;
  Expected<Placement> map = placementOf(descriptor, cluster);
  if (!map)
    return map.status();
  placement = std::make_unique<const Placement>(std::move(*map));
  running = std::make_unique<StateHost>(
      *options.ownerProgram, *placement,
      hostOptionsOf(options, cluster, seed,
                    placement->ownerOfTrainer(cluster.rank)),
      options.transport->clock());
  if (Status status =
          running->listen(*options.transport, options.ownerPlace.address);
      !status.ok()) {
    running.reset();
    isAddressTaken = true;
    return status;
  }
  logInfo(fmt::format("trainer {} of {}: owns a part of the state, listening "
                      "at {}",
                      cluster.rank, cluster.trainers, running->address()));
  running->load();
  return {};
}

void TrainerOwner::end(const Status &outcome) {
  if (!running)
    return;
  ServerCore &core = running->core();
  // Tells the owner of the failure directly: this trainer may have failed
  // before it joined the owner.
  if (!outcome.ok() && options.distributed)
    core.failWithTrainer(uint32_t(options.distributed->rank), outcome);
  running->waitUntilOver([] {});
  const JobStatus status = core.status();
  if (outcome.ok() && status.state == JobState::Failed)
    logWarning("this trainer has done its part, but not all of the others: " +
               status.message);
  running->announceExit(
      exitAnnouncementLimit(/*afterSignal=*/stopSignal() != 0));
  if (!running->isLoaded())
    logInfo(running->name() + ": ends when it has loaded");
  // The owner has no log, which is the only thing that could fail.
  (void)running->finish();
  running.reset();
}
