//===- TrainCommand.cpp - The command that trains -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Trainer/Agreement.h"
#include "Trainer/Bookmark.h"
#include "Trainer/Command.h"
#include "Trainer/LineFile.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/Stopwatch.h"
#include "pdlrt/Data/BatchDump.h"
#include "pdlrt/Trainer/ModelFile.h"
#include "pdlrt/Trainer/Progress.h"
#include "pdlrt/Trainer/Resumption.h"
#include "pdlrt/Trainer/StopSignal.h"
#include "pdlrt/Trainer/TrainingCheckpoints.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <tuple>
#include <unistd.h>
#include <utility>

using namespace pdlrt;

namespace {

/// What processes agree on before a checkpoint and behind an epoch.
struct Meeting {
  /// All have done their last step of the epoch; at the end of their data.
  bool allEnded = false, allOutOfData = false;
};

class TrainCommand final : Command {
public:
  using Command::Command;

  /// With the other processes of the job, if there are others.
  Status run();

private:
  Status runTraining();
  Status openCheckpoints();
  Status joinOthers();
  Status shareProgress();
  Status comeBack(const Message &note);
  Status begin();
  void leaveBookmark(Bookmark::Place place, const PendingStep *step);
  Status prepareEvaluation();
  Status beginEpoch(int64_t epoch, Report &report);
  Status restoreEpoch(const Bookmark &bookmark, Report &report);
  Status beginRounds();
  Expected<std::span<const StepInput>> readTrainingRound();
  Status trainEpoch(int64_t epoch, Report &report);
  void allowSteps();
  void showProgress(Progress &progress, const Report &report);
  Expected<Meeting> meet(bool ended);
  Status awaitOthers(int64_t epoch, const Report &report);
  Status saveCheckpoint(int64_t epoch, const Report &report);
  Status writeDumps();
  void reportTraining(const Report &trained, const Report &tested) const;
  /// What the training goes on from; null if it begins.
  const Checkpoint *resumedCheckpoint() const {
    return checkpoints ? checkpoints->resumed() : nullptr;
  }
  /// Steps that this run may still do.
  int64_t stepsLeft() const {
    return options.steps.value_or(std::numeric_limits<int64_t>::max()) -
           totalSteps;
  }
  bool stepsExhausted() const { return stepsLeft() <= 0; }

  std::unique_ptr<TrainingCheckpoints> checkpoints;
  /// Until the first epoch begins.
  std::optional<Resumption> resumption;
  /// Of an earlier start of this process, until the request that it came with.
  std::optional<Bookmark> bookmark;
  ProgramRun trainer, tester;
  bool tests = false;
  std::unique_ptr<BatchDump> batchDump;
  LineFile losses;
  /// Over all runs; of the samples and skipped updates, those of epochs that
  /// have ended, and those before this run.
  int64_t totalSteps = 0, totalSamples = 0, skippedUpdates = 0;
  int64_t resumedSteps = 0, resumedSamples = 0;
  /// The most steps that any process had done when they last met.
  int64_t agreedSteps = 0;
  int64_t stepsInEpoch = 0;
  /// Steps of the running epoch that an earlier run did, and of all runs before
  /// this one took it up.
  int64_t epochStart = 0, stepsBefore = 0;
  /// The epoch that runs, and what it has counted; whether this process read it
  /// from its begin.
  int64_t runningEpoch = 0;
  const Report *runningReport = nullptr;
  bool readsWholeEpoch = false;
  /// Whether the epoch that ran last came to the end of the data, for all.
  bool epochEnded = false;
  /// By the clock, and CPU time of the process.
  double trainSeconds = 0, trainCpuSeconds = 0;
};

} // namespace

/// Whether a file can be made at `path`, asked before hours of training.
static Status checkTarget(const std::string &path) {
  if (path.empty())
    return {};
  std::error_code ignored;
  const std::filesystem::file_status target =
      std::filesystem::status(path, ignored);
  // A device would be replaced by the file, a folder cannot be.
  if (std::filesystem::exists(target) &&
      !std::filesystem::is_regular_file(target))
    return Status::invalid("cannot write " + path +
                           ": it is there and is no regular file; name "
                           "another");
  std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (folder.empty())
    folder = ".";
  if (access(folder.c_str(), W_OK | X_OK) == 0)
    return {};
  return Status::invalid("cannot write " + path + ": folder " +
                         folder.string() + ": " + std::strerror(errno) +
                         "; create it, or name another");
}

