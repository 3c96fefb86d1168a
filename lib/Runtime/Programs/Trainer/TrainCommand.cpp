//===- TrainCommand.cpp - Command that trains -----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/TrainCommand.h"

#include "Data/KafkaAddress.h"
#include "Data/RecordReader.h"
#include "Programs/Trainer/CostsFile.h"
#include "Programs/Trainer/EventContents.h"
#include "Programs/Trainer/Reports.h"
#include "Programs/Trainer/TestData.h"
#include "Programs/Trainer/TrainingReport.h"
#include "Programs/Trainer/TrainingSummary.h"
#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Abi/Mode.h"
#include "pdlrt/Checkpoint/ModelFile.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/OutOfMemory.h"
#include "pdlrt/Core/StopSignal.h"
#include "pdlrt/Files/OutputFiles.h"
#include "pdlrt/Job/Hogwild.h"
#include "pdlrt/Transport/Address.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <exception>
#include <fmt/format.h>
#include <new>
#include <nlohmann/json.hpp>
#include <thread>
#include <tuple>
#include <utility>

using namespace pdlrt;

//===----------------------------------------------------------------------===//
// Before the process joins its job
//===----------------------------------------------------------------------===//

/// Returns an error if checkpoints depend on event times, and some data have
/// none.
static Status checkEventTimes(const SessionOptions &options) {
  if (!options.checkpointEventTime)
    return {};
  for (const std::string &file : options.data.files) {
    if (isKafkaAddress(file) && !kafkaHasEnd(file))
      continue;
    return Status::invalidArgument(
        "--checkpoint-event-time is for topics of Kafka without end, whose "
        "messages are read in the order of their timestamps, and " +
        (isKafkaAddress(file) ? kafkaName(file) + " has an end"
                              : file + " is none") +
        "; give --checkpoint-steps instead");
  }
  return {};
}

Status pdlrt::checkTrainingFlags(const pdl_descriptor &descriptor,
                                 const SessionOptions &options) {
  PDLRT_RETURN_IF_ERROR(checkEviction(descriptor, options));
  const pdl_program *program = findProgram(descriptor, "train");
  if (options.hogwild && program && program->update_count > 0)
    PDLRT_RETURN_IF_ERROR(checkHogwild(descriptor, *program, options.groups));
  const bool rejoins = options.distributed && options.distributed->mayRejoin;
  if (const Mode &mode = modeOf(descriptor);
      (options.checkpointMinutes || options.checkpointEventTime) && rejoins &&
      !mode.stepsAreRounds)
    return Status::invalidArgument(fmt::format(
        "{} is not for mode {} with --on-failure=wait: its trainers agree on "
        "steps to save at, which a restarted trainer cannot repeat; give "
        "--checkpoint-steps",
        options.checkpointMinutes ? "--checkpoint-minutes"
                                  : "--checkpoint-event-time",
        mode.name));
  PDLRT_RETURN_IF_ERROR(checkMetricLogFlags(options));
  PDLRT_RETURN_IF_ERROR(checkEventTimes(options));
  PDLRT_RETURN_IF_ERROR(checkEvaluationFlags(descriptor, options));
  for (const std::string &file : options.data.files)
    if (options.data.filesInTurn && canBeReadAgain(file))
      return Status::invalidArgument(
          "--files-in-turn is for pipes, and " + file +
          " is none: leave the flag out, files that can be "
          "read again do not need it");
  for (const std::string *path : {&options.dump, &options.dumpBatches})
    if (!path->empty())
      PDLRT_RETURN_IF_ERROR(checkReplaceable(*path));
  return {};
}

