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

/// Returns an error if tables are to be placed on a device that does not
/// support it.
Status checkTablePlacement(const pdl_descriptor &descriptor,
                           const SessionOptions &options);

/// Returns an error if --program names no frozen program of the model.
Status checkProgramFlag(const pdl_descriptor &descriptor,
                        const SessionOptions &options);

/// Returns an error if rows are to be evicted but this process does not support
/// it.
Status checkEviction(const pdl_descriptor &descriptor,
                     const SessionOptions &options);

/// Base of a trainer's commands: its job, its model, and the functions that run
/// a program over data and print the result. Not thread-safe.
class Command {
public:
  /// Both must outlive the command.
  Command(const pdl_descriptor &descriptor, const SessionOptions &options);

protected:
  ~Command() = default;

  using SteadyClock = std::chrono::steady_clock;
  static double secondsSince(SteadyClock::time_point start);

  /// Returns the requested seed, or that of the checkpoint to resume from
  /// (null: none), or `startSeed`.
  uint64_t seedOfRun(const Checkpoint *from) const;
  /// Creates `model` from a checkpoint (null: none), from --init-from, or new.
  /// To evaluate, a file must contain all parameters.
  Status createModel(const Checkpoint *from, CheckpointUse use);
  /// Creates `model` from --checkpoint or --init-from.
  Status createTrainedModel();
  ReplicaLayout layout() const {
    return job->layout(options.groups, options.workers);
  }
  /// Opens the devices that the program computes on, if it uses devices and
  /// they are not open yet.
  Status openDevices();
  std::vector<Device *> openedDevices() const;
  /// Returns the program of that name, or an error that lists the existing
  /// programs.
  Expected<const pdl_program *> programNamed(const char *name) const;
  /// Returns the name of the frozen program to run: the requested one, else the
  /// one with the command's name.
  const char *frozenProgram(const char *command) const {
    return options.program.empty() ? command : options.program.c_str();
  }
  /// Checks that the program can read its data: the files exist and have a
  /// valid first row. Does not touch data that can be read only once.
  Status checkData(const char *name, const DataOptions &data) const;
  /// Sets up the program with its data and its engine.
  Status openProgram(const char *name, const DataOptions &data,
                     const ReplicaLayout &layout, ProgramRun &run);
  /// Runs a frozen program once over its data, and reports on the whole job. If
  /// one process fails, all others fail too, after it. `visit`, if not empty,
  /// is called after each step with the number of its samples.
  using StepVisitor = std::function<Status(int64_t samples)>;
  Status evaluateOnce(ProgramRun &run, const std::string &label,
                      PassReport &report, const StepVisitor &visit = {});
  /// Replaces the figures of this process by those of the job. Returns the
  /// number of processes that reported incomplete figures with `fails`.
  Expected<int64_t> addUp(ProgramRun &run, PassReport &report,
                          bool fails = false);
  /// Returns the number of processes in the job.
  int processes() const;
  /// Collects the samples that all processes store for a group metric. All
  /// processes must call this.
  Expected<pdlabi::GroupedSamples> gatherGroupsOf(const ReplicaSet &replicas,
                                                  int32_t metric);

  /// Returns an error if a pass over all of `files` found no sample or, for a
  /// program with a loss, only samples without weight.
  Status requireSamples(const pdl_program &program, const PassReport &report,
                        const std::vector<std::string> &files) const;

private:
  Status checkGroups(const pdl_program &program) const;
  /// Computes the sums of a group metric, except the first, from the samples of
  /// the job. All processes must call this.
  Status sumGroups(const ReplicaSet &replicas, int32_t metric, double *sums);
  /// Runs the part of `evaluateOnce` in this process.
  Status evaluateHere(ProgramRun &run, const std::string &label,
                      PassReport &report, const StepVisitor &visit);
  Status makeModel(uint64_t seed, StateLocation location);

protected:
  const pdl_descriptor &descriptor;
  const SessionOptions &options;
  /// True if progress can be rewritten in place.
  const bool terminal;
  Scheduler scheduler;
  /// Empty if the program computes on the host. Declared before the job, which
  /// may use them.
  std::vector<std::unique_ptr<ProgramDevice>> devices;
  std::unique_ptr<Job> job = createLocalJob(options.hogwild);
  std::unique_ptr<Model> model;
  /// Seed of the initial state, if this process owns a part of the state of a
  /// job.
  std::optional<uint64_t> startSeed;
  RangeWarnings rangeWarnings;
  /// True if the job ends early; the same in all its processes.
  bool stopping = false;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_COMMAND_H