Status TrainCommand::prepareEvaluation() {
  tests = !options.evaluateFiles.empty() || options.evaluateRows;
  if (!tests)
    return {};
  DataOptions data = options.data;
  if (!options.evaluateFiles.empty())
    data.files = options.evaluateFiles;
  data.rows = options.evaluateRows.value_or(RowRange());
  data.shuffleWindow = 0;
  return openProgram("evaluate", data, layout(), tester);
}

Status TrainCommand::openCheckpoints() {
  if (options.checkpoint.empty())
    return {};
  const bool first = !options.distributed || options.distributed->rank == 0;
  auto opened = TrainingCheckpoints::open(descriptor, options, first);
  if (!opened)
    return opened.status();
  checkpoints = std::move(*opened);
  return {};
}

/// Joins the servers of the job, if there are some.
Status TrainCommand::joinOthers() {
  if (!options.distributed)
    return {};
  const Checkpoint *from = resumedCheckpoint();
  RunOptions run;
  run.workers = options.workers;
  run.seed = seedOfRun(from);
  run.startStep = from ? from->manifest().progress.steps : 0;
  Expected<std::unique_ptr<Job>> joined =
      joinJob(descriptor, *options.distributed, run, *options.transport);
  if (!joined)
    return joined.status();
  job = std::move(*joined);
  return {};
}

/// Finds out where the job goes on, if it does.
Status TrainCommand::shareProgress() {
  if (!checkpoints || !options.resume)
    return {};
  // What the first process found counts for all.
  Expected<std::optional<Resumption>> shared =
      shareResumption(descriptor, layout(),
                      job->rank() == 0 ? resumedCheckpoint() : nullptr, *job);
  if (!shared)
    return shared.status();
  resumption = std::move(*shared);
  if (!resumption)
    return {};
  const TrainingProgress &progress = resumption->progress;
  checkpoints->noteResumed(progress.steps, progress.epoch);
  totalSteps = resumedSteps = progress.steps;
  resumedSamples = progress.samples;
  // Those of the running epoch are added when it ends.
  totalSamples = progress.samples - progress.epochSamples;
  skippedUpdates = progress.skippedUpdates - progress.epochSkippedUpdates;
  logInfo(fmt::format("resumed after {} steps in epoch {}", progress.steps,
                      progress.epoch + 1));
  return {};
}

/// Begins an epoch, or goes on in the one of the checkpoint.
Status TrainCommand::beginEpoch(int64_t epoch, Report &report) {
  ReplicaSet &replicas = trainer.engine->replicas();
  replicas.resetCounters();
  trainer.rounds = 0;
  if (bookmark)
    return restoreEpoch(*bookmark, report);
  readsWholeEpoch = !resumption || resumption->progress.positions.empty();
  if (!resumption)
    return trainer.reader->beginEpoch(epoch);
  const Resumption from = std::move(*resumption);
  resumption.reset();
  if (checkpoints)
    checkpoints->forgetResumed();
  // What is counted over processes is counted by the first of them.
  const bool first = job->rank() == 0;
  const TrainingProgress &progress = from.progress;
  const int64_t badRows = first ? progress.badRows : 0;
  if (progress.positions.empty()) {
    trainer.reader->setEarlierBadRowCount(badRows);
    return trainer.reader->beginEpoch(epoch);
  }
  restoreRunningEpoch(descriptor, from.running, replicas);
  if (first || trainer.engine->sumsOverJob()) {
    report.lossSum = from.running.lossSum;
    report.weightSum = from.running.weightSum;
  }
  report.steps = progress.epochSteps;
  report.samples = first ? progress.epochSamples : 0;
  report.skippedUpdates = progress.epochSkippedUpdates;
  const ReplicaLayout own = layout();
  const auto begin = progress.positions.begin() + own.firstGroup;
  return trainer.reader->restore({begin, begin + own.localGroups}, badRows);
}