/// Makes all checks for which no other process is needed.
Status TrainCommand::checkAlone() {
  PDLRT_RETURN_IF_ERROR(checkTrainingFlags(descriptor, options));
  const bool rejoins = options.distributed && options.distributed->mayRejoin;
  PDLRT_RETURN_IF_ERROR(openCheckpoints());
  // In a distributed job, checks the data before joining. A process that fails
  // then has not replaced a running one of the same rank.
  if (options.distributed) {
    PDLRT_RETURN_IF_ERROR(checkData("train", options.data));
    if (!options.evaluateFiles.empty())
      PDLRT_RETURN_IF_ERROR(checkData("evaluate", testDataOf(options)));
  }
  // If this trainer may rejoin a running job, the folder may have checkpoints
  // of that job, so its content is not refused.
  return checkpoints && !rejoins ? checkpoints->checkFolder() : Status();
}

Status TrainCommand::openCheckpoints() {
  if (options.checkpoint.empty())
    return {};
  const bool first = !options.distributed || options.distributed->rank == 0;
  auto opened =
      TrainingCheckpoints::open(descriptor, options, first, scheduler);
  if (!opened)
    return opened.status();
  checkpoints = std::move(*opened);
  schedule.emplace(options.checkpointMinutes, SaveSchedule::Clock::now(),
                   checkpointRequests());
  return {};
}

/// Starts to listen and to load, if trainers own state.
Status TrainCommand::startOwner() {
  if (!owner.isNeeded())
    return {};
  Expected<uint64_t> seed =
      seedOfStart(options.seed, resumedCheckpoint(), options.initFrom);
  if (!seed)
    return seed.status();
  startSeed = *seed;
  return owner.start(*seed);
}

/// Returns true if the newest checkpoint has all steps and epochs, and no
/// server responds within some seconds: the job has ended. A supervisor may
/// restart a trainer of such a job. If the trainer waited for servers or
/// failed, the supervisor would restart it forever. Always false if this
/// trainer owns state or saves no checkpoints.
bool TrainCommand::jobHasEnded() const {
  if (!options.distributed || owner.host() || options.checkpoint.empty())
    return false;
  const Checkpoint *last = resumedCheckpoint();
  std::vector<std::string> refused;
  Expected<std::optional<Checkpoint>> newest = std::optional<Checkpoint>();
  if (!last)
    newest = findNewestCheckpoint(options.checkpoint, refused,
                                  CheckpointCheck::Progress);
  if (!last && newest && *newest)
    last = &**newest;
  if (!last)
    return false;
  const TrainingProgress &progress = last->manifest().progress;
  if (!limits.areExhausted(progress.steps) &&
      progress.epoch < limits.epochs() &&
      !hasEndedEarly(descriptor, options, progress.evaluations))
    return false;
  // Waits for servers for some seconds, because they may start at the same time
  // as this trainer.
  constexpr auto patience = std::chrono::seconds(5);
  constexpr auto pause = std::chrono::milliseconds(200);
  const SteadyClock::time_point start = SteadyClock::now();
  while (!stopSignal()) {
    if (anyServerResponds(*options.distributed, *options.transport))
      return false;
    if (SteadyClock::now() - start > patience)
      return true;
    std::this_thread::sleep_for(pause);
  }
  return false;
}

/// Returns the values of this run that the handshake contains.
RunOptions TrainCommand::runOptions() const {
  const Checkpoint *from = resumedCheckpoint();
  RunOptions run;
  run.workers = options.workers;
  run.seed = seedOfRun(from);
  run.startStep = from ? from->manifest().progress.steps : 0;
  run.checkpoint = options.checkpoint;
  run.resume = options.resume;
  return run;
}

/// Joins the servers of the job, if there are any.
Status TrainCommand::joinOthers() {
  if (!options.distributed)
    return {};
  for (const std::vector<std::string> *addresses :
       {&options.distributed->servers, &options.distributed->peers})
    for (const std::string &address : *addresses)
      if (const std::string unknown = describeUnknownHost(address);
          !unknown.empty())
        logWarning(unknown + "; check --servers and --peers; waiting until it "
                             "can");
  if (options.checkpoint.empty() && options.distributed->rank == 0)
    logWarning("without --checkpoint FOLDER of all trainers nothing of this "
               "training will be saved");
  Expected<std::unique_ptr<Job>> joined = joinJob(
      descriptor, *options.distributed, runOptions(), *options.transport);
  if (!joined)
    return joined.status();
  job = std::move(*joined);
  return {};
}

