//===- TrainingEvaluations.h - Evaluations while training -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_TRAINER_TRAININGEVALUATIONS_H
#define LIB_RUNTIME_PROGRAMS_TRAINER_TRAININGEVALUATIONS_H

#include "Engine/TrainingState.h"
#include "Programs/Trainer/EvaluationMetrics.h"
#include "Programs/Trainer/TrackedMetric.h"
#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Engine/PassReport.h"
#include "pdlrt/Job/Job.h"
#include "pdlrt/Programs/Trainer/Session.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace pdlrt {

/// Returns an error if flags about evaluations during a training do not fit
/// each other, the program or its mode.
Status checkEvaluationFlags(const pdl_descriptor &descriptor,
                            const SessionOptions &options);

/// Sets the progress of evaluations in `state` to that of the checkpoint from
/// which the training resumes: to `saved` of the first process. Omits values of
/// metrics that this run does not track. All processes of the job must call
/// this with the same options.
Status resumeEvaluations(const pdl_descriptor &descriptor,
                         const SessionOptions &options,
                         EvaluationProgress saved, Job &job,
                         TrainingState &state);

/// Returns true if a training that has saved `saved` has ended by early
/// stopping, with the flags of `options`. Returns false if it has monitored
/// another metric.
bool hasEndedEarly(const pdl_descriptor &descriptor,
                   const SessionOptions &options,
                   const EvaluationProgress &saved);

/// Evaluates a model during and after the epochs of its training, and decides
/// whether the training stops early. All processes of the job make the same
/// calls in the same order and get the same results, so they decide the same.
/// Not thread-safe.
class TrainingEvaluations {
public:
  /// Evaluates once. Sets `report` to the results of the job. Returns false if
  /// a stop signal has interrupted it.
  using Evaluate = std::function<Expected<bool>(PassReport &report)>;
  /// Receives the results of an evaluation within an epoch, of the state after
  /// `steps` steps.
  using NoteResult =
      std::function<void(int64_t steps, const PassReport &report)>;

  /// `program`: the program that evaluates, or null if the training does not
  /// evaluate. The options must have passed `checkEvaluationFlags`. The
  /// arguments must outlive the object.
  TrainingEvaluations(const pdl_descriptor &descriptor,
                      const pdl_program *program, const SessionOptions &options,
                      TrainingState &state, Evaluate evaluate,
                      NoteResult noteWithinEpoch);

  /// Returns the number of steps until the next evaluation within an epoch, if
  /// `steps` steps of the training are done. Returns the largest number if
  /// there is none.
  int64_t stepsUntilNext(int64_t steps) const;
  /// Returns true if the state after `steps` steps is to be evaluated within an
  /// epoch, and was not evaluated before.
  bool isDue(int64_t steps) const;
  /// Returns true if the state at the end of an epoch, after `steps` steps, is
  /// to be evaluated before it is saved, and was not evaluated before.
  bool isDueAtEnd(int64_t steps) const;
  /// Returns true if `latest` has the results of the state after `steps` steps.
  bool isCurrent(int64_t steps) const {
    return latestSteps > 0 && latestSteps == steps;
  }
  const PassReport &latest() const { return report; }

  /// Purpose of an evaluation.
  enum class Purpose {
    /// Scheduled within an epoch. Its figures are logged at once.
    WithinEpoch,
    /// At the end of an epoch, whose log line has the figures. Counts for early
    /// stopping.
    EndOfEpoch,
    /// Only for the report. Does not count for early stopping.
    Report
  };
  /// Evaluates the state after `steps` steps, and records the result. No step
  /// may be in progress, and no batch of a later step may be prepared. If an
  /// evaluation of this state has failed before, returns its error again.
  Status run(int64_t steps, Purpose purpose);
  /// Returns true, once, if the last evaluation has the best value so far of
  /// the metric of --keep-best. Its state must be saved before the next step.
  bool takeBest() { return std::exchange(isBest, false); }

  /// Returns true if no further step follows: after `endsEarly`, or because a
  /// stop signal has interrupted an evaluation.
  bool areOver() const { return wasInterrupted || endsEarly(); }
  /// Returns true if the monitored metric has not improved for as many
  /// evaluations as --patience allows.
  bool endsEarly() const;
  /// Returns the reason why the training has stopped early.
  std::string describeEnd() const;

  /// Wall-clock time and CPU time.
  struct Times {
    double seconds = 0, cpuSeconds = 0;
  };
  /// Returns the times of all evaluations of this run.
  const Times &timesDone() const { return times; }
  /// Returns the number of evaluations of this run.
  int64_t evaluationsDone() const { return evaluations; }

private:
  void count(int64_t steps);
  void logResult(int64_t steps) const;
  std::string describeBest() const;

  const pdl_descriptor &descriptor;
  const pdl_program *const program;
  const SessionOptions &options;
  EvaluationProgress &progress;
  const Evaluate evaluate;
  const NoteResult noteWithinEpoch;
  /// Set with --patience and with --keep-best.
  std::optional<TrackedMetric> monitored, kept;
  std::optional<EvaluationMetrics> metrics;
  PassReport report;
  /// Number of training steps to which `report` belongs; 0: none.
  int64_t latestSteps = 0;
  /// Error of an evaluation, and the number of training steps before it.
  Status failure;
  int64_t failedSteps = -1;
  int64_t evaluations = 0;
  bool wasInterrupted = false, isBest = false;
  Times times;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_TRAININGEVALUATIONS_H
