//===- TrainCommand.cpp - The command that trains -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/TrainCommand.h"

#include "Data/RecordReader.h"
#include "Programs/Trainer/CostsFile.h"
#include "pdlrt/Abi/Mode.h"
#include "pdlrt/Checkpoint/ModelFile.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/OutOfMemory.h"
#include "pdlrt/Core/StopSignal.h"
#include "pdlrt/Files/OutputFiles.h"
#include "pdlrt/Transport/Address.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <exception>
#include <fmt/format.h>
#include <limits>
#include <new>
#include <optional>
#include <thread>
#include <utility>

using namespace pdlrt;

DataOptions TrainCommand::evaluationData() const {
  DataOptions data = options.data;
  if (!options.evaluateFiles.empty()) {
    data.files = options.evaluateFiles;
    const std::string &first = options.data.files.front();
    if (canBeReadAgain(first) && !isTensorFile(first))
      data.headerFile = first;
  }
  data.rows = options.evaluateRows.value_or(RowRange());
  data.shuffleWindow = 0;
  return data;
}

/// Whether the range of the lower bound begins before that of the upper one
/// ends, as far as that is known without counting rows.
static bool beginsBefore(const RowRange::Bound &lower,
                         const RowRange::Bound &upper) {
  const bool isFirst = lower.percent == 0 && lower.row == 0;
  const bool isLast = upper.isPercent && upper.percent == 100;
  if (isFirst || isLast || lower.isPercent != upper.isPercent)
    return isFirst || isLast;
  return lower.isPercent ? lower.percent < upper.percent
                         : lower.row < upper.row;
}

static std::string rangeText(const RowRange &range) {
  auto text = [](const RowRange::Bound &bound) {
    return bound.isPercent ? fmt::format("{}%", bound.percent)
                           : std::to_string(bound.row);
  };
  return text(range.begin) + ":" + text(range.end);
}

/// What is trained on is no test.
void TrainCommand::warnOfOverlap() const {
  const DataOptions tested = evaluationData();
  const std::vector<std::string> &trained = options.data.files;
  const RowRange &rows = options.data.rows;
  if (tested.files == trained) {
    // Of two ranges of different kinds, only what is all rows is known.
    const bool isKnown = rows.isAll() || tested.rows.isAll() ||
                         (beginsBefore(rows.begin, tested.rows.end) &&
                          beginsBefore(tested.rows.begin, rows.end));
    if (isKnown)
      logWarning(fmt::format(
          "the test is on rows {} of the files of --data, and training on rows "
          "{} of them: what both have says nothing about new data; give "
          "--rows and --evaluate-rows that do not overlap, such as --rows "
          "0%:80% --evaluate-rows 80%:",
          rangeText(tested.rows), rangeText(rows)));
    return;
  }
  if (!rows.isAll() || !tested.rows.isAll())
    return;
  for (const std::string &file : tested.files)
    if (std::find(trained.begin(), trained.end(), file) != trained.end())
      logWarning(file + " is a file of --data and of --evaluate-data: what "
                        "both have says nothing about new data");
}

Status TrainCommand::prepareEvaluation() {
  tests = !options.evaluateFiles.empty() || options.evaluateRows;
  if (!tests)
    return {};
  if (job->rank() == 0)
    warnOfOverlap();
  return openProgram("evaluate", evaluationData(), layout(), tester);
}

/// What the handshake says of this run.
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

/// Joins the servers of the job, if there are some.
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

/// Begins together with the others, or goes on among them.
Status TrainCommand::begin() {
  const std::optional<Message> note = job->earlierBookmark();
  if (note && note->size() > 0)
    return comeBack(*note);
  // Nobody does a step before all have agreed: a folder that servers cannot
  // write to costs nothing.
  if (checkpoints)
    PDLRT_RETURN_IF_ERROR(job->checkSaveFolder(options.checkpoint));
  PDLRT_RETURN_IF_ERROR(checkAgreement(options, *job));
  return shareProgress();
}