//===----------------------------------------------------------------------===//
// As a member of the job
//===----------------------------------------------------------------------===//

/// Returns the objects that the classes of the training share. Call after this
/// process has joined the job.
TrainingParts TrainCommand::parts() {
  return {
      .descriptor = descriptor,
      .options = options,
      .job = *job,
      .layout = layout(),
      .run = trainer,
      .state = state,
      .losses = losses,
      .metricLog = metricLog,
      .checkpoints = checkpoints.get(),
  };
}

RecoveryParts TrainCommand::recoveryParts() {
  return {
      .channel = job->recovery(),
      .workersSend = modeOf(descriptor).workersSend,
      .flagsDigest = flagsDigest,
      .run = trainer,
      .state = state,
      .flushOutputs = [this] { return flushOutputs(); },
  };
}

/// Flushes the outputs to which a restarted process appends.
OutputProgress TrainCommand::flushOutputs() {
  OutputProgress progress;
  progress.lossLines = losses.lines().value_or(-1);
  losses.flushQuietly();
  if (checkpoints)
    std::tie(progress.savedSteps, progress.savedEpoch) =
        checkpoints->lastSaved();
  return progress;
}

/// Starts the training together with the other processes. If this process was
/// restarted, rejoins them instead.
Status TrainCommand::begin() {
  const Expected<bool> hasRejoined = recovery->rejoin();
  if (!hasRejoined)
    return hasRejoined.status();
  if (*hasRejoined) {
    const OutputProgress outputs = recovery->outputs();
    if (checkpoints)
      checkpoints->noteResumed(outputs.savedSteps, outputs.savedEpoch);
    return {};
  }
  // Check the folder before the first step of any process. So no training is
  // lost because the folder cannot be written.
  if (checkpoints)
    PDLRT_RETURN_IF_ERROR(
        job->checkSaveFolder(options.checkpoint, checkpoints->plan()));
  PDLRT_RETURN_IF_ERROR(checkAgreement(options, *job));
  return plan->share();
}

/// Trains as a member of the job. The caller reports a failure to the other
/// processes.
Status TrainCommand::runJoined() {
  recovery.emplace(recoveryParts());
  if (checkpoints)
    PDLRT_RETURN_IF_ERROR(checkpoints->takeFolder(*job));
  if (checkpoints && options.distributed && options.distributed->mayRejoin &&
      !recovery->isRestart())
    PDLRT_RETURN_IF_ERROR(checkpoints->checkFolder());
  // A restarted trainer does not resume from a checkpoint.
  if (const std::optional<int64_t> steps = job->startStep();
      steps && checkpoints && !recovery->isRestart())
    PDLRT_RETURN_IF_ERROR(checkpoints->goBackTo(*steps, scheduler));
  plan.emplace(parts());
  PDLRT_RETURN_IF_ERROR(begin());
  PDLRT_RETURN_IF_ERROR(prepare());
  return runTraining();
}

/// Returns an error if several epochs are left to train, from `epoch` on, but
/// the data can be read only once.
static Status checkPassesFrom(int64_t epoch, const SessionOptions &options) {
  const int64_t left = options.epochs.value_or(1) - epoch;
  const auto once =
      std::ranges::find_if_not(options.data.files, canBeReadAgain);
  if (left < 2 || once == options.data.files.end())
    return {};
  return Status::invalidArgument(
      onceText(*once) + ", but --epochs " + std::to_string(*options.epochs) +
      " leaves " + std::to_string(left) + " epochs to train; give --epochs " +
      std::to_string(epoch + 1) + ", or write it to a file");
}

