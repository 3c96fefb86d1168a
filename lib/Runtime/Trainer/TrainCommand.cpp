//===- TrainCommand.cpp - The command that trains -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Trainer/TrainCommand.h"

#include "Trainer/Agreement.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Trainer/ModelFile.h"
#include "pdlrt/Trainer/StopSignal.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <unistd.h>
#include <utility>

using namespace pdlrt;

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

/// Begins together with the others, or goes on among them.
Status TrainCommand::begin() {
  const std::optional<Message> note = job->earlierBookmark();
  if (note && note->size() > 0)
    return comeBack(*note);
  PDLRT_RETURN_IF_ERROR(checkAgreement(options, *job));
  return shareProgress();
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
