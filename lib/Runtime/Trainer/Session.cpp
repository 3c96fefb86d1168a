//===- Session.cpp - The commands of a trainer ----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Trainer/Session.h"

#include "pdlrt/Core/Descriptor.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/Metrics.h"
#include "pdlrt/Data/BatchDump.h"
#include "pdlrt/Sched/Scheduler.h"
#include "pdlrt/Trainer/Job.h"
#include "pdlrt/Trainer/Model.h"
#include "pdlrt/Trainer/ModelCheckpoint.h"
#include "pdlrt/Trainer/ModelFile.h"
#include "pdlrt/Trainer/Predictions.h"
#include "pdlrt/Trainer/Progress.h"
#include "pdlrt/Trainer/Report.h"
#include "pdlrt/Trainer/Resumption.h"
#include "pdlrt/Trainer/RoundReader.h"
#include "pdlrt/Trainer/StopSignal.h"
#include "pdlrt/Trainer/TrainingCheckpoints.h"

#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <limits>
#include <memory>
#include <unistd.h>
#include <xxhash.h>

using namespace pdlrt;

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// A text file that is written line by line; closed with its owner.
class LineFile {
public:
  ~LineFile() {
    if (file)
      std::fclose(file);
  }
  Status open(const std::string &newPath) {
    path = newPath;
    file = std::fopen(path.c_str(), "w");
    return check(file != nullptr);
  }
  bool isOpen() const { return file != nullptr; }
  Status write(const std::string &line) {
    return check(std::fputs(line.c_str(), file) != EOF &&
                 std::fputc('\n', file) != EOF);
  }
  Status close() {
    std::FILE *closing = std::exchange(file, nullptr);
    return closing ? check(std::fclose(closing) == 0) : Status();
  }

private:
  Status check(bool good) const {
    return good ? Status()
                : Status::invalid("cannot write " + path + ": " +
                                  std::strerror(errno));
  }
  std::FILE *file = nullptr;
  std::string path;
};

/// One program with the engine and the data that it runs on.
struct Runner {
  const pdl_program *program = nullptr;
  std::unique_ptr<StepEngine> engine;
  std::unique_ptr<RoundReader> reader;

  /// Reads the next round; the engine may be one round behind.
  Expected<std::span<const StepInput>> readRound() {
    positionsBefore = reader->positions();
    Expected<bool> more = reader->next();
    if (!more)
      return std::move(more).status();
    if (!*more)
      return std::span<const StepInput>();
    ++rounds;
    return reader->inputs();
  }
  RoundSource source() {
    return [this] { return readRound(); };
  }
  /// Where the readers stand after `steps` rounds of the pass.
  const std::vector<DataPosition> &positionsAfter(int64_t steps) const {
    return rounds > steps ? positionsBefore : reader->positions();
  }

  /// Rounds read in this pass.
  int64_t rounds = 0;
  std::vector<DataPosition> positionsBefore;
  /// Of the last pass, over all processes.
  int64_t badRows = 0;
  PullCounts pulls;
};

/// What the commands share.
class Session {
public:
  Session(const pdl_descriptor &descriptor, const SessionOptions &options)
      : descriptor(descriptor), options(options),
        terminal(isatty(STDERR_FILENO) == 1), scheduler(options.threads) {}

