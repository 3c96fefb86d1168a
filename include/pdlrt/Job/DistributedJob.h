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

/// Selects whether devices of all trainers sum the gradients of parameters, in
/// modes in which trainers own parameters. It requires that all trainers keep
/// all parameters on devices, and with several trainers numerics fast. Auto: if
/// all trainers can. On: the job does not start if a trainer cannot; the caller
/// must have checked the numerics. Off: never.
enum class DeviceSumsUse { Auto, On, Off };

/// Configuration of a trainer in a distributed job. Addresses, `trainers`,
/// `job`, `token`, `placement`, `mayRejoin` and `gradientPacking` must be equal
/// for all trainers of the job, and for its servers. The other values may
/// differ, except where noted.
struct DistributedOptions {
  int rank = 0;
  int trainers = 1;
  /// Addresses of all servers, in the order of ranks; empty if trainers own all
  /// state.
  std::vector<std::string> servers;
  /// Addresses of all trainers, in the order of ranks, in modes in which
  /// trainers own state; otherwise empty.
  std::vector<std::string> peers;
  /// Name of the job. Servers refuse trainers with another name, so that no
  /// trainer joins another job by mistake.
  std::string job;
  /// Secret of the job; empty: none. The transport must have the same secret.
  std::string token;
  PlacementPolicy placement = PlacementPolicy::LeastLoaded;
  /// Maximum time without a message from a server, heartbeats included. After
  /// it, the server counts as lost. Zero disables the limit.
  ClockTime silenceLimit = std::chrono::seconds(10);
  /// True with --on-failure=wait: servers wait for the restart of a trainer
  /// that has died, which then continues where it was. In modes without
  /// `Mode::restartsContinue`, the job fails instead if the trainer has sent
  /// requests. Must be equal for all processes of the job.
  bool mayRejoin = false;
  /// Encoding of sent keys and of sent gradients. The encoding of gradients
  /// must be equal for all processes of the job, and the descriptor must
  /// contain it (PackedTraining.h).
  KeyPacking keyPacking = KeyPacking::None;
  GradientPacking gradientPacking = GradientPacking::None;
  /// In mode geo, number of steps between exchanges, at least 1. Must be equal
  /// for all trainers.
  int64_t geoSteps = pdlabi::defaultGeoSteps;
  /// Options of pushes in the background, for modes in which workers send
  /// independently.
  PushOptions pushes;
  /// Options for sending dense gradients early, in modes that allow it.
  OverlapOptions overlap;
  /// See DeviceSumsUse. Has no effect on trainers that compute on the host.
  DeviceSumsUse deviceSums = DeviceSumsUse::Auto;
  /// Maximum time for servers to start; must be positive.
  ClockTime joinPatience = std::chrono::seconds(60);
};

/// Values of a run that the handshake tells servers, which compare them with
/// their own.
struct RunOptions {
  int workers = 1;
  uint64_t seed = 0;
  /// Steps of the checkpoint that the run resumes from; 0 for a fresh start.
  int64_t startStep = 0;
  /// Folder of the run's checkpoints; empty: none.
  std::string checkpoint = {};
  /// True if the run resumes from the newest checkpoint if there is one
  /// (--resume).
  bool resume = false;
};

/// Returns the placement of the program's state on the owners of the job.
Expected<Placement> placementOf(const pdl_descriptor &descriptor,
                                const DistributedOptions &options);

/// Joins all owners of a job's state: the servers and, in modes in which
/// trainers own state, the owners in all trainers. The owner in this process
/// must already listen. Blocks until all owners have accepted the join; a stop
/// signal ends the wait. `descriptor` must have role trainer. It and the
/// transport must outlive the job.
Expected<std::unique_ptr<Job>> joinJob(const pdl_descriptor &descriptor,
                                       const DistributedOptions &options,
                                       const RunOptions &run,
                                       Transport &transport);

/// Returns true if any server of the job responds within two seconds, even if
/// it refuses this process. Blocks.
bool anyServerResponds(const DistributedOptions &options, Transport &transport);

/// Reports to all owners of the job's state that this trainer cannot take part,
/// with the reason `failure`, so that they do not wait for it. Tries for some
/// seconds; while servers respond that they are loading, for up to a minute.
/// Then gives up without an error. A stop signal ends the attempts.
void announceFailure(const pdl_descriptor &descriptor,
                     const DistributedOptions &options, Transport &transport,
                     const Status &failure);

} // namespace pdlrt

#endif // PDLRT_JOB_DISTRIBUTEDJOB_H
