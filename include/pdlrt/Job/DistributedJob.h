//===- DistributedJob.h - Trainer in a distributed job ----------*- C++ -*-===//
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

/// Placement of parameters on devices, for trainers that own parameters: if all
/// of them keep all parameters on devices, the devices sum the gradients. Auto:
/// if all trainers can. On: otherwise the job does not start. Off: never.
enum class DeviceSumsUse { Auto, On, Off };

/// Configuration of a trainer in a distributed job. Equal for all trainers and
/// servers of a job, except for ranks.
struct DistributedOptions {
  int rank = 0;
  int trainers = 1;
  /// Addresses of all servers, in rank order; empty if trainers own all state.
  std::vector<std::string> servers;
  /// If trainers own state: addresses of all trainers, in rank order.
  std::vector<std::string> peers;
  /// Name that servers compare, so that no trainer joins another job by
  /// mistake.
  std::string job;
  /// Secret of the job; empty: none. The transport has it too.
  std::string token;
  PlacementPolicy placement = PlacementPolicy::LeastLoaded;
  /// Silence after which a server is lost. Zero disables the limit.
  ClockTime silenceLimit = std::chrono::seconds(10);
  /// True if servers wait for a trainer that died, so that its restart
  /// continues where it was. Equal for all processes of the job.
  bool mayRejoin = false;
  /// Packing of sent keys and gradients. The gradient packing must be equal for
  /// all processes of the job, and the descriptor must contain it
  /// (PackedTraining.h).
  KeyPacking keyPacking = KeyPacking::None;
  GradientPacking gradientPacking = GradientPacking::None;
  /// Mode geo: number of steps between exchanges, at least 1. Equal for all
  /// trainers.
  int64_t geoSteps = pdlabi::defaultGeoSteps;
  /// Options of pushes, for workers that send by themselves.
  PushOptions pushes;
  /// Options for sending dense gradients early, in modes that allow it.
  OverlapOptions overlap;
  /// Used by trainers that compute on devices.
  DeviceSumsUse deviceSums = DeviceSumsUse::Auto;
  /// Maximum time for servers to start.
  ClockTime joinPatience = std::chrono::seconds(60);
};

/// Values of a run for the handshake.
struct RunOptions {
  int workers = 1;
  uint64_t seed = 0;
  /// Steps of the checkpoint that the run resumes from; 0 for a fresh start.
  int64_t startStep = 0;
  /// Folder of its checkpoints; empty: none.
  std::string checkpoint = {};
  /// True if it resumes from a checkpoint, if there is one.
  bool resume = false;
};

/// Returns the placement of a trainer's program in its job.
Expected<Placement> placementOf(const pdl_descriptor &descriptor,
                                const DistributedOptions &options);

/// Joins all owners of a job's state: servers and trainers, including this
/// trainer's own owner, which must listen already. Blocks until all have
/// joined; a stop signal ends the wait. `descriptor` must have role trainer; it
/// and the transport must outlive the job.
Expected<std::unique_ptr<Job>> joinJob(const pdl_descriptor &descriptor,
                                       const DistributedOptions &options,
                                       const RunOptions &run,
                                       Transport &transport);

/// Returns true if any server of the job responds within two seconds, even with
/// a refusal. Blocks.
bool anyServerResponds(const DistributedOptions &options, Transport &transport);

/// Tells the servers of a job, and its other trainers if they own state, that
/// this trainer cannot take part, and why, so that they do not wait for it.
/// Best effort: tries for some seconds, or for up to a minute while servers say
/// that they load. A stop signal ends it.
void announceFailure(const pdl_descriptor &descriptor,
                     const DistributedOptions &options, Transport &transport,
                     const Status &failure);

} // namespace pdlrt

#endif // PDLRT_JOB_DISTRIBUTEDJOB_H
