//===- Job.h - A process among those that train one model -------*- C++ -*-===//
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
#include "pdlrt/Transport/Message.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pdlrt {

class Device;
class StateHost;

/// What is left of a save once the training may go on.
class RestOfSave {
public:
  virtual ~RestOfSave();
  /// Once, in any one thread, beside calls of the job; it ends before the job
  /// does. `writer` and `manifest`: of `beginSave`.
  virtual Status finish(CheckpointWriter &writer,
                        CheckpointManifest &manifest) = 0;
};

/// How tables are saved: whole, or as changes of the save before, which owners
/// of state call `since` (ServerCheckpoint.h). Where an owner does not know
/// that one, its rows are whole.
struct SaveScope {
  SavedRows rows = SavedRows::All;
  std::string since = {};
};

/// What a process shares with the others of its job. The functions that say so
/// are called by all of them, in the same order; they block until all have
/// come. An error, one sentence, ends the job for this process. One thread at a
/// time.
class Job {
public:
  virtual ~Job();

  /// Of this process, from 0. The first one writes checkpoints.
  virtual int rank() const = 0;
  virtual StateLocation stateLocation() const = 0;
  /// All, before the model is made: what this process computes on, none: on the
  /// host. Where trainers own parameters they may then have all of them there,
  /// which `stateLocation` says. `owner`: the one in this process. All outlive
  /// the job.
  virtual Status bringDevices(std::span<Device *const> devices,
                              StateHost &owner);
  /// Which of the job's `groups` groups are here.
  virtual ReplicaLayout layout(int groups, int workers) const = 0;

  /// An engine for a program of the model, all of which outlive it, as does the
  /// job. Of a job's models there is one.
  virtual Expected<std::unique_ptr<StepEngine>>
  createEngine(Model &model, const pdl_program &program,
               const ReplicaLayout &layout, Scheduler &scheduler) = 0;

  /// All: replaces the numbers by their sums over all processes, in the order
  /// of ranks. All give as many.
  virtual Status sum(std::span<int64_t> counts, std::span<double> sums) = 0;

  /// All, at the end of an epoch: what processes have changed by themselves is
  /// brought together, so that all hold the same values.
  virtual Status settle() { return {}; }

  /// All, before the first step: whether whoever writes parts of checkpoints
  /// sees the `folder` of the first process and can write into it.
  virtual Status checkSaveFolder(const std::string &folder);
  /// All: saves values, slots and step counts as they are now: the parts to the
  /// folder of `writer`, and what the manifest says of them to `manifest`. What
  /// is left of that goes on beside the training; null: nothing. The first
  /// process then adds what else there is and commits. Behind the rest of an
  /// earlier save.
  virtual Expected<std::unique_ptr<RestOfSave>>
  beginSave(Model &model, CheckpointWriter &writer,
            CheckpointManifest &manifest, const SaveScope &scope) = 0;

  /// All, behind a save, or where an earlier start of this process has done it:
  /// nobody goes on before it is whole, where a new start must find it so.
  virtual Status awaitSaved();

  /// The step of the checkpoint that owners of state go on from, where they are
  /// other processes; none: nobody else says.
  virtual std::optional<int64_t> startStep() const { return {}; }

  /// Whether the others wait for this process where it dies, so that it leaves
  /// bookmarks for a new start of itself.
  virtual bool mayComeBack() const { return false; }
  /// Leaves one with the next `sum`, or round of steps.
  virtual void leaveBookmark(const Message &bookmark);
  /// What an earlier start of this process left with the call that is due now:
  /// servers answer it again. Empty: it died before it left any, and this start
  /// does all that it did; none: there was no earlier start.
  virtual std::optional<Message> earlierBookmark() const { return {}; }
  /// Of workers that send by themselves, where this process may come back. The
  /// job tells their requests and sums of this process apart: a worker's
  /// request comes behind all sums that were asked for before it.
  ///
  /// Leaves a bookmark with that worker's next request. Any thread, one for
  /// each worker, while no sum is under way.
  virtual void leaveWorkerBookmark(int worker, const Message &bookmark);
  /// By worker, what its earlier start left with the last request that all
  /// servers have; an empty message: nothing.
  virtual std::vector<Message> workerBookmarks() const { return {}; }
  /// Whether such a request came behind the call that `earlierBookmark` is of.
  virtual bool workersWereLater() const { return false; }
  /// The next request of that worker is the one that its bookmark came with.
  virtual void repeatWorker(int worker);

  /// Whether an earlier start of this process has begun the call that is due
  /// next: it had done all before that.
  virtual bool isRepeating() const { return false; }

  /// Tells this job from all others: the same for each start of a process of
  /// it. 0: nobody takes another one's place.
  virtual uint64_t id() const { return 0; }

  /// Says how this process ended, and why if it failed. The last call.
  virtual void leave(const Status &outcome) = 0;
};

/// Of a process that holds all values, slots and step counts: begins to save
/// them (`Job::beginSave`).
Expected<std::unique_ptr<RestOfSave>>
beginLocalSave(Model &model, CheckpointWriter &writer,
               CheckpointManifest &manifest, SavedRows rows);

/// One process that owns all state. `isHogwild`: workers of a program that
/// updates it do not wait for each other (AsyncEngine.h).
std::unique_ptr<Job> createLocalJob(bool isHogwild);

} // namespace pdlrt

#endif // PDLRT_JOB_JOB_H