/// Returns an error if the test is to run `tests` times or more, but its data
/// can be read only once.
static Status checkTestPasses(int64_t tests, const SessionOptions &options) {
  const auto once =
      std::ranges::find_if_not(options.evaluateFiles, canBeReadAgain);
  if (tests < 2 || once == options.evaluateFiles.end())
    return {};
  return Status::invalidArgument(
      onceText(*once) +
      ", but the tests after epochs and of the checkpoint from which the "
      "training resumes need it again; write it to a file");
}

/// Warns if the result of the training will not be saved.
static void warnIfNothingIsKept(const SessionOptions &options) {
  if (!options.distributed && options.checkpoint.empty() &&
      options.dump.empty())
    logWarning("without --checkpoint FOLDER or --dump FILE nothing of this "
               "training will be saved");
}

/// Creates the model, opens the data and the outputs, and creates the objects
/// that train.
Status TrainCommand::prepare() {
  PDLRT_RETURN_IF_ERROR(checkPassesFrom(firstEpoch(), options));
  if (StateHost *const host = owner.host()) {
    PDLRT_RETURN_IF_ERROR(openDevices());
    PDLRT_RETURN_IF_ERROR(job->bringDevices(openedDevices(), *host));
  }
  PDLRT_RETURN_IF_ERROR(
      createModel(resumedCheckpoint(), CheckpointUse::Training));
  DataOptions data = options.data;
  data.seed = model->seed();
  PDLRT_RETURN_IF_ERROR(openProgram("train", data, layout(), trainer));
  if (checkpoints)
    PDLRT_RETURN_IF_ERROR(checkpoints->checkData());
  if (hasTest(options)) {
    if (job->rank() == 0)
      warnOfOverlap(options);
    PDLRT_RETURN_IF_ERROR(
        openProgram("evaluate", testDataOf(options), layout(), tester));
  }
  if (!options.dumpBatches.empty())
    batchDump = std::make_unique<BatchDump>(descriptor, *trainer.program);
  PDLRT_RETURN_IF_ERROR(openLosses());
  PDLRT_RETURN_IF_ERROR(openMetricLog());
  reader.emplace(parts(), batchDump.get());
  saves.emplace(parts(), *model,
                schedule.value_or(SaveSchedule({}, {}, /*requests=*/0)));
  openEvaluations();
  epochStart.emplace(parts(), std::move(data), *plan, *recovery, *reader);
  auto addUpTraining = [this](PassReport &report) -> Expected<bool> {
    PDLRT_RETURN_IF_ERROR(addUp(trainer, report).status());
    return stopping;
  };
  loop.emplace(parts(),
               EpochLoop::Collaborators{.start = *epochStart,
                                        .reader = *reader,
                                        .saves = *saves,
                                        .evaluations = *evaluations,
                                        .recovery = *recovery,
                                        .rangeWarnings = rangeWarnings,
                                        .model = *model},
               addUpTraining, terminal);
  return {};
}

/// Creates the object that evaluates during the training.
void TrainCommand::openEvaluations() {
  evaluations.emplace(
      descriptor, tester.program, options, state,
      [this](PassReport &report) { return evaluateTest(report); },
      [this](int64_t steps, const PassReport &report) {
        noteTestWithinEpoch(steps, report);
      });
}

/// Adds the results of a test within an epoch to the summary and to the file of
/// metrics.
void TrainCommand::noteTestWithinEpoch(int64_t steps,
                                       const PassReport &report) {
  // An evaluation before the first epoch of this run belongs to an earlier run.
  const bool hasBegunEpoch = state.position.report != nullptr;
  const int64_t epoch =
      hasBegunEpoch ? state.position.epoch
                    : firstEpoch() - (plan->resumesBetweenEpochs() ? 1 : 0);
  const bool hasLoss = tester.program->objective_count > 0;
  summarizeTest(descriptor, epoch, steps, report, hasLoss);
  logTest({steps, epoch}, report);
  loggedTestSteps = steps;
}