/// Goes on in the epoch of a bookmark.
Status TrainCommand::restoreEpoch(const Bookmark &from, Report &report) {
  if (checkpoints)
    checkpoints->forgetResumed();
  PDLRT_RETURN_IF_ERROR(
      restoreMetrics(descriptor, from, trainer.engine->replicas()));
  report = from.report;
  readsWholeEpoch = from.positions.empty();
  if (readsWholeEpoch) {
    trainer.reader->setEarlierBadRowCount(from.earlierBadRows);
    return trainer.reader->beginEpoch(from.epoch);
  }
  // That of the step which is under way.
  trainer.rounds = from.place == Bookmark::Place::Step ? 1 : 0;
  return trainer.reader->restore(from.positions, from.earlierBadRows);
}

/// Leaves a bookmark with the request that comes next.
void TrainCommand::leaveBookmark(Bookmark::Place place,
                                 const PendingStep *step) {
  Bookmark left;
  left.place = place;
  left.flags = digestOfFlags(options);
  left.epoch = runningEpoch;
  left.totalSteps = totalSteps;
  left.totalSamples = totalSamples;
  left.skippedUpdates = skippedUpdates;
  left.resumedSteps = resumedSteps;
  left.resumedSamples = resumedSamples;
  left.stepsInEpoch = stepsInEpoch;
  if (checkpoints)
    std::tie(left.savedSteps, left.savedEpoch) = checkpoints->lastSaved();
  left.epochEnded = epochEnded;
  left.report = *runningReport;
  left.earlierBadRows = trainer.reader->earlierBadRowCount();
  if (step)
    left.step = *step;
  if (place == Bookmark::Place::EpochEnds)
    left.positions = trainer.positionsAfter(left.report.steps - epochStart);
  else if (place == Bookmark::Place::Step)
    left.positions = trainer.positionsAfter(left.report.steps + 1 - epochStart);
  else if (!readsWholeEpoch)
    left.positions = trainer.positionsAfter(0);
  collectMetrics(descriptor, trainer.engine->replicas(), left);
  job->leaveBookmark(encodeBookmark(left));
}

/// Saves in the middle of `epoch`, or behind it if it has ended. What was
/// counted of it here is in `report`, not yet in the totals.
Status TrainCommand::saveCheckpoint(int64_t epoch, const Report &report) {
  if (!checkpoints)
    return {};
  TrainingProgress progress;
  progress.steps = agreedSteps;
  progress.skippedUpdates = skippedUpdates + report.skippedUpdates;
  progress.epoch = epochEnded ? epoch + 1 : epoch;
  if (checkpoints->isSaved(progress.steps, progress.epoch))
    return {};
  RunningEpoch running =
      collectRunningEpoch(descriptor, trainer.engine->replicas());
  double losses[] = {report.lossSum, report.weightSum};
  if (!trainer.engine->sumsOverJob())
    PDLRT_RETURN_IF_ERROR(job->sum({}, losses));
  running.lossSum = losses[0];
  running.weightSum = losses[1];
  progress.epochSamples = report.samples;
  if (epochEnded) {
    progress.badRows = trainer.reader->badRowCount();
  } else {
    progress.badRows = trainer.reader->earlierBadRowCount();
    progress.positions = trainer.positionsAfter(report.steps - epochStart);
    progress.epochSteps = report.steps;
    progress.epochSkippedUpdates = report.skippedUpdates;
  }
  PDLRT_RETURN_IF_ERROR(gatherProgress(layout(), progress, running, *job));
  progress.samples = totalSamples + progress.epochSamples;
  if (epochEnded)
    progress.epochSamples = 0;
  return checkpoints->save(*job, *model, running, std::move(progress));
}

/// Reads a round of the running epoch, and keeps it if asked to.
Expected<std::span<const StepInput>> TrainCommand::readTrainingRound() {
  Expected<std::span<const StepInput>> inputs = trainer.readRound();
  if (!inputs || !batchDump)
    return inputs;
  for (size_t r = 0; r < inputs->size(); ++r)
    if ((*inputs)[r].samples > 0)
      PDLRT_RETURN_IF_ERROR(batchDump->add(
          trainer.reader->batch(int(r)), stepsBefore + trainer.rounds - 1,
          int(r) / options.workers, int(r) % options.workers));
  return inputs;
}