Status TrainCommand::writeDumps() {
  // The model first: it is what a full disk must not cost.
  if (!options.dump.empty()) {
    PDLRT_RETURN_IF_ERROR(dumpModel(*model, options.dump, options.dumpSlots));
    logInfo("wrote " + options.dump);
  }
  if (losses.isOpen())
    noteLosses(losses.close());
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
      .seconds = trainSeconds,
      .cpuSeconds = trainCpuSeconds,
  };
  // Several have state each, and shares of the replicas.
  if (const std::vector<Device *> devices = openedDevices();
      devices.size() == 1) {
    const Expected<BatchContext::DeviceNeeds> needs = replicas[0].deviceNeeds();
    if (!needs)
      return needs.status();
    measured.deviceBytes = devices.front()->mostBytes();
    measured.deviceNeeds = *needs;
  }
  return writeCosts(options.costs, measured, *model);
}

/// A training that goes on goes on in the file: behind the lines of the steps
/// that it goes on from.
Status TrainCommand::openLosses() {
  if (options.logLosses.empty())
    return {};
  if (totalSteps == 0)
    return losses.open(options.logLosses);
  // Trainers that step by themselves have as many lines as steps of their own.
  const bool isKnown = loggedBefore && (bookmark || job->rank() == 0 ||
                                        trainer.engine->sumsOverJob());
  const int64_t expected = isKnown ? *loggedBefore : totalSteps;
  Expected<int64_t> kept = losses.openBehind(options.logLosses, expected);
  if (!kept)
    return kept.status();
  if (*kept > 0 && *kept < expected)
    logWarning(fmt::format(
        "{} has {} lines, but training goes on after {} steps: from here on "
        "its lines are not numbered as the steps are, and steps that are "
        "trained again may stand in it twice",
        options.logLosses, *kept, totalSteps));
  return {};
}

static std::string joinLines(const std::vector<std::string> &lines) {
  std::string text;
  for (const std::string &line : lines)
    text += (text.empty() ? "" : ", ") + line;
  return text;
}

/// What can be said before others are asked.
Status TrainCommand::checkAlone() {
  const bool comesBack =
      options.distributed && options.distributed->mayComeBack;
  if (const Mode &mode = modeOf(descriptor);
      options.checkpointMinutes && comesBack && !mode.stepsAreRounds)
    return Status::invalid(fmt::format(
        "--checkpoint-minutes is not for mode {} with --on-failure=wait: its "
        "trainers agree on steps to save at, which a trainer that comes back "
        "cannot repeat; give --checkpoint-steps",
        mode.name));
  for (const std::string *path : {&options.dump, &options.dumpBatches})
    if (!path->empty())
      PDLRT_RETURN_IF_ERROR(checkReplaceable(*path));
  PDLRT_RETURN_IF_ERROR(openCheckpoints());
  // A start that fails takes nobody's place: it has not joined.
  if (options.distributed) {
    PDLRT_RETURN_IF_ERROR(checkData("train", options.data));
    if (!options.evaluateFiles.empty())
      PDLRT_RETURN_IF_ERROR(checkData("evaluate", evaluationData()));
  }
  // Checkpoints of a job that runs are in nobody's way.
  return checkpoints && !comesBack ? checkpoints->checkFolder() : Status();
}

/// Trains as a member of the job. Whatever ends it, the others are told.
Status TrainCommand::runJoined() {
  if (checkpoints)
    PDLRT_RETURN_IF_ERROR(checkpoints->takeFolder(*job));
  if (checkpoints && options.distributed && options.distributed->mayComeBack &&
      !job->earlierBookmark())
    PDLRT_RETURN_IF_ERROR(checkpoints->checkFolder());
  // A trainer that comes back goes on from no checkpoint.
  if (const std::optional<int64_t> steps = job->startStep();
      steps && checkpoints && !job->earlierBookmark())
    PDLRT_RETURN_IF_ERROR(checkpoints->goBackTo(*steps, scheduler));
  PDLRT_RETURN_IF_ERROR(begin());
  return runTraining();
}

/// What `step` returns or throws: whatever ends this process, others are told.
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

/// The last checkpoint is there, or why not.
Status TrainCommand::finishSave() {
  return checkpoints ? checkpoints->finish() : Status();
}