/// Adds the results of a test to the files of metrics.
void TrainCommand::logTest(const MetricLog::Point &point,
                           const PassReport &report) {
  if (!metricLog.isOpen())
    return;
  metricLog.add("test", point,
                figuresOf(descriptor, report,
                          /*hasLoss=*/tester.program->objective_count > 0));
  if (!metricLog.writesEvents())
    return;
  EventSummary curves;
  addCurves(descriptor, report, curves);
  metricLog.addEvents(point.step, curves);
  metricLog.addHistograms(point.step, *model);
}

/// Runs the test once. Returns false if a stop signal has interrupted it.
Expected<bool> TrainCommand::evaluateTest(PassReport &report) {
  PDLRT_RETURN_IF_ERROR(evaluateOnce(tester, "test", report));
  PDLRT_RETURN_IF_ERROR(requireSamples(*tester.program, report,
                                       options.evaluateFiles.empty()
                                           ? options.data.files
                                           : options.evaluateFiles));
  return !stopping;
}

/// Returns true if no epoch follows `epoch`.
bool TrainCommand::isLast(int64_t epoch) const {
  return limits.isLast(epoch, state.agreedSteps) || evaluations->areOver();
}

/// Returns the first epoch of this run.
int64_t TrainCommand::firstEpoch() const {
  return recovery->isResuming() ? recovery->epoch() : plan->firstEpoch();
}

/// Opens the log of losses. A training that resumes keeps the lines of the
/// steps before, and appends to them.
Status TrainCommand::openLosses() {
  if (options.logLosses.empty())
    return {};
  if (state.totalSteps == 0)
    return losses.open(options.logLosses);
  // Trainers that step independently have as many lines as steps of their own.
  std::optional<int64_t> lines;
  if (recovery->isResuming())
    lines = recovery->outputs().lossLines;
  else if (job->rank() == 0 || trainer.engine->sumsOverJob())
    lines = plan->lossLines();
  const bool isKnown = lines && *lines >= 0;
  return losses.resume(options.logLosses, isKnown ? *lines : state.totalSteps,
                       state.totalSteps);
}

/// Opens the files of metrics over time.
Status TrainCommand::openMetricLog() {
  return metricLog.open(
      {.lines = options.logMetrics,
       // One run of TensorBoard must have one writer.
       .events = job->rank() == 0 ? options.tensorboard : std::string()},
      {options.logMetricsSteps, options.logMetricsSeconds}, state.totalSteps);
}

Status TrainCommand::runTraining() {
  hasBegun = true;
  starting.drop();
  warnIfNothingIsKept(options);
  // With --steps 0, nothing is trained, and the initial state is the result,
  // which is saved like any other. A training that resumes has a checkpoint
  // already.
  if (options.steps == 0 && !plan->resumes() && !recovery->isResuming())
    PDLRT_RETURN_IF_ERROR(saves->saveInitialState());
  PDLRT_RETURN_IF_ERROR(evaluateResumed());
  PDLRT_RETURN_IF_ERROR(trainEpochs());
  // If there is nothing left to train, run the requested test anyway.
  const bool beganNoEpoch = plan->resumes() && !stopping;
  // A checkpoint may have been saved after the last step of an epoch, but
  // before its end. Then the epoch has begun, but no step was left.
  const bool hadNothingLeft =
      beganNoEpoch ||
      (state.resumedSteps > 0 && !stopping &&
       state.totalSteps == state.resumedSteps && state.dataFailure.ok());
  if (beganNoEpoch && evaluations->isCurrent(state.totalSteps))
    tested = evaluations->latest();
  else if (beganNoEpoch && hasTest(options)) {
    PDLRT_RETURN_IF_ERROR(evaluateOnce(tester, "test", tested));
    if (!stopping)
      logTest({state.totalSteps,
               firstEpoch() - (plan->resumesBetweenEpochs() ? 1 : 0)},
              tested);
  }
  PDLRT_RETURN_IF_ERROR(saves->finish());
  // No process may end before the last checkpoint is complete: batch systems
  // may kill the rest of a job when its first process ends, and use the status
  // of that process for the whole job.
  if ((stopping || checkpoints) && options.distributed) {
    int64_t here = 1;
    PDLRT_RETURN_IF_ERROR(job->sum({&here, 1}, {}));
  }
  warnIfNoneIsMarked();
  PDLRT_RETURN_IF_ERROR(writeDumps());
  if (stopping && !stopSignal())
    noteStopSignal(SIGTERM);
  const std::vector<Device *> opened = openedDevices();
  return reportTraining(
      descriptor,
      {.state = state,
       .trainer = trainer,
       .tester = tester,
       .model = *model,
       .devices = opened,
       .trained = trained,
       .tested = tested,
       .hasStopped = stopping,
       .hasGivenUp = saves->hasGivenUp(),
       .stoppedEarly = evaluations->endsEarly() && !stopping && !hadNothingLeft
                           ? evaluations->describeEnd()
                           : std::string(),
       .nothingLeft = hadNothingLeft ? describeNothingLeft() : std::string(),
       .printsFigures = options.printsFigures});
}