/// Lets the engine go on up to where this process looks at the state.
void TrainCommand::allowSteps() {
  int64_t steps = stepsLeft();
  const bool isBound =
      checkpoints && checkpoints->stepsUntilDue(totalSteps) < steps;
  if (isBound)
    steps = checkpoints->stepsUntilDue(totalSteps);
  trainer.engine->goAhead(steps, /*last=*/!isBound);
}

void TrainCommand::showProgress(Progress &progress, const Report &report) {
  int64_t expected = stepsInEpoch;
  if (options.steps) {
    const int64_t left = *options.steps - totalSteps + report.steps;
    expected = expected ? std::min(expected, left) : left;
  }
  trainer.engine->rest();
  progress.show({report.samples, report.steps, expected, report.meanLoss(),
                 firstAuc(descriptor, trainer.engine->replicas())});
}

/// Trainers of mode async come to a checkpoint, or to the end of an epoch, by
/// themselves. `ended`: this one has done its last step.
Expected<Meeting> TrainCommand::meet(bool ended) {
  agreedSteps = totalSteps;
  if (trainer.engine->sumsOverJob())
    return Meeting{ended, epochEnded};
  // Who is not out of data has as many steps as any.
  const ReplicaLayout own = layout();
  std::vector<int64_t> counts = {1, ended, epochEnded};
  const size_t stepsBegin = counts.size();
  counts.resize(stepsBegin + own.groups);
  counts[stepsBegin + own.firstGroup] = totalSteps;
  PDLRT_RETURN_IF_ERROR(job->sum(counts, {}));
  agreedSteps =
      *std::max_element(counts.begin() + int64_t(stepsBegin), counts.end());
  return Meeting{counts[1] == counts[0], counts[2] == counts[0]};
}

/// Behind an epoch: takes part in the checkpoints of those that are not yet
/// there.
Status TrainCommand::awaitOthers(int64_t epoch, const Report &report) {
  const bool outOfData = epochEnded;
  while (true) {
    Expected<Meeting> meeting = meet(/*ended=*/true);
    if (!meeting)
      return meeting.status();
    epochEnded = meeting->allEnded && meeting->allOutOfData;
    if (meeting->allEnded)
      return {};
    PDLRT_RETURN_IF_ERROR(saveCheckpoint(epoch, report));
    epochEnded = outOfData;
  }
}

Status TrainCommand::beginRounds() {
  StepEngine &engine = *trainer.engine;
  if (job->mayComeBack())
    engine.beforeRounds([this](const PendingStep *step) {
      leaveBookmark(step ? Bookmark::Place::Step : Bookmark::Place::EpochBegins,
                    step);
    });
  RoundSource source = [this] { return readTrainingRound(); };
  return bookmark && bookmark->place == Bookmark::Place::Step
             ? engine.resume(source, bookmark->step)
             : engine.begin(std::move(source));
}

Status TrainCommand::trainEpoch(int64_t epoch, Report &report) {
  StepEngine &engine = *trainer.engine;
  std::string label = fmt::format("epoch {}", epoch + 1);
  if (options.epochs)
    label += fmt::format("/{}", *options.epochs);
  Progress progress(label, terminal);
  epochEnded = false;
  PDLRT_RETURN_IF_ERROR(beginEpoch(epoch, report));
  const SteadyClock::time_point start = SteadyClock::now();
  const double cpuBefore = processCpuSeconds();
  runningEpoch = epoch;
  runningReport = &report;
  epochStart = report.steps;
  stepsBefore = totalSteps;
  const bool trains =
      !bookmark || bookmark->place != Bookmark::Place::EpochEnds;
  if (trains)
    PDLRT_RETURN_IF_ERROR(beginRounds());
  else
    epochEnded = bookmark->epochEnded;
  bookmark.reset();
  while (trains && !engine.stopped() && !stepsExhausted()) {
    allowSteps();
    Expected<std::optional<StepResult>> step = engine.next(stepsLeft() == 1);
    if (!step)
      return step.status();
    const std::optional<StepResult> &next = *step;
    if (!next) {
      epochEnded = true;
      break;
    }
    const StepResult result = *next;
    report.add(result);
    ++totalSteps;
    if (losses.isOpen())
      PDLRT_RETURN_IF_ERROR(losses.write(
          result.weightSum != 0
              ? fmt::format("{:.17g}", result.lossSum / result.weightSum)
              : "nan"));
    if (checkpoints && checkpoints->stepsUntilDue(totalSteps - 1) == 1) {
      PDLRT_RETURN_IF_ERROR(meet(/*ended=*/false).status());
      PDLRT_RETURN_IF_ERROR(saveCheckpoint(epoch, report));
    }
    if (progress.due())
      showProgress(progress, report);
  }
  report.seconds = secondsSince(start);
  trainCpuSeconds += processCpuSeconds() - cpuBefore;
  PDLRT_RETURN_IF_ERROR(awaitOthers(epoch, report));
  const Report own = report;
  if (job->mayComeBack())
    leaveBookmark(Bookmark::Place::EpochEnds, nullptr);
  PDLRT_RETURN_IF_ERROR(addUp(trainer, report));
  // Before anything that may take long or fail.
  if (report.samples > 0)
    PDLRT_RETURN_IF_ERROR(saveCheckpoint(epoch, own));
  // All go on, or have done their steps.
  if (!stopping)
    totalSteps = agreedSteps;
  stepsInEpoch = report.steps;
  totalSamples += report.samples;
  skippedUpdates += report.skippedUpdates;
  trainSeconds += report.seconds;
  return {};
}