/// To leave takes some memory too.
void TrainCommand::letMemoryGo() {
  for (ProgramRun *run : {&tester, &trainer}) {
    run->engine.reset();
    run->reader.reset();
  }
  model.reset();
}

/// With what helps behind an error of a device, or of what works on it.
Status TrainCommand::withAdvice(Status status) const {
  if (status.code() != PDL_INTERNAL || devices.empty() ||
      status.message().find("--resume") != std::string::npos)
    return status;
  return Status::internal(status.message() +
                          "; start again, with --resume where there is a "
                          "checkpoint");
}

/// A supervisor may start a trainer anew whose job has ended: it must not wait
/// for servers, nor fail, or it would be started for ever.
bool TrainCommand::jobHasEnded() const {
  if (!options.distributed || owner || options.checkpoint.empty())
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
  const bool hasSteps = options.steps && progress.steps >= *options.steps;
  const int64_t epochs = options.epochs.value_or(
      options.steps ? std::numeric_limits<int64_t>::max() : 1);
  if (!hasSteps && progress.epoch < epochs)
    return false;
  // Servers that are started together with this trainer may come later.
  constexpr auto patience = std::chrono::seconds(5);
  constexpr auto pause = std::chrono::milliseconds(200);
  const SteadyClock::time_point start = SteadyClock::now();
  while (!stopSignal()) {
    if (anyServerAnswers(*options.distributed, *options.transport))
      return false;
    if (SteadyClock::now() - start > patience)
      return true;
    std::this_thread::sleep_for(pause);
  }
  return false;
}