/// Evaluates the state from which the training resumes, if it was saved before
/// its evaluation was complete. Marks its best checkpoint if it is not marked.
Status TrainCommand::evaluateResumed() {
  if (checkpoints && plan->resumes())
    checkpoints->remarkBest(state.evaluations.kept.steps);
  const int64_t steps = state.totalSteps;
  const bool isDue =
      plan->resumes() &&
      (evaluations->isDue(steps) ||
       (plan->resumesBetweenEpochs() && evaluations->isDueAtEnd(steps)));
  int64_t tests = isDue;
  if (!limits.areExhausted(steps) && limits.epochs() > firstEpoch())
    tests += limits.epochs() > firstEpoch() + 1 ? 2 : 1;
  PDLRT_RETURN_IF_ERROR(checkTestPasses(tests, options));
  if (!isDue)
    return {};
  state.agreedSteps = steps;
  PDLRT_RETURN_IF_ERROR(
      evaluations->run(steps, TrainingEvaluations::Purpose::WithinEpoch));
  if (evaluations->takeBest())
    PDLRT_RETURN_IF_ERROR(saves->keepBest());
  return {};
}

/// Warns if --keep-best has selected no checkpoint because no test counted.
void TrainCommand::warnIfNoneIsMarked() const {
  if (!options.keepBest.empty() && job->rank() == 0 && !stopping &&
      state.totalSteps > 0 && state.evaluations.steps == 0)
    logWarning("--keep-best has marked no checkpoint, because the test after "
               "an incomplete epoch does not count; give --evaluate-every, or "
               "complete epochs");
}

/// Returns the line to print if nothing is left to train.
std::string TrainCommand::describeNothingLeft() const {
  return evaluations->endsEarly()
             ? fmt::format("nothing left to train: the training {}; give a "
                           "larger --patience to continue",
                           evaluations->describeEnd())
             : pdlrt::describeNothingLeft(options, state);
}

/// Trains the remaining epochs. Each is followed by its test.
Status TrainCommand::trainEpochs() {
  for (int64_t epoch = firstEpoch();
       recovery->isResuming() ||
       (epoch < limits.epochs() && !stopping &&
        !limits.areExhausted(state.totalSteps) && !evaluations->areOver());
       ++epoch) {
    PassReport latest;
    PDLRT_RETURN_IF_ERROR(loop->train(epoch, latest));
    PDLRT_RETURN_IF_ERROR(
        requireSamples(*trainer.program, latest, options.data.files));
    // Without samples, a signal has ended the epoch before its first step.
    if (latest.samples == 0)
      return epoch > 0 ? saves->saveBetweenEpochs(epoch - 1) : Status();
    trained = latest;
    std::vector<std::string> lines =
        reportLines("train", descriptor, true, trained);
    // Drop the figures of an earlier epoch.
    tested = {};
    if (hasTest(options) && !stopping)
      PDLRT_RETURN_IF_ERROR(test(epoch, lines));
    reportEpoch(epoch, lines);
  }
  return {};
}

