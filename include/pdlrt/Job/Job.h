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
  /// Completes the save. Call once, on any thread, also concurrently with calls
  /// of the job. It must return before the job is destroyed. `writer` and
  /// `manifest` must be the arguments of `beginSave`.
  virtual Status finish(CheckpointWriter &writer,
                        CheckpointManifest &manifest) = 0;
};

/// Selects the rows of tables that are saved. If `rows` is Changed, these are
/// the rows that changed since the save with the name `since` (`saveNameOf` in
/// ServerCheckpoint.h). An owner of state whose last save has another name
/// saves all its rows.
struct SaveScope {
  SavedRows rows = SavedRows::All;
  std::string since = {};
};

/// Communication of a trainer process with the other processes of its job.
/// Functions that are called collective must be called by all trainer
/// processes, in the same order; most of them block until all have called them.
/// After an error, this process must end, except after a failed save. Only one
/// thread may use a job, except where noted.
class Job {
public:
  virtual ~Job();

  /// Returns the rank of this process, from 0. Rank 0 writes checkpoints.
  virtual int rank() const = 0;
  virtual StateLocation stateLocation() const = 0;
  /// Sets the devices of this process, and its owner of state. If `devices` is
  /// empty, the process computes on the host. Collective; call before the model
  /// is created. In modes in which trainers own parameters, trainers may keep
  /// all parameters on devices; `stateLocation` then reports it. Devices and
  /// owner must outlive the job.
  virtual Status bringDevices(std::span<Device *const> devices,
                              StateHost &owner);
  /// Returns the layout of `groups` groups with `workers` workers each: which
  /// of the groups run in this process.
  virtual ReplicaLayout layout(int groups, int workers) const = 0;

  /// Creates an engine for a program of the model. Model, program, scheduler
  /// and job must outlive the engine. A job has only one model.
  virtual Expected<std::unique_ptr<StepEngine>>
  createEngine(Model &model, const pdl_program &program,
               const ReplicaLayout &layout, Scheduler &scheduler) = 0;

  /// Replaces each number by its sum over all processes, added in the order of
  /// ranks. Collective. All processes must pass the same number of elements.
  virtual Status sum(std::span<int64_t> counts, std::span<double> sums) = 0;

  /// Merges the changes of all processes if each has its own copy of the model
  /// (mode geo), so that all copies are equal. Collective; call at the end of
  /// an epoch.
  virtual Status settle() { return {}; }

  /// Returns an error unless all processes that write files of checkpoints can
  /// write to the same folder `folder` as the first process. Collective; call
  /// before the first step. `plan` has the settings of these checkpoints, for
  /// servers that save without trainers.
  virtual Status checkSaveFolder(const std::string &folder,
                                 const CheckpointManifest &plan);
  /// Starts a save of the current values, slots and step counts. Writes files
  /// to the folder of `writer`, and adds their descriptions to `manifest`.
  /// Returns the part of the save that can run while training continues, or
  /// null if everything is written. The first process must then add the
  /// remaining files and commit. Collective; an earlier save must have ended.
  /// Training may continue after an error. If the job has failed, the next call
  /// returns its error.
  virtual Expected<std::unique_ptr<RestOfSave>>
  beginSave(Model &model, CheckpointWriter &writer,
            CheckpointManifest &manifest, const SaveScope &scope) = 0;

  /// Returns the number of steps of the checkpoint from which owners of state
  /// in other processes resume; nullopt if there are no such owners.
  virtual std::optional<int64_t> startStep() const { return {}; }

  /// Returns the channel for the recovery records of this process, or null if
  /// no other process would wait for a restart of this one.
  virtual RecoveryChannel *recovery() { return nullptr; }

  /// Returns the random number that server 0, or owner 0, drew for the job when
  /// it started. All processes of the job, and restarted ones, get the same
  /// number. Returns 0 if the job has only this process.
  virtual uint64_t id() const { return 0; }

  /// Reports to the other processes that this one ends, with success or the
  /// error `outcome`. Must be the last call.
  virtual void leave(const Status &outcome) = 0;
};

/// Implements `Job::beginSave` for a process that holds the whole state. `rows`
/// selects the rows of tables.
Expected<std::unique_ptr<RestOfSave>>
beginLocalSave(Model &model, CheckpointWriter &writer,
               CheckpointManifest &manifest, SavedRows rows);

/// Creates the job of a single process, which owns the whole state. `isHogwild`
/// is true if workers update the state without locks (AsyncEngine.h).
std::unique_ptr<Job> createLocalJob(bool isHogwild);

} // namespace pdlrt

#endif // PDLRT_JOB_JOB_H
