//===- DistributedJob.h - A trainer among trainers and servers --*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_JOB_DISTRIBUTEDJOB_H
#define PDLRT_JOB_DISTRIBUTEDJOB_H

#include "pdlabi/defaults.h"
#include "pdlrt/Core/Clock.h"
#include "pdlrt/Engine/Overlap.h"
#include "pdlrt/Engine/PushQueue.h"
#include "pdlrt/Job/Job.h"
#include "pdlrt/Protocol/Packing.h"
#include "pdlrt/State/Placement.h"
#include "pdlrt/Transport/Transport.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace pdlrt {

/// Whether trainers that own parameters have all of them on their devices,
/// which then add gradients: where all can; or else the job does not begin; or
/// never.
enum class DeviceSumsUse { Auto, On, Off };

/// Where a trainer finds its job. All trainers and servers of a job get the
/// same, but for their ranks.
struct DistributedOptions {
  int rank = 0;
  int trainers = 1;
  /// Addresses of all servers, in the order of their ranks; none where
  /// trainers own all state.
  std::vector<std::string> servers;
  /// Where trainers own state: addresses of all trainers, in the order of their
  /// ranks.
  std::vector<std::string> peers;
  /// A name that servers compare, so that nobody joins another job by mistake.
  std::string job;
  /// The job's secret; empty: none. The transport knows it.
  std::string token;
  PlacementPolicy placement = PlacementPolicy::LeastLoaded;
  /// A server that nothing has been heard of for that long is lost. Zero: wait
  /// for ever.
  ClockTime silenceLimit = std::chrono::seconds(10);
  /// Whether servers wait for a trainer that died: then a new start of it goes
  /// on where the earlier one ended. The same for all processes of the job.
  bool mayComeBack = false;
  /// How what it sends is packed. Of gradients the same for all processes of
  /// the job, whose program says so (PackedTraining.h).
  KeyPacking keyPacking = KeyPacking::None;
  GradientPacking gradientPacking = GradientPacking::None;
  /// Mode geo: how many steps apart exchanges are, at least 1. The same for all
  /// trainers.
  int64_t geoSteps = pdlabi::defaultGeoSteps;
  /// How pushes travel, where workers send by themselves.
  PushOptions pushes;
  /// Whether dense gradients leave early, in modes in which they may.
  OverlapOptions overlap;
  /// Of trainers that compute on devices.
  DeviceSumsUse deviceSums = DeviceSumsUse::Auto;
  /// How long servers may take to start.
  ClockTime joinPatience = std::chrono::seconds(60);
};

/// What a run is, for the handshake.
struct RunOptions {
  int workers = 1;
  uint64_t seed = 0;
  /// Steps of the checkpoint that the run goes on from; 0 for a fresh start.
  int64_t startStep = 0;
  /// The folder of its checkpoints; empty: none.
  std::string checkpoint = {};
  /// Whether it goes on from a checkpoint, should there be one.
  bool resume = false;
};

/// The map of a trainer's program for its job.
Expected<Placement> placementOf(const pdl_descriptor &descriptor,
                                const DistributedOptions &options);

/// Joins all owners of a job's state, servers and trainers (this one's own,
/// too: it listens already); blocks until they are there. A stop signal ends
/// the waiting. `descriptor` is of role trainer; it and the transport outlive
/// the job.
Expected<std::unique_ptr<Job>> joinJob(const pdl_descriptor &descriptor,
                                       const DistributedOptions &options,
                                       const RunOptions &run,
                                       Transport &transport);

/// Returns whether any server of the job answers within two seconds, even with
/// a refusal. Blocks.
bool anyServerAnswers(const DistributedOptions &options, Transport &transport);

/// Tells the servers of a job, and its other trainers where they own state,
/// that this trainer cannot take part, and why, so that nobody waits for it.
/// Best effort: for some seconds, and for a minute at most while servers say
/// that they load. A stop signal ends that.
void announceFailure(const pdl_descriptor &descriptor,
                     const DistributedOptions &options, Transport &transport,
                     const Status &failure);

} // namespace pdlrt

#endif // PDLRT_JOB_DISTRIBUTEDJOB_H