  /// With the other processes of the job, if there are others.
  Status train();
  Status evaluate();
  Status predict();

private:
  Status runTraining();
  Status openCheckpoints();
  Status joinOthers();
  Status checkAgreement();
  Status shareProgress();
  uint64_t seedOfRun() const;
  Status createModel();
  Status openProgram(const char *name, const DataOptions &data,
                     const ReplicaLayout &layout, Runner &runner);
  Status prepareEvaluation();
  Status beginEpoch(int64_t epoch, Report &report);
  Expected<std::span<const StepInput>> readTrainingRound();
  Status trainEpoch(int64_t epoch, Report &report);
  Status saveCheckpoint(int64_t epoch, const Report &report);
  Status addUp(Runner &runner, Report &report);
  Status evaluateOnce(Runner &runner, const std::string &label, Report &report);
  Status requireSamples(const Report &report,
                        const std::vector<std::string> &files) const;
  Status writeDumps();
  ReplicaLayout layout() const {
    return job->layout(options.groups, options.workers);
  }
  /// Steps that this run may still do.
  int64_t stepsLeft() const {
    return options.steps.value_or(std::numeric_limits<int64_t>::max()) -
           totalSteps;
  }
  bool stepsExhausted() const { return stepsLeft() <= 0; }
  void reportBadRows(const char *label, const Runner &runner) const;
  void reportKeys(const char *label, const PullCounts &counts) const;