/// Logs an epoch, and adds it to the summary and to the file of metrics.
/// `lines` are its figures.
void TrainCommand::reportEpoch(int64_t epoch,
                               const std::vector<std::string> &lines) {
  logInfo(
      epochLine(epoch, state.position.hasEnded, trained.steps,
                options.printsFigures ? lines : std::vector<std::string>()));
  const bool testHasLoss =
      tester.program && tester.program->objective_count > 0;
  summarizeEpoch(descriptor, state, epoch, trained, tested, testHasLoss);
  if (!metricLog.isOpen())
    return;
  const MetricLog::Point point = {state.totalSteps, epoch};
  nlohmann::ordered_json figures = {{"has_ended", state.position.hasEnded}};
  figures.update(figuresOf(descriptor, trained, /*hasLoss=*/true));
  metricLog.add("epoch", point, figures);
  // A test within the epoch may have been after its last step.
  if (tested.samples > 0 && loggedTestSteps != state.totalSteps)
    logTest(point, tested);
  metricLog.addHistograms(point.step, *model);
}

/// Tests after an epoch, and adds the figures to `lines`, its own.
Status TrainCommand::test(int64_t epoch, std::vector<std::string> &lines) {
  const bool wasLast = isLast(epoch);
  const int64_t steps = state.agreedSteps;
  Status status =
      evaluations->isCurrent(steps)
          ? Status()
          : evaluations->run(steps, TrainingEvaluations::Purpose::Report);
  if (!status.ok())
    return withoutTest(epoch, wasLast, lines, std::move(status));
  if (stopping) {
    // A signal arrived during the test, so no further epoch follows.
    if (!wasLast)
      PDLRT_RETURN_IF_ERROR(saves->saveBetweenEpochs(epoch));
    return {};
  }
  tested = evaluations->latest();
  const std::vector<std::string> more = reportLines(
      "test", descriptor, tester.program->objective_count > 0, tested);
  lines.insert(lines.end(), more.begin(), more.end());
  return {};
}

/// Handles a failed test: prints the results of the epoch, `lines`, and saves
/// what was trained, unless memory is exhausted. Returns `failure`, or the
/// error of saving.
Status TrainCommand::withoutTest(int64_t epoch, bool isLast,
                                 const std::vector<std::string> &lines,
                                 Status failure) {
  reportEpoch(epoch, lines);
  if (failure.code() != PDL_OUT_OF_MEMORY) {
    // After the last epoch, its checkpoint exists already. If trainers may
    // restart, the other processes do not know about this failure, so they
    // would not take part in a save.
    if (!isLast && !job->recovery())
      PDLRT_RETURN_IF_ERROR(saves->saveBetweenEpochs(epoch));
    PDLRT_RETURN_IF_ERROR(writeDumps());
  }
  return failure;
}

Status TrainCommand::writeDumps() {
  // Write the model first: it must not be lost to a full disk.
  if (!options.dump.empty()) {
    PDLRT_RETURN_IF_ERROR(dumpModel(*model, options.dump, options.dumpSlots));
    logInfo("wrote " + options.dump);
  }
  losses.close();
  metricLog.close();
  if (batchDump)
    PDLRT_RETURN_IF_ERROR(batchDump->write(options.dumpBatches));
  return options.costs.empty() ? Status() : writeMeasuredCosts();
}

Status TrainCommand::writeMeasuredCosts() {
  const ReplicaSet &replicas = trainer.engine->replicas();
  MeasuredSteps measured = {
      .costs = trainer.engine->costs(),
      .batchSize = options.data.batchSize,
      .replicas = replicas.count(),
      .seconds = state.seconds,
      .cpuSeconds = state.cpuSeconds,
  };
  // With several devices, each has its own state and a share of the replicas.
  if (const std::vector<Device *> devices = openedDevices();
      devices.size() == 1) {
    const Expected<BatchContext::DeviceNeeds> needs = replicas[0].deviceNeeds();
    if (!needs)
      return needs.status();
    measured.deviceBytes = devices.front()->maxBytes();
    measured.deviceNeeds = *needs;
  }
  return writeCosts(options.costs, measured, *model);
}