Status TrainCommand::run() {
  Status status = caught([this] {
    PDLRT_RETURN_IF_ERROR(checkTableBound());
    PDLRT_RETURN_IF_ERROR(checkAlone());
    return startOwner();
  });
  if (!status.ok()) {
    if (options.distributed) {
      if (options.onError)
        options.onError(status.message());
      if (saysFailure)
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
    print("nothing left to train: the job has ended, and its last checkpoint "
          "in " +
          options.checkpoint +
          " has as many steps or epochs; with more of them (--steps, "
          "--epochs), and with servers, training goes on");
    return {};
  }
  if (status.ok()) {
    status = withAdvice(caught([this] { return runJoined(); }));
    // A save may take long.
    if (!status.ok() && (hasBegun || !stopSignal()) && options.onError)
      options.onError(status.message());
    // What was begun before a failure is worth keeping, unless it is of servers
    // whose job has failed: they answer no more.
    Status saved = caught([this] { return finishSave(); });
    if (!saved.ok())
      logWarning(saved.message());
    // Nobody asks servers any more.
    if (trainer.engine)
      trainer.engine->rest();
    // An owner in this process may yet read what was sent.
    if (status.code() == PDL_OUT_OF_MEMORY && !owner)
      letMemoryGo();
    job->leave(status);
  }
  endOwner(status);
  if (status.ok())
    return dataFailure.ok() ? saveFailure : dataFailure;
  if (hasBegun || !stopSignal())
    return status;
  // Who waits for a job that was told to stop has not failed.
  print("stopped by a signal before the first step: " + status.message());
  return {};
}

/// Data that come but once have one pass: an error if more epochs than the one
/// that begins are left.
static Status checkPassesFrom(int64_t epoch, const SessionOptions &options) {
  const int64_t left = options.epochs.value_or(1) - epoch;
  const auto once =
      std::ranges::find_if_not(options.data.files, canBeReadAgain);
  if (left < 2 || once == options.data.files.end())
    return {};
  return Status::invalid(
      onceText(*once) + ", but --epochs " + std::to_string(*options.epochs) +
      " leaves " + std::to_string(left) + " epochs to train; give --epochs " +
      std::to_string(epoch + 1) + ", or write it to a file");
}

int64_t TrainCommand::firstEpoch() const {
  return bookmark     ? bookmark->epoch
         : resumption ? resumption->progress.epoch
                      : 0;
}

void TrainCommand::warnIfNothingIsKept() const {
  if (!options.distributed && options.checkpoint.empty() &&
      options.dump.empty())
    logWarning("without --checkpoint FOLDER or --dump FILE nothing of this "
               "training will be saved");
}

Status TrainCommand::runTraining() {
  PDLRT_RETURN_IF_ERROR(checkPassesFrom(firstEpoch(), options));
  if (owner) {
    PDLRT_RETURN_IF_ERROR(openDevices());
    PDLRT_RETURN_IF_ERROR(job->bringDevices(openedDevices(), *owner));
  }
  PDLRT_RETURN_IF_ERROR(
      createModel(resumedCheckpoint(), CheckpointUse::Training));
  DataOptions data = options.data;
  data.seed = model->seed();
  PDLRT_RETURN_IF_ERROR(openProgram("train", data, layout(), trainer));
  if (checkpoints)
    PDLRT_RETURN_IF_ERROR(checkpoints->checkData());
  PDLRT_RETURN_IF_ERROR(prepareEvaluation());
  if (!options.dumpBatches.empty())
    batchDump = std::make_unique<BatchDump>(descriptor, *trainer.program);
  PDLRT_RETURN_IF_ERROR(openLosses());
  hasBegun = true;
  warnIfNothingIsKept();

  // Asked for initial values: nothing is trained, and all else is done.
  if (options.steps == 0)
    PDLRT_RETURN_IF_ERROR(saveInitialState());
  const int64_t epochs = epochLimit();
  Report trained, tested;
  int64_t epoch = firstEpoch();
  for (; bookmark || (epoch < epochs && !stopping && !stepsExhausted());
       ++epoch) {
    Report latest;
    PDLRT_RETURN_IF_ERROR(trainEpoch(epoch, latest));
    PDLRT_RETURN_IF_ERROR(requireSamples(*trainer.program, latest, data.files));
    // A signal may end an epoch before its first step.
    if (latest.samples == 0) {
      if (epoch > 0)
        PDLRT_RETURN_IF_ERROR(saveBetweenEpochs(epoch - 1));
      break;
    }
    trained = latest;
    std::vector<std::string> lines =
        reportLines("train", descriptor, true, trained);
    // An earlier epoch's figures are not this one's.
    tested = {};
    if (tests && !stopping) {
      const bool isLast = isLastEpoch(epoch);
      Status status = evaluateOnce(tester, "test", tested);
      if (status.ok())
        status = requireSamples(
            *tester.program, tested,
            options.evaluateFiles.empty() ? data.files : options.evaluateFiles);
      if (!status.ok())
        return withoutTest(epoch, isLast, trained.steps, lines,
                           std::move(status));
      // A signal came with the test, so no other epoch follows.
      if (stopping && !isLast)
        PDLRT_RETURN_IF_ERROR(saveBetweenEpochs(epoch));
    }
    // A test that a signal cut short says nothing about the test data.
    if (stopping)
      tested = {};
    if (tests && !stopping) {
      std::vector<std::string> more = reportLines(
          "test", descriptor, tester.program->objective_count > 0, tested);
      lines.insert(lines.end(), more.begin(), more.end());
    }
    logInfo(epochLine(epoch, trained.steps, lines));
  }
  // Nothing is left to train, but a test was asked for.
  if (resumption && tests && !stopping)
    PDLRT_RETURN_IF_ERROR(evaluateOnce(tester, "test", tested));
  PDLRT_RETURN_IF_ERROR(tolerate(finishSave()));
  // Nobody ends before the last checkpoint is whole: batch systems may kill the
  // rest of a job after the first end, and take its status for that of all.
  if ((stopping || checkpoints) && options.distributed) {
    int64_t here = 1;
    PDLRT_RETURN_IF_ERROR(job->sum({&here, 1}, {}));
  }
  PDLRT_RETURN_IF_ERROR(writeDumps());
  if (stopping && !stopSignal())
    noteStopSignal(SIGTERM);
  return reportTraining(trained, tested);
}

/// The figures of an epoch that has ended, or of the part of it that was
/// trained.
std::string
TrainCommand::epochLine(int64_t epoch, int64_t steps,
                        const std::vector<std::string> &lines) const {
  return fmt::format("epoch {}{}: {}", epoch + 1,
                     epochEnded ? std::string()
                                : fmt::format(" ({} steps, not ended)", steps),
                     joinLines(lines));
}

/// A test that fails costs nothing of what was trained.
Status TrainCommand::withoutTest(int64_t epoch, bool isLast, int64_t steps,
                                 const std::vector<std::string> &lines,
                                 Status failure) {
  logInfo(epochLine(epoch, steps, lines));
  if (failure.code() != PDL_OUT_OF_MEMORY) {
    // All of the last epoch is saved, which steps may end before its end.
    // Of trainers that may come back, the others know nothing of the failure.
    if (!isLast && !job->mayComeBack())
      PDLRT_RETURN_IF_ERROR(saveBetweenEpochs(epoch));
    PDLRT_RETURN_IF_ERROR(writeDumps());
  }
  return failure;
}

Status TrainCommand::reportTraining(const Report &trained,
                                    const Report &tested) const {
  if (!dataFailure.ok())
    print("stopped after the current step by data that cannot be read");
  else if (hasGivenUp)
    print("stopped after the current step by checkpoints that cannot be saved");
  else if (stopping)
    print("stopped by a signal after the current step");
  if (resumption)
    print("nothing left to train: the checkpoint has as many steps or epochs; "
          "with more of them (--steps, --epochs) training goes on");
  // With nothing trained, the totals lack the epoch that was running.
  const int64_t runSamples =
      totalSteps > resumedSteps ? totalSamples - resumedSamples : 0;
  if (resumedSteps > 0)
    print(fmt::format("resumed after {} steps, {} samples", resumedSteps,
                      resumedSamples));
  const int64_t runSteps = totalSteps - resumedSteps;
  const int64_t ownSteps = runSteps - earlierSteps;
  // Steps have as many samples, but for the last ones.
  const double ownSamples =
      runSteps > 0 ? double(runSamples) * double(ownSteps) / double(runSteps)
                   : 0;
  print(fmt::format(
      "trained {} steps, {} samples{} in {:.1f} s ({:.0f} "
      "samples/s)",
      runSteps, runSamples,
      earlierSteps > 0 ? fmt::format(", {} steps since it came back", ownSteps)
                       : std::string(),
      jobSeconds, jobSeconds > 0 ? ownSamples / jobSeconds : 0.0));
  for (const std::string &line :
       costLines(trainer.engine->costs(), trainSeconds, trainCpuSeconds))
    print(line);
  if (skippedUpdates)
    print(fmt::format("updates skipped for a zero sum of weights {}",
                      skippedUpdates));
  for (int32_t i = 0; i < descriptor.symbol_count; ++i)
    if (model->table(i)) {
      const Expected<TableSize> size = model->tableSize(i);
      if (!size)
        return size.status();
      print(fmt::format("table @{} keys {}, {:.1f} MiB{}",
                        descriptor.symbols[i].name, size->rows,
                        double(size->bytes) / (1 << 20),
                        model->placesTablesOnDevice() ? " on the device" : ""));
    }
  if (model->evictedRows() > 0)
    print(fmt::format("rows {} {}", model->spillsRows() ? "spilled" : "evicted",
                      model->evictedRows()));
  for (const Device *device : openedDevices())
    print(fmt::format("device memory {:.1f} MiB at most on {}",
                      double(device->mostBytes()) / (1 << 20),
                      device->describe()));
  // Of the last epoch, and of the test behind it.
  if (trained.samples > 0) {
    reportBadRows("train ", trainer, trained);
    for (const std::string &line :
         reportLines("train", descriptor, true, trained))
      print(line);
  }
  if (tested.samples > 0) {
    reportBadRows("test ", tester, tested);
    reportKeys("test", tester.pulls);
    for (const std::string &line : reportLines(
             "test", descriptor, tester.program->objective_count > 0, tested))
      print(line);
  }
  return {};
}

Status pdlrt::runTrain(const pdl_descriptor &descriptor,
                       const SessionOptions &options) {
  return TrainCommand(descriptor, options).run();
}