  const pdl_descriptor &descriptor;
  const SessionOptions &options;
  const bool terminal;
  Scheduler scheduler;
  std::unique_ptr<Job> job = createLocalJob();
  std::unique_ptr<TrainingCheckpoints> checkpoints;
  /// Until the first epoch begins.
  std::optional<Resumption> resumption;
  std::unique_ptr<Model> model;
  Runner trainer, tester;
  bool tests = false;
  std::unique_ptr<BatchDump> batchDump;
  LineFile losses;
  /// Over all runs; of the samples and skipped updates, those of epochs that
  /// have ended, and those before this run.
  int64_t totalSteps = 0, totalSamples = 0, skippedUpdates = 0;
  int64_t resumedSteps = 0, resumedSamples = 0;
  int64_t stepsInEpoch = 0;
  /// Whether the job ends early: the same in all its processes.
  bool stopping = false;
  /// Steps of the running epoch that an earlier run did.
  int64_t epochStart = 0;
  /// Whether the epoch that ran last came to the end of the data.
  bool epochEnded = false;
  double trainSeconds = 0;
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

static void print(const std::string &line) {
  std::fputs((line + "\n").c_str(), stdout);
}

/// With servers: what all processes compare before they begin.
uint64_t Session::seedOfRun() const {
  const Checkpoint *from = checkpoints ? checkpoints->resumed() : nullptr;
  return options.seed.value_or(from ? from->manifest().seed : 0);
}

Status Session::createModel() {
  if (job->stateLocation() == StateLocation::Servers) {
    model = std::make_unique<Model>(descriptor, seedOfRun(),
                                    StateLocation::Servers);
    return {};
  }
  // The state of a checkpoint belongs to the seed that it was trained with.
  std::optional<Checkpoint> opened;
  const Checkpoint *checkpoint = checkpoints ? checkpoints->resumed() : nullptr;
  if (!checkpoints && !options.checkpoint.empty()) {
    std::vector<std::string> refused;
    Expected<Checkpoint> found = openCheckpoint(options.checkpoint, refused);
    for (const std::string &sentence : refused)
      logWarning("passed over " + sentence);
    if (!found)
      return found.status();
    checkpoint = &opened.emplace(std::move(*found));
  }
  if (checkpoint) {
    PDLRT_RETURN_IF_ERROR(checkSameModel(descriptor, *checkpoint));
    model = std::make_unique<Model>(
        descriptor, options.seed.value_or(checkpoint->manifest().seed));
    return restoreModel(*model, *checkpoint);
  }
  uint64_t seed = options.seed.value_or(0);
  if (!options.seed && !options.initFrom.empty()) {
    Expected<std::optional<uint64_t>> found = seedOfModelFile(options.initFrom);
    if (!found)
      return std::move(found).status();
    seed = found->value_or(0);
  }
  model = std::make_unique<Model>(descriptor, seed);
  return options.initFrom.empty() ? Status()
                                  : initializeModel(*model, options.initFrom);
}

Status Session::openProgram(const char *name, const DataOptions &data,
                            const ReplicaLayout &layout, Runner &runner) {
  runner.program = findProgram(descriptor, name);
  if (!runner.program) {
    std::string known;
    for (int32_t i = 0; i < descriptor.program_count; ++i)
      known += std::string(known.empty() ? "@" : ", @") +
               descriptor.programs[i].name;
    return Status::invalid(std::string("model ") + descriptor.model_name +
                           " has no program @" + name + ", only " +
                           (known.empty() ? "none" : known) +
                           "; add one to the model and translate it again");
  }
  Expected<std::unique_ptr<RoundReader>> reader =
      RoundReader::open(data, descriptor, *runner.program, layout,
                        /*readAhead=*/options.threads > 1);
  if (!reader)
    return std::move(reader).status();
  runner.reader = std::move(*reader);
  Expected<std::unique_ptr<StepEngine>> engine =
      job->createEngine(*model, *runner.program, layout, scheduler);
  if (!engine)
    return engine.status();
  runner.engine = std::move(*engine);
  return {};
}

/// Turns the figures of this process into those of the job.
Status Session::addUp(Runner &runner, Report &report) {
  ReplicaSet &replicas = runner.engine->replicas();
  const PullCounts pulls = replicas.pullCounts();
  std::vector<int64_t> counts = {
      report.samples, stopSignal() != 0,    runner.reader->badRowCount(),
      pulls.ids,      pulls.unknownInitial, pulls.unknownZero};
  std::vector<double> sums = {report.lossSum, report.weightSum};
  const size_t firstCount = counts.size(), firstSum = sums.size();
  for (int32_t m = 0; m < descriptor.metric_count; ++m) {
    counts.resize(counts.size() + metricCountSize(descriptor.metrics[m]));
    sums.resize(sums.size() + metricSumSize(descriptor.metrics[m]));
  }
  auto forEachMetric = [&](auto visit) {
    int64_t *count = counts.data() + firstCount;
    double *sum = sums.data() + firstSum;
    for (int32_t m = 0; m < descriptor.metric_count; ++m) {
      pdl_metric_data data = {count, sum};
      visit(m, data);
      count += metricCountSize(descriptor.metrics[m]);
      sum += metricSumSize(descriptor.metrics[m]);
    }
  };
  forEachMetric(
      [&](int32_t m, pdl_metric_data &data) { replicas.sumMetric(m, data); });
  PDLRT_RETURN_IF_ERROR(job->sum(counts, sums));
  report.samples = counts[0];
  stopping |= counts[1] > 0;
  runner.badRows = counts[2];
  runner.pulls.ids = counts[3];
  runner.pulls.unknownInitial = counts[4];
  runner.pulls.unknownZero = counts[5];
  if (!runner.engine->sumsOverJob()) {
    report.lossSum = sums[0];
    report.weightSum = sums[1];
  }
  report.metrics.clear();
  forEachMetric([&](int32_t m, pdl_metric_data &data) {
    report.metrics.push_back(metricValue(descriptor.metrics[m], data));
  });
  return {};
}

Status Session::requireSamples(const Report &report,
                               const std::vector<std::string> &files) const {
  if (report.samples > 0 || stopping)
    return {};
  return Status::invalid("no samples in " + files.front() +
                         (files.size() > 1 ? " and the other files" : "") +
                         "; check the file and the range of rows");
}

void Session::reportBadRows(const char *label, const Runner &runner) const {
  if (runner.badRows == 0)
    return;
  for (const std::string &sentence : runner.reader->badRowSentences())
    logWarning("skipped " + sentence);
  print(fmt::format("{}bad rows skipped {}", label, runner.badRows));
}

void Session::reportKeys(const char *label, const PullCounts &counts) const {
  if (counts.unknownInitial || counts.unknownZero)
    print(fmt::format("{} ids looked up {}, of unknown keys {} (initial value) "
                      "and {} (zeros)",
                      label, counts.ids, counts.unknownInitial,
                      counts.unknownZero));
}

//===----------------------------------------------------------------------===//
// train
//===----------------------------------------------------------------------===//

Status Session::prepareEvaluation() {
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

Status Session::openCheckpoints() {
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
Status Session::joinOthers() {
  if (!options.distributed)
    return {};
  const Checkpoint *from = checkpoints ? checkpoints->resumed() : nullptr;
  RunOptions run;
  run.workers = options.workers;
  run.seed = seedOfRun();
  run.startStep = from ? from->manifest().progress.steps : 0;
  Expected<std::unique_ptr<Job>> joined =
      joinJob(descriptor, *options.distributed, run, *options.transport);
  if (!joined)
    return joined.status();
  job = std::move(*joined);
  return {};
}

/// Refuses to begin where trainers were started with different flags: they
/// would wait for each other, or train on samples twice.
Status Session::checkAgreement() {
  if (!options.distributed)
    return {};
  auto numberOr = [](const std::optional<int64_t> &number, const char *none) {
    return number ? std::to_string(*number) : std::string(none);
  };
  std::vector<std::pair<std::string, std::string>> flags =
      dataSettings(options);
  flags.emplace_back("--epochs", numberOr(options.epochs, "none"));
  flags.emplace_back("--steps", numberOr(options.steps, "none"));
  flags.emplace_back("--evaluate-data",
                     options.evaluateFiles.empty() ? "none" : "some files");
  flags.emplace_back("--evaluate-rows",
                     options.evaluateRows ? "some rows" : "none");
  flags.emplace_back("--checkpoint",
                     options.checkpoint.empty() ? "none" : "a folder");
  flags.emplace_back("--checkpoint-steps",
                     numberOr(options.checkpointSteps, "none"));
  flags.emplace_back("--resume", options.resume ? "yes" : "no");
  std::vector<int64_t> counts;
  for (const auto &[flag, value] : flags)
    counts.push_back(int64_t(XXH64(value.data(), value.size(), 0) >> 16));
  const std::vector<int64_t> own = counts;
  PDLRT_RETURN_IF_ERROR(job->sum(counts, {}));
  for (size_t i = 0; i < counts.size(); ++i)
    if (counts[i] != own[i] * options.distributed->trainers)
      return Status::invalid(fmt::format(
          "the trainers were not all started with the same {}; this one has "
          "{}: give all of them the same",
          flags[i].first, flags[i].second));
  return {};
}

/// Finds out where the job goes on, if it does.
Status Session::shareProgress() {
  if (!checkpoints || !options.resume)
    return {};
  // What the first process found counts for all.
  Expected<std::optional<Resumption>> shared = shareResumption(
      descriptor, layout(), job->rank() == 0 ? checkpoints->resumed() : nullptr,
      *job);
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
Status Session::beginEpoch(int64_t epoch, Report &report) {
  ReplicaSet &replicas = trainer.engine->replicas();
  replicas.resetCounters();
  trainer.rounds = 0;
  if (!resumption)
    return trainer.reader->beginEpoch(epoch);
  const Resumption from = *std::exchange(resumption, std::nullopt);
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
  report.lossSum = from.running.lossSum;
  report.weightSum = from.running.weightSum;
  report.steps = progress.epochSteps;
  report.samples = first ? progress.epochSamples : 0;
  report.skippedUpdates = progress.epochSkippedUpdates;
  const ReplicaLayout own = layout();
  const auto begin = progress.positions.begin() + own.firstGroup;
  return trainer.reader->restore({begin, begin + own.localGroups}, badRows);
}

/// Saves in the middle of `epoch`, or behind it if it has ended. What was
/// counted of it here is in `report`, not yet in the totals.
Status Session::saveCheckpoint(int64_t epoch, const Report &report) {
  if (!checkpoints)
    return {};
  TrainingProgress progress;
  progress.steps = totalSteps;
  progress.skippedUpdates = skippedUpdates + report.skippedUpdates;
  progress.epoch = epochEnded ? epoch + 1 : epoch;
  if (checkpoints->isSaved(progress.steps, progress.epoch))
    return {};
  RunningEpoch running =
      collectRunningEpoch(descriptor, trainer.engine->replicas());
  running.lossSum = report.lossSum;
  running.weightSum = report.weightSum;
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
Expected<std::span<const StepInput>> Session::readTrainingRound() {
  Expected<std::span<const StepInput>> inputs = trainer.readRound();
  if (!inputs || !batchDump)
    return inputs;
  for (size_t r = 0; r < inputs->size(); ++r)
    if ((*inputs)[r].samples > 0)
      PDLRT_RETURN_IF_ERROR(batchDump->add(trainer.reader->batch(int(r)),
                                           totalSteps, int(r) / options.workers,
                                           int(r) % options.workers));
  return inputs;
}

Status Session::trainEpoch(int64_t epoch, Report &report) {
  StepEngine &engine = *trainer.engine;
  std::string label = fmt::format("epoch {}", epoch + 1);
  if (options.epochs)
    label += fmt::format("/{}", *options.epochs);
  Progress progress(label, terminal);
  epochEnded = false;
  PDLRT_RETURN_IF_ERROR(beginEpoch(epoch, report));
  const Clock::time_point start = Clock::now();
  epochStart = report.steps;
  PDLRT_RETURN_IF_ERROR(engine.begin([this] { return readTrainingRound(); }));
  while (!engine.stopped() && !stepsExhausted()) {
    Expected<std::optional<StepResult>> step = engine.next(stepsLeft() == 1);
    if (!step)
      return step.status();
    if (!*step) {
      epochEnded = true;
      break;
    }
    report.add(**step);
    ++totalSteps;
    if (losses.isOpen())
      PDLRT_RETURN_IF_ERROR(losses.write(
          (*step)->weightSum != 0
              ? fmt::format("{:.17g}", (*step)->lossSum / (*step)->weightSum)
              : "nan"));
    if (checkpoints && checkpoints->isDue(totalSteps))
      PDLRT_RETURN_IF_ERROR(saveCheckpoint(epoch, report));
    if (progress.due()) {
      int64_t expected = stepsInEpoch;
      if (options.steps) {
        int64_t left = *options.steps - totalSteps + report.steps;
        expected = expected ? std::min(expected, left) : left;
      }
      progress.show({report.samples, report.steps, expected, report.meanLoss(),
                     firstAuc(descriptor, engine.replicas())});
    }
  }
  report.seconds = secondsSince(start);
  const Report own = report;
  PDLRT_RETURN_IF_ERROR(addUp(trainer, report));
  // Before anything that may take long or fail.
  if (report.samples > 0)
    PDLRT_RETURN_IF_ERROR(saveCheckpoint(epoch, own));
  stepsInEpoch = report.steps;
  totalSamples += report.samples;
  skippedUpdates += report.skippedUpdates;
  trainSeconds += report.seconds;
  return {};
}

Status Session::evaluateOnce(Runner &runner, const std::string &label,
                             Report &report) {
  StepEngine &engine = *runner.engine;
  Progress progress(label, terminal);
  engine.replicas().resetCounters();
  PDLRT_RETURN_IF_ERROR(runner.reader->beginEpoch(0));
  const Clock::time_point start = Clock::now();
  PDLRT_RETURN_IF_ERROR(engine.begin(runner.source()));
  while (!engine.stopped()) {
    Expected<std::optional<StepResult>> step = engine.next(false);
    if (!step)
      return step.status();
    if (!*step)
      break;
    report.add(**step);
    if (progress.due())
      progress.show({report.samples, report.steps, 0, report.meanLoss(),
                     firstAuc(descriptor, engine.replicas())});
  }
  report.seconds = secondsSince(start);
  return addUp(runner, report);
}

Status Session::writeDumps() {
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

Status Session::train() {
  PDLRT_RETURN_IF_ERROR(checkTarget(options.dump));
  PDLRT_RETURN_IF_ERROR(checkTarget(options.dumpBatches));
  PDLRT_RETURN_IF_ERROR(openCheckpoints());
  PDLRT_RETURN_IF_ERROR(joinOthers());
  Status status = runTraining();
  job->leave(status);
  return status;
}

Status Session::runTraining() {
  PDLRT_RETURN_IF_ERROR(checkAgreement());
  PDLRT_RETURN_IF_ERROR(shareProgress());
  PDLRT_RETURN_IF_ERROR(createModel());
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
  int64_t epoch = resumption ? resumption->progress.epoch : 0;
  for (; epoch < epochs && !stopping && !stepsExhausted(); ++epoch) {
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
  return {};
}

//===----------------------------------------------------------------------===//
// evaluate, predict
//===----------------------------------------------------------------------===//

Status Session::evaluate() {
  PDLRT_RETURN_IF_ERROR(createModel());
  PDLRT_RETURN_IF_ERROR(
      openProgram("evaluate", options.data, layout(), tester));
  Report report;
  PDLRT_RETURN_IF_ERROR(evaluateOnce(tester, "evaluate", report));
  PDLRT_RETURN_IF_ERROR(requireSamples(report, options.data.files));
  if (stopping)
    print("stopped by a signal after the current step");
  print(fmt::format("evaluated {} samples in {:.1f} s ({:.0f} samples/s)",
                    report.samples, report.seconds,
                    report.seconds > 0 ? double(report.samples) / report.seconds
                                       : 0.0));
  reportBadRows("", tester);
  reportKeys("test", tester.pulls);
  for (const std::string &line :
       reportLines("test", descriptor, tester.program->has_loss, report))
    print(line);
  return {};
}

Status Session::predict() {
  PDLRT_RETURN_IF_ERROR(createModel());
  Runner runner;
  PDLRT_RETURN_IF_ERROR(openProgram("predict", options.data, {}, runner));
  if (runner.program->output_count == 0)
    return Status::invalid("program @predict has no outputs; return a value "
                           "from it and translate the model again");
  Expected<PredictionWriter> writer =
      PredictionWriter::open(options.output, *runner.program);
  if (!writer)
    return std::move(writer).status();
  PDLRT_RETURN_IF_ERROR(runner.reader->beginEpoch(0));
  int64_t samples = 0;
  PDLRT_RETURN_IF_ERROR(runner.engine->begin(runner.source()));
  while (!stopSignal()) {
    Expected<std::optional<StepResult>> step = runner.engine->next(false);
    if (!step)
      return step.status();
    if (!*step)
      break;
    PDLRT_RETURN_IF_ERROR(writer->write(runner.engine->replicas()[0].current(),
                                        (*step)->samples));
    samples += (*step)->samples;
  }
  PDLRT_RETURN_IF_ERROR(writer->finish());
  Report report;
  report.samples = samples;
  stopping = stopSignal() != 0;
  PDLRT_RETURN_IF_ERROR(requireSamples(report, options.data.files));
  for (const std::string &sentence : runner.reader->badRowSentences())
    logWarning("skipped " + sentence);
  PullCounts counts = runner.engine->replicas().pullCounts();
  logInfo(fmt::format("predicted {} samples, skipped {} bad rows; ids of "
                      "unknown keys {} of {}",
                      samples, runner.reader->badRowCount(),
                      counts.unknownInitial + counts.unknownZero, counts.ids));
  return {};
}

Status pdlrt::runTrain(const pdl_descriptor &descriptor,
                       const SessionOptions &options) {
  return Session(descriptor, options).train();
}

Status pdlrt::runEvaluate(const pdl_descriptor &descriptor,
                          const SessionOptions &options) {
  return Session(descriptor, options).evaluate();
}

Status pdlrt::runPredict(const pdl_descriptor &descriptor,
                         const SessionOptions &options) {
  return Session(descriptor, options).predict();
}
