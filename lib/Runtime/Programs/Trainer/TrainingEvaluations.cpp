//===- TrainingEvaluations.cpp - Evaluations while training ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/TrainingEvaluations.h"

#include "Programs/Trainer/TestData.h"
#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Abi/Mode.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/ProcessMemory.h"
#include "pdlrt/Core/Stopwatch.h"

#include <bit>
#include <fmt/format.h>
#include <limits>
#include <tuple>
#include <utility>

using namespace pdlrt;

//===----------------------------------------------------------------------===//
// Flags
//===----------------------------------------------------------------------===//

/// Returns an error if the trainers of a mode have no common state within an
/// epoch.
static Status checkCommonState(const pdl_descriptor &descriptor,
                               const SessionOptions &options) {
  const Mode &mode = modeOf(descriptor);
  if (mode.trainersApply)
    return Status::invalidArgument(fmt::format(
        "--evaluate-every is not for mode {}, in which trainers have "
        "different copies of the model within an epoch; leave it out to "
        "evaluate after each epoch",
        mode.name));
  if (options.distributed && options.distributed->mayRejoin)
    return Status::invalidArgument(
        "--evaluate-every is not for --on-failure=wait: a restarted trainer "
        "cannot repeat an evaluation within an epoch; leave one of the two "
        "out");
  return {};
}

Status pdlrt::checkEvaluationFlags(const pdl_descriptor &descriptor,
                                   const SessionOptions &options) {
  const char *const flag = options.evaluateEvery       ? "--evaluate-every"
                           : options.patience          ? "--patience"
                           : !options.keepBest.empty() ? "--keep-best"
                                                       : nullptr;
  if (!flag)
    return {};
  if (!hasTest(options))
    return Status::invalidArgument(
        fmt::format("{} needs data to evaluate on; give --evaluate-data, or "
                    "--rows and --evaluate-rows of the same files",
                    flag));
  if (options.evaluateEvery)
    PDLRT_RETURN_IF_ERROR(checkCommonState(descriptor, options));
  const bool tracks = options.patience || !options.keepBest.empty();
  if (tracks && options.distributed && options.distributed->mayRejoin)
    return Status::invalidArgument(fmt::format(
        "{} is not for --on-failure=wait: a restarted trainer does not know "
        "the evaluations before; leave one of the two out",
        flag));
  const pdl_program *program = findProgram(descriptor, "evaluate");
  if (!program)
    return {};
  if (options.patience)
    PDLRT_RETURN_IF_ERROR(
        Status(
            TrackedMetric::find(descriptor, *program, options.monitor).status())
            .withContext("--monitor"));
  if (!options.keepBest.empty())
    PDLRT_RETURN_IF_ERROR(
        Status(TrackedMetric::find(descriptor, *program, options.keepBest)
                   .status())
            .withContext("--keep-best"));
  return {};
}

//===----------------------------------------------------------------------===//
// Resuming
//===----------------------------------------------------------------------===//

/// Returns the metrics that early stopping and --keep-best use.
static std::pair<std::optional<TrackedMetric>, std::optional<TrackedMetric>>
trackedBy(const SessionOptions &options, const pdl_descriptor &descriptor,
          const pdl_program &program) {
  auto track = [&](const std::string &name) -> std::optional<TrackedMetric> {
    Expected<TrackedMetric> found =
        TrackedMetric::find(descriptor, program, name);
    return found ? std::optional(*std::move(found)) : std::nullopt;
  };
  return {options.patience ? track(options.monitor) : std::nullopt,
          options.keepBest.empty() ? std::nullopt : track(options.keepBest)};
}

/// Sends the numbers of `best` of the first process to all processes. Values of
/// another metric than `metric` are dropped.
static Status share(const std::optional<TrackedMetric> &metric, Job &job,
                    BestValue &best) {
  const std::string name = metric ? metric->name : std::string();
  if (job.rank() != 0 || best.metric != name)
    best = BestValue();
  // Zeros of the other processes do not change the bits of the value.
  int64_t counts[] = {std::bit_cast<int64_t>(best.value), best.steps,
                      best.misses};
  PDLRT_RETURN_IF_ERROR(job.sum(counts, {}));
  best = {.metric = name,
          .value = std::bit_cast<double>(counts[0]),
          .steps = counts[1],
          .misses = counts[2]};
  return {};
}

Status pdlrt::resumeEvaluations(const pdl_descriptor &descriptor,
                                const SessionOptions &options,
                                EvaluationProgress saved, Job &job,
                                TrainingState &state) {
  const pdl_program *program = findProgram(descriptor, "evaluate");
  if (!program || !hasTest(options))
    return {};
  const auto [monitored, kept] = trackedBy(options, descriptor, *program);
  if (!options.evaluateEvery && !monitored && !kept)
    return {};
  int64_t steps = job.rank() == 0 ? saved.steps : 0;
  PDLRT_RETURN_IF_ERROR(job.sum({&steps, 1}, {}));
  saved.steps = steps;
  PDLRT_RETURN_IF_ERROR(share(monitored, job, saved.monitored));
  PDLRT_RETURN_IF_ERROR(share(kept, job, saved.kept));
  state.evaluations = std::move(saved);
  return {};
}