Status TrainCommand::writeDumps() {
  // The model first: it is what a full disk must not cost.
  if (!options.dump.empty()) {
    PDLRT_RETURN_IF_ERROR(dumpModel(*model, options.dump, options.dumpSlots));
    logInfo("wrote " + options.dump);
  }
  PDLRT_RETURN_IF_ERROR(losses.close());
  if (batchDump)
    PDLRT_RETURN_IF_ERROR(batchDump->write(options.dumpBatches));
  return {};
}

static std::string joinLines(const std::vector<std::string> &lines) {
  std::string text;
  for (const std::string &line : lines)
    text += (text.empty() ? "" : ", ") + line;
  return text;
}

Status TrainCommand::run() {
  PDLRT_RETURN_IF_ERROR(checkTarget(options.dump));
  PDLRT_RETURN_IF_ERROR(checkTarget(options.dumpBatches));
  PDLRT_RETURN_IF_ERROR(openCheckpoints());
  // Checkpoints of a job that runs are in nobody's way.
  const bool mayComeBack =
      options.distributed && options.distributed->mayComeBack;
  if (checkpoints && !mayComeBack)
    PDLRT_RETURN_IF_ERROR(checkpoints->checkFolder());
  PDLRT_RETURN_IF_ERROR(joinOthers());
  Status status;
  if (checkpoints && mayComeBack && !job->earlierBookmark())
    status = checkpoints->checkFolder();
  if (status.ok())
    status = runTraining();
  // Nobody asks servers any more.
  if (trainer.engine)
    trainer.engine->rest();
  job->leave(status);
  return status;
}

/// Takes up what an earlier start of this process left.
Status TrainCommand::comeBack(const Message &note) {
  Expected<Bookmark> decoded = decodeBookmark(note);
  if (!decoded)
    return decoded.status();
  bookmark = std::move(*decoded);
  const Bookmark &from = *bookmark;
  if (from.flags != digestOfFlags(options))
    return Status::invalid(
        "this trainer comes back to its job with other flags than it was "
        "started with at first: start it with the same command line");
  totalSteps = from.totalSteps;
  totalSamples = from.totalSamples;
  skippedUpdates = from.skippedUpdates;
  resumedSteps = from.resumedSteps;
  resumedSamples = from.resumedSamples;
  stepsInEpoch = from.stepsInEpoch;
  if (checkpoints)
    checkpoints->noteResumed(from.savedSteps, from.savedEpoch);
  logInfo(fmt::format("came back to the job, after {} steps in epoch {}",
                      totalSteps, from.epoch + 1));
  return {};
}

/// Begins together with the others, or goes on among them.
Status TrainCommand::begin() {
  const std::optional<Message> note = job->earlierBookmark();
  if (note && note->size() > 0)
    return comeBack(*note);
  PDLRT_RETURN_IF_ERROR(checkAgreement(options, *job));
  return shareProgress();
}

