//===- Command.h - What the commands of a trainer share ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_TRAINER_COMMAND_H
#define LIB_RUNTIME_PROGRAMS_TRAINER_COMMAND_H

#include "Programs/Trainer/ProgramRun.h"
#include "pdlabi/abi.h"
#include "pdlabi/metrics.h"
#include "pdlrt/Abi/ProgramDevice.h"
#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Checkpoint/ModelParts.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Engine/Report.h"
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

/// Whether a device may have the tables, where that is asked for.
Status checkTablePlacement(const pdl_descriptor &descriptor,
                           const SessionOptions &options);

/// One command of a trainer: its job, its model, and how it runs a program over
/// data and says what came of it. Not thread-safe.
class Command {
public:
  /// Both outlive the command.
  Command(const pdl_descriptor &descriptor, const SessionOptions &options);

protected:
  /// Whether rows of this process may be evicted, where that is asked for.
  Status checkTableBound() const;
  ~Command() = default;

  using SteadyClock = std::chrono::steady_clock;
  static double secondsSince(SteadyClock::time_point start);
  /// A line on the standard output.
  static void print(const std::string &line);

  /// The seed that was asked for, or that of the checkpoint to go on from
  /// (null: none); or `startSeed`.
  uint64_t seedOfRun(const Checkpoint *from) const;
  /// Makes `model`: that of a checkpoint (null: none), or of --init-from, or
  /// new. To evaluate, a file must have all parameters.
  Status createModel(const Checkpoint *from, CheckpointUse use);
  /// Makes `model` of what --checkpoint or --init-from name.
  Status createTrainedModel();
  ReplicaLayout layout() const {
    return job->layout(options.groups, options.workers);
  }
  /// Opens the devices that the program computes on, if it does and they are
  /// not open yet.
  Status openDevices();
  std::vector<Device *> openedDevices() const;
  /// The program of that name; an error that names what there is.
  Expected<const pdl_program *> programNamed(const char *name) const;
  /// The name of the frozen program that a command runs, whose own it is unless
  /// another one was asked for.
  const char *frozenProgram(const char *command) const {
    return options.program.empty() ? command : options.program.c_str();
  }
  /// Whether the program can read its data: they are there, and so is a first
  /// row that fits. Leaves alone what can be read but once.
  Status checkData(const char *name, const DataOptions &data) const;
  /// Sets up the program with its data and its engine.
  Status openProgram(const char *name, const DataOptions &data,
                     const ReplicaLayout &layout, ProgramRun &run);
  /// Runs a frozen program once over its data; the report is of the whole job.
  /// Where a process of it cannot, all others fail too, behind it. `visit`, if
  /// it is not empty, is called behind each step with its samples.
  using StepVisitor = std::function<Status(int64_t samples)>;
  Status evaluateOnce(ProgramRun &run, const std::string &label, Report &report,
                      const StepVisitor &visit = {});
  /// Turns the figures of this process into those of the job; how many of its
  /// processes say here that theirs are not whole.
  Expected<int64_t> addUp(ProgramRun &run, Report &report, bool fails = false);
  /// Of the job.
  int processes() const;
  /// All processes: what all of them keep for a metric of groups.
  Expected<pdlabi::GroupedSamples> gatherGroupsOf(const ReplicaSet &replicas,
                                                  int32_t metric);

  /// An error where a pass over all of `files` met no sample, or, in a program
  /// with a loss, none of any weight.
  Status requireSamples(const pdl_program &program, const Report &report,
                        const std::vector<std::string> &files) const;
  /// Those of the epoch or test that `report` is of.
  void reportBadRows(const char *label, const ProgramRun &run,
                     const Report &report) const;
  void reportKeys(const char *label, const PullCounts &counts) const;

private:
  Status checkGroups(const pdl_program &program) const;
  /// All processes: makes the sums of a metric of groups, but the first, of the
  /// samples of the job.
  Status sumGroups(const ReplicaSet &replicas, int32_t metric, double *sums);
  /// The part of this process in `evaluateOnce`.
  Status evaluateHere(ProgramRun &run, const std::string &label, Report &report,
                      const StepVisitor &visit);
  Status makeModel(uint64_t seed, StateLocation location);

protected:
  const pdl_descriptor &descriptor;
  const SessionOptions &options;
  /// Whether progress can be rewritten in place.
  const bool terminal;
  Scheduler scheduler;
  /// None where the program computes on the host. The job may use them.
  std::vector<std::unique_ptr<ProgramDevice>> devices;
  std::unique_ptr<Job> job = createLocalJob(options.hogwild);
  std::unique_ptr<Model> model;
  /// That of what this process begins with, where it owns a part of the state
  /// of a job.
  std::optional<uint64_t> startSeed;
  RangeWarnings rangeWarnings;
  /// Whether the job ends early: the same in all its processes.
  bool stopping = false;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_COMMAND_H