//===----------------------------------------------------------------------===//
// Run
//===----------------------------------------------------------------------===//

/// Returns the result of `step`. Converts exceptions to errors, so that they
/// can be reported to the other processes.
template <typename Step> static Status caught(Step step) {
  try {
    return step();
  } catch (const std::bad_alloc &error) {
    return Status::outOfMemory(
        describeOutOfMemory(error, "trained") +
        "; use a smaller --batch-size, fewer --replicas, or a machine with "
        "more memory");
  } catch (const std::exception &exception) {
    return Status::internal(exception.what());
  }
}

/// Frees memory, because leaving the job needs some.
void TrainCommand::letMemoryGo() {
  for (ProgramRun *run : {&tester, &trainer}) {
    run->engine.reset();
    run->reader.reset();
  }
  model.reset();
}

/// Adds advice to an error that may be one of a device.
Status TrainCommand::withAdvice(Status status) const {
  const bool mayBeOfDevice =
      status.code() == PDL_UNAVAILABLE || status.code() == PDL_INTERNAL;
  if (!mayBeOfDevice || devices.empty() ||
      status.message().find("--resume") != std::string::npos)
    return status;
  return {status.code(), status.message() +
                             "; start again, with --resume where there is a "
                             "checkpoint"};
}

/// Leaves the job with `status`, the result of the training, and returns it. A
/// failure is reported to the other processes.
Status TrainCommand::leave(Status status) {
  // Report the error first, because a save may take long.
  if (!status.ok() && (hasBegun || !stopSignal()) && options.onError)
    options.onError(status.message());
  // Finish a save that was started before a failure. Leaving with an error
  // fails the job, and servers of a failed job do not respond any more.
  if (checkpoints)
    if (Status saved = caught([this] { return checkpoints->finish(); });
        !saved.ok())
      logWarning(saved.message());
  // From here on, no thread sends requests to servers.
  if (trainer.engine)
    trainer.engine->rest();
  // An owner in this process may still read sent data.
  if (status.code() == PDL_OUT_OF_MEMORY && !owner.host())
    letMemoryGo();
  job->leave(status);
  return status;
}

Status TrainCommand::run() {
  Status status = caught([this] {
    PDLRT_RETURN_IF_ERROR(checkAlone());
    return startOwner();
  });
  if (!status.ok()) {
    if (options.distributed) {
      if (options.onError)
        options.onError(status.message());
      if (!owner.lacksAddress())
        announceFailure(descriptor, *options.distributed, *options.transport,
                        status);
    }
    return status;
  }
  bool hasEnded = false;
  status = caught([&] {
    hasEnded = jobHasEnded();
    return hasEnded ? Status() : joinOthers();
  });
  if (hasEnded) {
    printLine(
        "nothing left to train: the job has ended, and its last checkpoint "
        "in " +
        options.checkpoint +
        " has as many steps or epochs; with more of them (--steps, "
        "--epochs), and with servers, training goes on");
    return {};
  }
  if (status.ok())
    status = leave(withAdvice(caught([this] { return runJoined(); })));
  owner.end(status);
  summarizeCounts(state);
  if (status.ok())
    return state.dataFailure.ok() ? saves->failure() : state.dataFailure;
  if (hasBegun || !stopSignal())
    return status;
  // Waiting for a job that was told to stop is no failure.
  printLine("stopped by a signal before the first step: " + status.message());
  return {};
}

Status pdlrt::runTrain(const pdl_descriptor &descriptor,
                       const SessionOptions &options) {
  return TrainCommand(descriptor, options).run();
}
