//===- Job.h - Processes that train one model -------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_JOB_JOB_H
#define PDLRT_JOB_JOB_H

#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Engine/StepEngine.h"
#include "pdlrt/Sched/Scheduler.h"
#include "pdlrt/State/Model.h"
#include "pdlrt/Table/EmbeddingTable.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pdlrt {

class Device;
class RecoveryChannel;
class StateHost;

/// Part of a save that runs while training continues.
class RestOfSave {
public:
  virtual ~RestOfSave();
  /// Completes the save. Call once, on any thread, possibly concurrently with
  /// calls of the job; must return before the job is destroyed. `writer` and
  /// `manifest` are those of `beginSave`.
  virtual Status finish(CheckpointWriter &writer,
                        CheckpointManifest &manifest) = 0;
};

/// Scope of a save of tables: all rows, or changes since the save that owners
/// of state call `since` (ServerCheckpoint.h). An owner that does not know that
/// save stores all its rows.
struct SaveScope {
  SavedRows rows = SavedRows::All;
  std::string since = {};
};

/// Communication of a process with the others of its job. Functions marked as
/// collective must be called by all processes, in the same order; they block
/// until all have called. An error ends the job for this process. Only one
/// thread may use a job, except where noted.
class Job {
public:
  virtual ~Job();

  /// Returns the rank of this process, from 0. Rank 0 writes checkpoints.
  virtual int rank() const = 0;
  virtual StateLocation stateLocation() const = 0;
  /// Sets the devices of this process (none: it computes on the host) and its
  /// owner of state. Collective; call before the model is created. If trainers
  /// own parameters, they may then keep all of them on devices, as
  /// `stateLocation` reports. Devices and owner must outlive the job.
  virtual Status bringDevices(std::span<Device *const> devices,
                              StateHost &owner);
  /// Returns which of the job's `groups` groups run in this process.
  virtual ReplicaLayout layout(int groups, int workers) const = 0;

  /// Creates an engine for a program of the model. Model, program, scheduler
  /// and job must outlive it. A job has only one model.
  virtual Expected<std::unique_ptr<StepEngine>>
  createEngine(Model &model, const pdl_program &program,
               const ReplicaLayout &layout, Scheduler &scheduler) = 0;

  /// Replaces the numbers by their sums over all processes, in rank order.
  /// Collective; all must pass the same number of them.
  virtual Status sum(std::span<int64_t> counts, std::span<double> sums) = 0;

  /// Merges the changes that processes made independently, so that all hold the
  /// same values. Collective; call at the end of an epoch.
  virtual Status settle() { return {}; }

  /// Checks that all processes that write parts of checkpoints see `folder` of
  /// the first process and can write there. Collective; call before the first
  /// step. `plan` has the settings of these checkpoints, for servers that save
  /// without trainers.
  virtual Status checkSaveFolder(const std::string &folder,
                                 const CheckpointManifest &plan);
  /// Starts a save of the current values, slots and step counts: the files into
  /// the folder of `writer`, and their descriptions into `manifest`.
  /// Collective; an earlier save must have ended. Returns the part of the save
  /// that runs while training continues; null if there is none. The first
  /// process then adds the remaining files and commits.
  virtual Expected<std::unique_ptr<RestOfSave>>
  beginSave(Model &model, CheckpointWriter &writer,
            CheckpointManifest &manifest, const SaveScope &scope) = 0;

  /// Returns the step of the checkpoint that owners in other processes resume
  /// from; nothing if there are none.
  virtual std::optional<int64_t> startStep() const { return {}; }

  /// Returns the channel for the recovery records of this process. Returns null
  /// if no other process waits for a restart of this one.
  virtual RecoveryChannel *recovery() { return nullptr; }

  /// Returns a number that identifies the job: the same for each incarnation of
  /// its processes. 0: no process can replace another one.
  virtual uint64_t id() const { return 0; }

  /// Reports how this process ended, with the reason of a failure. Must be the
  /// last call.
  virtual void leave(const Status &outcome) = 0;
};

/// Starts a save in a process that holds all values, slots and step counts (see
/// `Job::beginSave`).
Expected<std::unique_ptr<RestOfSave>>
beginLocalSave(Model &model, CheckpointWriter &writer,
               CheckpointManifest &manifest, SavedRows rows);

/// Creates the job of a single process, which owns all state. `isHogwild` is
/// true if workers update the state without waiting for each other
/// (AsyncEngine.h).
std::unique_ptr<Job> createLocalJob(bool isHogwild);

} // namespace pdlrt

#endif // PDLRT_JOB_JOB_H