bool pdlrt::hasEndedEarly(const pdl_descriptor &descriptor,
                          const SessionOptions &options,
                          const EvaluationProgress &saved) {
  const pdl_program *program = findProgram(descriptor, "evaluate");
  if (!program || !options.patience)
    return false;
  const auto [monitored, kept] = trackedBy(options, descriptor, *program);
  return monitored && monitored->name == saved.monitored.metric &&
         saved.monitored.misses >= *options.patience;
}

//===----------------------------------------------------------------------===//
// Schedule
//===----------------------------------------------------------------------===//

TrainingEvaluations::TrainingEvaluations(const pdl_descriptor &descriptor,
                                         const pdl_program *program,
                                         const SessionOptions &options,
                                         TrainingState &state,
                                         Evaluate evaluate,
                                         NoteResult noteWithinEpoch)
    : descriptor(descriptor), program(program), options(options),
      progress(state.evaluations), evaluate(std::move(evaluate)),
      noteWithinEpoch(std::move(noteWithinEpoch)) {
  if (!program)
    return;
  metrics.emplace(descriptor, *program);
  std::tie(monitored, kept) = trackedBy(options, descriptor, *program);
}

int64_t TrainingEvaluations::stepsUntilNext(int64_t steps) const {
  return options.evaluateEvery
             ? *options.evaluateEvery - steps % *options.evaluateEvery
             : std::numeric_limits<int64_t>::max();
}

bool TrainingEvaluations::isDue(int64_t steps) const {
  return options.evaluateEvery && steps > progress.steps &&
         steps % *options.evaluateEvery == 0;
}

bool TrainingEvaluations::isDueAtEnd(int64_t steps) const {
  return (monitored || kept) && steps > progress.steps;
}

//===----------------------------------------------------------------------===//
// Evaluations
//===----------------------------------------------------------------------===//

Status TrainingEvaluations::run(int64_t steps, Purpose purpose) {
  // A repetition could succeed, but would not count.
  if (failedSteps == steps)
    return failure;
  Stopwatch watch;
  const double cpuBefore = processCpuSeconds();
  PassReport result;
  const Expected<bool> isComplete = evaluate(result);
  const double seconds = watch.lap();
  times.seconds += seconds;
  times.cpuSeconds += processCpuSeconds() - cpuBefore;
  ++evaluations;
  if (!isComplete) {
    failedSteps = steps;
    failure = isComplete.status();
    return failure;
  }
  // An interrupted evaluation says nothing about the data. A resumed training
  // repeats it.
  wasInterrupted = !*isComplete;
  if (wasInterrupted)
    return {};
  report = std::move(result);
  latestSteps = steps;
  metrics->set(report, steps, seconds);
  if (purpose != Purpose::Report)
    count(steps);
  if (purpose == Purpose::WithinEpoch) {
    // Event files get histograms, for which the whole model is read.
    const double cpuOfNote = processCpuSeconds();
    watch.lap();
    noteWithinEpoch(steps, report);
    times.seconds += watch.lap();
    times.cpuSeconds += processCpuSeconds() - cpuOfNote;
    if (options.printsFigures)
      logResult(steps);
  }
  if (purpose != Purpose::Report && endsEarly())
    logInfo(describeEnd());
  return {};
}

/// Returns a text with the best value of the monitored metric; empty if there
/// is none.
std::string TrainingEvaluations::describeBest() const {
  const std::optional<TrackedMetric> &metric = monitored ? monitored : kept;
  const BestValue &best = monitored ? progress.monitored : progress.kept;
  if (!metric || best.steps == 0)
    return {};
  return fmt::format("{} {} after {} steps", metric->name,
                     metric->describe(descriptor, best.value), best.steps);
}

/// Counts the latest result for early stopping and for the best checkpoint.
void TrainingEvaluations::count(int64_t steps) {
  progress.steps = steps;
  if (monitored)
    monitored->note(monitored->valueIn(report), steps,
                    options.minDelta.value_or(0), progress.monitored);
  if (kept)
    isBest =
        kept->note(kept->valueIn(report), steps, /*minDelta=*/0, progress.kept);
}

void TrainingEvaluations::logResult(int64_t steps) const {
  std::string text = fmt::format("evaluated after {} steps:", steps);
  const char *separator = " ";
  for (const std::string &line :
       reportLines("test", descriptor, program->objective_count > 0, report)) {
    text += separator + line;
    separator = ", ";
  }
  const std::string best = describeBest();
  logInfo(best.empty() ? text : text + "; best: " + best);
}

//===----------------------------------------------------------------------===//
// Early stopping
//===----------------------------------------------------------------------===//

bool TrainingEvaluations::endsEarly() const {
  return monitored && progress.monitored.misses >= *options.patience;
}

std::string TrainingEvaluations::describeEnd() const {
  const int64_t misses = progress.monitored.misses;
  const std::string best = describeBest();
  return fmt::format(
      "stopped early after {} steps: {} consecutive evaluation{} {} not {}",
      progress.steps, misses, misses == 1 ? "" : "s",
      misses == 1 ? "has" : "have",
      best.empty() ? "computed a value of " + monitored->name
                   : "improved on the best, " + best);
}