Status TrainCommand::runTraining() {
  PDLRT_RETURN_IF_ERROR(begin());
  PDLRT_RETURN_IF_ERROR(createModel(resumedCheckpoint()));
  DataOptions data = options.data;
  data.seed = model->seed();
  PDLRT_RETURN_IF_ERROR(openProgram("train", data, layout(), trainer));
  PDLRT_RETURN_IF_ERROR(prepareEvaluation());
  if (!options.dumpBatches.empty())
    batchDump = std::make_unique<BatchDump>(descriptor, *trainer.program);
  if (!options.logLosses.empty())
    PDLRT_RETURN_IF_ERROR(losses.open(options.logLosses));

  const int64_t epochs = options.epochs.value_or(
      options.steps ? std::numeric_limits<int64_t>::max() : 1);
  Report trained, tested;
  int64_t epoch = bookmark     ? bookmark->epoch
                  : resumption ? resumption->progress.epoch
                               : 0;
  for (; bookmark || (epoch < epochs && !stopping && !stepsExhausted());
       ++epoch) {
    Report latest;
    PDLRT_RETURN_IF_ERROR(trainEpoch(epoch, latest));
    PDLRT_RETURN_IF_ERROR(requireSamples(latest, data.files));
    // A signal may end an epoch before its first step.
    if (latest.samples == 0)
      break;
    trained = latest;
    std::vector<std::string> lines =
        reportLines("train", descriptor, true, trained);
    // An earlier epoch's figures are not this one's.
    tested = {};
    if (tests && !stopping)
      PDLRT_RETURN_IF_ERROR(evaluateOnce(tester, "test", tested));
    // A test that a signal cut short says nothing about the test data.
    if (stopping)
      tested = {};
    if (tests && !stopping) {
      PDLRT_RETURN_IF_ERROR(requireSamples(
          tested,
          options.evaluateFiles.empty() ? data.files : options.evaluateFiles));
      std::vector<std::string> more =
          reportLines("test", descriptor, tester.program->has_loss, tested);
      lines.insert(lines.end(), more.begin(), more.end());
    }
    logInfo(fmt::format("epoch {}: {}", epoch + 1, joinLines(lines)));
  }
  PDLRT_RETURN_IF_ERROR(writeDumps());
  if (stopping && !stopSignal())
    noteStopSignal(SIGTERM);
  reportTraining(trained, tested);
  return {};
}

void TrainCommand::reportTraining(const Report &trained,
                                  const Report &tested) const {
  if (stopping)
    print("stopped by a signal after the current step");
  if (resumption)
    print("nothing left to train: the checkpoint has as many steps or epochs");
  // With nothing trained, the totals lack the epoch that was running.
  const int64_t runSamples =
      totalSteps > resumedSteps ? totalSamples - resumedSamples : 0;
  if (resumedSteps > 0)
    print(fmt::format("resumed after {} steps, {} samples", resumedSteps,
                      resumedSamples));
  print(
      fmt::format("trained {} steps, {} samples in {:.1f} s ({:.0f} "
                  "samples/s)",
                  totalSteps - resumedSteps, runSamples, trainSeconds,
                  trainSeconds > 0 ? double(runSamples) / trainSeconds : 0.0));
  for (const std::string &line :
       costLines(trainer.engine->costs(), trainSeconds, trainCpuSeconds))
    print(line);
  if (skippedUpdates)
    print(fmt::format("updates skipped for a zero sum of weights {}",
                      skippedUpdates));
  reportBadRows("", trainer);
  if (tests)
    reportBadRows("test ", tester);
  for (int32_t i = 0; i < descriptor.symbol_count; ++i)
    if (const EmbeddingTable *table = model->table(i))
      print(fmt::format("table @{} keys {}, {:.1f} MiB",
                        descriptor.symbols[i].name, table->size(),
                        double(table->memoryBytes()) / (1 << 20)));
  if (trained.samples > 0)
    for (const std::string &line :
         reportLines("train", descriptor, true, trained))
      print(line);
  if (tested.samples > 0) {
    reportKeys("test", tester.pulls);
    for (const std::string &line :
         reportLines("test", descriptor, tester.program->has_loss, tested))
      print(line);
  }
}

Status pdlrt::runTrain(const pdl_descriptor &descriptor,
                       const SessionOptions &options) {
  return TrainCommand(descriptor, options).run();
}
