//===- Command.h - Common part of a trainer's commands ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_TRAINER_COMMAND_H
#define LIB_RUNTIME_PROGRAMS_TRAINER_COMMAND_H

#include "Engine/ProgramRun.h"
#include "pdlabi/abi/descriptor.h"
#include "pdlabi/metrics.h"
#include "pdlrt/Abi/ProgramDevice.h"
#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Checkpoint/ModelParts.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Engine/PassReport.h"
#include "pdlrt/Job/Job.h"
#include "pdlrt/Programs/Trainer/Session.h"
#include "pdlrt/Sched/Scheduler.h"
#include "pdlrt/State/Model.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pdlrt {

/// Returns an error if the flags place tables on a device, and the device does
/// not support this.
Status checkTablePlacement(const pdl_descriptor &descriptor,
                           const SessionOptions &options);

/// Returns an error if --program names no frozen program of the model.
Status checkProgramFlag(const pdl_descriptor &descriptor,
                        const SessionOptions &options);

/// Returns an error if the flags limit the memory of tables, and this process
/// does not support the eviction of rows.
Status checkEviction(const pdl_descriptor &descriptor,
                     const SessionOptions &options);

/// Base class of the commands of a trainer: contains the job and the model, and
/// runs programs over data and prints their results. Not thread-safe.
class Command {
public:
  /// Both arguments must outlive the command.
  Command(const pdl_descriptor &descriptor, const SessionOptions &options);

protected:
  ~Command() = default;

  using SteadyClock = std::chrono::steady_clock;
  static double secondsSince(SteadyClock::time_point start);

  /// Returns `startSeed` if it is set. Otherwise returns the seed that the user
  /// requested, that of `from`, the checkpoint to resume from, or 0 if `from`
  /// is null.
  uint64_t seedOfRun(const Checkpoint *from) const;
  /// Creates `model`: from the checkpoint `from`, from --init-from if `from` is
  /// null, or with initial values if there is no such flag either. If `use` is
  /// evaluation, the file must contain all parameters.
  Status createModel(const Checkpoint *from, CheckpointUse use);
  /// Creates `model` from --checkpoint or --init-from.
  Status createTrainedModel();
  ReplicaLayout layout() const {
    return job->layout(options.groups, options.workers);
  }
  /// Opens the devices that the program computes on. Does nothing if they are
  /// open, or if the program computes on the host.
  Status openDevices();
  std::vector<Device *> openedDevices() const;
  /// Returns the program with this name, or an error that lists the names of
  /// all programs.
  Expected<const pdl_program *> programNamed(const char *name) const;
  /// Returns the name of the frozen program to run: that of --program if it was
  /// given, otherwise that of the command.
  const char *frozenProgram(const char *command) const {
    return options.program.empty() ? command : options.program.c_str();
  }
  /// Checks that the program can read its data: the files must exist, and their
  /// first rows must be valid. Skips data that can be read only once.
  Status checkData(const char *name, const DataOptions &data) const;
  /// Sets up the program `name` with its data and its engine.
  Status openProgram(const char *name, const DataOptions &data,
                     const ReplicaLayout &layout, ProgramRun &run);
  /// Runs a frozen program once over its data, and reports the result of the
  /// whole job. If one process fails, the others return an error, too, but only
  /// after their own runs. `visit`: called after each step with the number of
  /// its samples, unless it is empty.
  using StepVisitor = std::function<Status(int64_t samples)>;
  Status evaluateOnce(ProgramRun &run, const std::string &label,
                      PassReport &report, const StepVisitor &visit = {});
  /// Replaces the results of this process in `report` by those of the job.
  /// `fails`: this process has failed, so its results are incomplete. Returns
  /// the number of processes for which `fails` is true.
  Expected<int64_t> addUp(ProgramRun &run, PassReport &report,
                          bool fails = false);
  /// Returns the number of processes in the job.
  int processes() const;
  /// Collects the samples of a group metric from all processes, each of which
  /// stores a part of them. All processes must call this.
  Expected<pdlabi::GroupedSamples> gatherGroupsOf(const ReplicaSet &replicas,
                                                  int32_t metric);

  /// Returns an error if a pass over all of `files` has found no sample. For a
  /// program with a loss, also returns an error if no sample has a weight above
  /// 0.
  Status requireSamples(const pdl_program &program, const PassReport &report,
                        const std::vector<std::string> &files) const;

private:
  Status checkGroups(const pdl_program &program) const;
  /// Computes the sums of a group metric from the samples of the whole job.
  /// Does not set the first sum. All processes must call this.
  Status sumGroups(const ReplicaSet &replicas, int32_t metric, double *sums);
  /// Runs the program in this process, without the other processes of the job.
  Status evaluateHere(ProgramRun &run, const std::string &label,
                      PassReport &report, const StepVisitor &visit);
  Status makeModel(uint64_t seed, StateLocation location);

protected:
  const pdl_descriptor &descriptor;
  const SessionOptions &options;
  /// True if progress can be rewritten in place.
  const bool terminal;
  Scheduler scheduler;
  /// Devices of the program; empty if it computes on the host. Declared before
  /// `job`, which may use them, so that they are destroyed after it.
  std::vector<std::unique_ptr<ProgramDevice>> devices;
  std::unique_ptr<Job> job = createLocalJob(options.hogwild);
  std::unique_ptr<Model> model;
  /// Seed of the initial state. Set only if this process owns a part of the
  /// job's state.
  std::optional<uint64_t> startSeed;
  RangeWarnings rangeWarnings;
  /// Steps of the training whose checkpoint `createTrainedModel` has used.
  int64_t trainedSteps = 0;
  /// True if the job ends early. Equal in all processes of the job.
  bool stopping = false;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_COMMAND_H
