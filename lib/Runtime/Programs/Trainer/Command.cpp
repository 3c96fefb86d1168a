//===- Command.cpp - Common part of a trainer's commands ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/Command.h"

#include "Data/InputFile.h"
#include "Data/RecordReader.h"
#include "Programs/Trainer/Agreement.h"
#include "pdlabi/metrics.h"
#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Abi/Mode.h"
#include "pdlrt/Checkpoint/ModelCheckpoint.h"
#include "pdlrt/Checkpoint/ModelFile.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/LogFormat.h"
#include "pdlrt/Core/StopSignal.h"
#include "pdlrt/Data/BatchSource.h"
#include "pdlrt/Job/GatherGroups.h"
#include "pdlrt/Kernels/Metrics.h"
#include "pdlrt/Programs/Trainer/Progress.h"

#include <filesystem>
#include <fmt/format.h>
#include <new>
#include <optional>
#include <span>
#include <unistd.h>
#include <utility>

using namespace pdlrt;

Command::Command(const pdl_descriptor &descriptor,
                 const SessionOptions &options)
    : descriptor(descriptor), options(options),
      terminal(isatty(STDERR_FILENO) == 1 && logFormat() == LogFormat::Text),
      scheduler(options.threads,
                options.pinThreads ? Pinning::Processors : Pinning::None),
      rangeWarnings(descriptor) {}

double Command::secondsSince(SteadyClock::time_point start) {
  return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

uint64_t Command::seedOfRun(const Checkpoint *from) const {
  if (startSeed)
    return *startSeed;
  return options.seed.value_or(from ? from->manifest().seed : 0);
}

/// Returns the error if the state does not fit into memory. It contains a
/// remedy.
static Status refuseState(const pdl_descriptor &descriptor,
                          StateLocation location) {
  double all = 0, most = 0;
  const char *largest = "";
  for (int32_t i = 0; i < descriptor.symbol_count; ++i) {
    const pdl_symbol &symbol = descriptor.symbols[i];
    if (symbol.kind == PDL_SYMBOL_TABLE)
      continue;
    const int64_t rowWidth = location == StateLocation::Servers
                                 ? symbol.row_width
                                 : rowElements(symbol);
    const double bytes = double(symbol.row_count) * double(rowWidth) *
                         double(elementSize(symbol));
    all += bytes;
    if (bytes > most) {
      most = bytes;
      largest = symbol.name;
    }
  }
  constexpr double gibibyte = double(1 << 30);
  return Status::outOfMemory(fmt::format(
      "out of memory: the parameters{} need {:.1f} GiB, of which @{} needs "
      "{:.1f} GiB; make it smaller or a table, {}or use a machine with more "
      "memory",
      location == StateLocation::Servers ? "" : " and the optimizer's slots",
      all / gibibyte, largest, most / gibibyte,
      location == StateLocation::Servers
          ? ""
          : "let servers share it (--mode=sync), "));
}

Status Command::openDevices() {
  if (descriptor.target == PDL_TARGET_CPU || !devices.empty())
    return {};
  Expected<std::vector<std::unique_ptr<ProgramDevice>>> opened =
      ProgramDevice::open(descriptor, options.device, layout().localReplicas(),
                          options.roundsToTF32);
  if (!opened)
    return std::move(opened).status();
  devices = std::move(*opened);
  for (const std::unique_ptr<ProgramDevice> &each : devices)
    logInfo("computing on " + each->device().describe() +
            (options.roundsToTF32 ? ", with factors of products in TF32" : ""));
  return {};
}

std::vector<Device *> Command::openedDevices() const {
  std::vector<Device *> all;
  for (const std::unique_ptr<ProgramDevice> &each : devices)
    all.push_back(&each->device());
  return all;
}

Status pdlrt::checkTablePlacement(const pdl_descriptor &descriptor,
                                  const SessionOptions &options) {
  if (options.tablePlacement != TablePlacement::Device)
    return {};
  const std::string remedy = ": use --table-placement host";
  if (descriptor.target == PDL_TARGET_CPU)
    return Status::invalidArgument(
        "--table-placement device is for a program that was "
        "translated with --target=cuda" +
        remedy);
  if (modeOf(descriptor).hasServers)
    return Status::invalidArgument(fmt::format(
        "--table-placement device is for one process that has all state, but "
        "this program is of mode {}, whose tables are with their owners{}",
        modeOf(descriptor).name, remedy));
  if (options.hogwild)
    return Status::invalidArgument(
        "--table-placement device is not for --hogwild, "
        "whose workers update rows of the host's memory" +
        remedy);
  return {};
}

Status pdlrt::checkEviction(const pdl_descriptor &descriptor,
                            const SessionOptions &options) {
  PDLRT_RETURN_IF_ERROR(checkTableBound(descriptor, options.tableBound));
  if (options.tableBound.maxBytes == 0)
    return {};
  const Mode &mode = modeOf(descriptor);
  if (mode.trainersApply)
    return Status::invalidArgument(
        fmt::format("--max-table-memory is not for mode {}, in which each "
                    "trainer has rows of its own; leave it out",
                    mode.name));
  if (mode.hasServers && mode.tablesWith == pdlabi::OwnerPlace::Servers)
    return Status::invalidArgument(fmt::format(
        "--max-table-memory is for who holds tables, which in mode {} servers "
        "do; give the flag to pserver",
        mode.name));
  if (options.tablePlacement == TablePlacement::Device)
    return Status::invalidArgument(
        "--max-table-memory is for tables in the host's "
        "memory; use --table-placement host");
  if (options.hogwild)
    return Status::invalidArgument(
        "--max-table-memory is not for --hogwild, whose "
        "workers would use rows that go; leave one of the "
        "two out");
  return {};
}

Status Command::makeModel(uint64_t seed, StateLocation location) {
  PDLRT_RETURN_IF_ERROR(openDevices());
  PDLRT_RETURN_IF_ERROR(checkTablePlacement(descriptor, options));
  try {
    model = std::make_unique<Model>(descriptor, seed, location);
    model->computeOn(openedDevices());
    PDLRT_RETURN_IF_ERROR(model->boundTables(options.tableBound));
    if (options.tablePlacement == TablePlacement::Device)
      model->placeTablesOnDevice();
    return {};
  } catch (const std::bad_alloc &) {
    return refuseState(descriptor, location);
  }
}

Status Command::createModel(const Checkpoint *from, CheckpointUse use) {
  if (job->stateLocation() != StateLocation::Here)
    return makeModel(seedOfRun(from), job->stateLocation());
  if (from) {
    OldLayout old = {.accepted = options.acceptOldLayout, .unchecked = {}};
    PDLRT_RETURN_IF_ERROR(checkSameModel(descriptor, *from, use, &old));
    warnOfOldLayout(from->path(), old);
    // The state of a checkpoint belongs to the seed that it was trained with.
    PDLRT_RETURN_IF_ERROR(makeModel(seedOfRun(from), StateLocation::Here));
    return restoreModel(*model, *from, use, &scheduler);
  }
  uint64_t seed = options.seed.value_or(0);
  if (!options.seed && !options.initFrom.empty()) {
    Expected<std::optional<uint64_t>> found = seedOfModelFile(options.initFrom);
    if (!found)
      return std::move(found).status();
    seed = found->value_or(0);
  }
  PDLRT_RETURN_IF_ERROR(makeModel(seed, StateLocation::Here));
  return options.initFrom.empty()
             ? Status()
             : initializeModel(*model, options.initFrom,
                               use == CheckpointUse::Training
                                   ? coverageOfTraining(options.initValuesOnly)
                                   : FileCoverage::Parameters,
                               options.acceptOldLayout);
}

Status Command::createTrainedModel() {
  if (options.checkpoint.empty())
    return createModel(nullptr, CheckpointUse::Values);
  std::vector<std::string> refused;
  Expected<Checkpoint> found =
      openCheckpoint(options.checkpoint, refused, &scheduler);
  // If there is no checkpoint, the error says why.
  if (!found)
    return found.status();
  for (const std::string &message : refused)
    logWarning("passed over " + message);
  trainedSteps = found->manifest().progress.steps;
  return createModel(&*found, CheckpointUse::Values);
}

/// Returns the program with this name, or an error that lists the programs.
static Expected<const pdl_program *>
requireProgram(const pdl_descriptor &descriptor, const char *name) {
  if (const pdl_program *program = findProgram(descriptor, name))
    return program;
  std::string known;
  for (int32_t i = 0; i < descriptor.program_count; ++i)
    known +=
        std::string(known.empty() ? "@" : ", @") + descriptor.programs[i].name;
  return Status::invalidArgument(
      std::string("model ") + descriptor.model_name + " has no program @" +
      name + ", only " + (known.empty() ? "none" : known) +
      "; add one to the model and translate it again");
}

/// Returns an error if the program trains.
static Status requireFrozen(const pdl_program &program) {
  if (!program.frozen)
    return Status::invalidArgument(
        std::string("program @") + program.name +
        " is not frozen, and would change the model; give "
        "--program one that is");
  return {};
}

Status pdlrt::checkProgramFlag(const pdl_descriptor &descriptor,
                               const SessionOptions &options) {
  if (options.program.empty())
    return {};
  const Expected<const pdl_program *> program =
      requireProgram(descriptor, options.program.c_str());
  return program ? requireFrozen(**program) : program.status();
}

Expected<const pdl_program *> Command::programNamed(const char *name) const {
  return requireProgram(descriptor, name);
}

/// Refuses group metrics in a job whose trainers may restart. Each process
/// stores samples of such a metric until the epoch ends, and a restarted
/// process would have lost them.
Status Command::checkGroups(const pdl_program &program) const {
  if (!program.observes_groups || !options.distributed ||
      !options.distributed->mayRejoin)
    return {};
  return Status::invalidArgument(fmt::format(
      "program @{} observes a metric of groups, whose samples are lost with a "
      "trainer that is restarted within its job; leave --on-failure=wait out, "
      "or "
      "observe it in a program that one process runs, and translate the model "
      "again: compiled with --mode=local, 'trainer evaluate --checkpoint' "
      "reads what this job saves",
      program.name));
}

int Command::processes() const {
  return options.distributed ? options.distributed->trainers : 1;
}

Expected<pdlabi::GroupedSamples>
Command::gatherGroupsOf(const ReplicaSet &replicas, int32_t metric) {
  return gatherGroups(*job, processes(), descriptor.metrics[metric].name,
                      replicas.groupsOf(metric));
}

Status Command::sumGroups(const ReplicaSet &replicas, int32_t metric,
                          double *sums) {
  std::vector<const pdlabi::GroupedSamples *> parts = replicas.groupsOf(metric);
  Expected<pdlabi::GroupedSamples> all = pdlabi::GroupedSamples();
  if (processes() > 1) {
    all = gatherGroupsOf(replicas, metric);
    if (!all)
      return all.status();
    parts = {&*all};
  }
  return pdlrt::sumGroups(descriptor.metrics[metric], parts, sums);
}

Status Command::checkData(const char *name, const DataOptions &data) const {
  Expected<const pdl_program *> program = programNamed(name);
  if (!program)
    return program.status();
  PDLRT_RETURN_IF_ERROR(checkGroups(**program));
  for (const std::string &file : data.files) {
    std::error_code ignored;
    if (!canBeReadAgain(file) || std::filesystem::is_directory(file, ignored))
      return {};
  }
  DataOptions first = data;
  // Rows are counted only during the run.
  first.rows = {};
  const int rank = options.distributed ? options.distributed->rank : 0;
  return BatchSource::open(first, descriptor, **program, options.groups, rank,
                           options.workers)
      .status();
}

Status Command::openProgram(const char *name, const DataOptions &data,
                            const ReplicaLayout &layout, ProgramRun &run) {
  Expected<const pdl_program *> program = programNamed(name);
  if (!program)
    return program.status();
  run.program = *program;
  run.files = CopiedFiles(data.files);
  if (options.program == name)
    PDLRT_RETURN_IF_ERROR(requireFrozen(*run.program));
  PDLRT_RETURN_IF_ERROR(checkGroups(*run.program));
  Expected<std::unique_ptr<StepEngine>> engine =
      job->createEngine(*model, *run.program, layout, scheduler);
  if (!engine)
    return engine.status();
  run.engine = std::move(*engine);
  run.engine->replicas().limitGroupedSamples(
      options.maxGroupedSamples, options.maxGroupedSamples / processes());
  Expected<std::unique_ptr<RoundReader>> reader = RoundReader::open(
      data, descriptor, *run.program, layout,
      /*readAhead=*/options.threads > 1, run.engine->roundsInUse());
  if (!reader)
    return std::move(reader).status();
  run.reader = std::move(*reader);
  return {};
}

Expected<int64_t> Command::addUp(ProgramRun &run, PassReport &report,
                                 bool fails) {
  ReplicaSet &replicas = run.engine->replicas();
  const PullCounts pulls = replicas.pullCounts();
  std::vector<int64_t> counts = {
      report.samples, stopSignal() != 0,    run.reader->badRowCount(),
      pulls.ids,      pulls.unknownInitial, pulls.unknownZero,
      fails};
  // Each process reads copies of the same files, which may change.
  const ContentCounts content =
      processes() > 1 ? countContent(run.files) : ContentCounts();
  counts.insert(counts.end(), content.begin(), content.end());
  std::vector<double> sums = {report.lossSum, report.weightSum};
  const size_t firstSum = sums.size();
  MetricSums metrics(descriptor, 1);
  forEachMetric(descriptor, 1, metrics, [&](const MetricBlock &block) {
    replicas.sumMetric(block.index, block.of(0));
  });
  sums.insert(sums.end(), metrics.sums.begin(), metrics.sums.end());
  PDLRT_RETURN_IF_ERROR(job->sum(counts, sums));
  PDLRT_RETURN_IF_ERROR(checkSameContent(
      run.files, content, std::span(counts).last(content.size()), processes()));
  report.samples = counts[0];
  stopping |= counts[1] > 0;
  report.badRows = counts[2];
  run.pulls.ids = counts[3];
  run.pulls.unknownInitial = counts[4];
  run.pulls.unknownZero = counts[5];
  if (!run.engine->sumsOverJob()) {
    report.lossSum = sums[0];
    report.weightSum = sums[1];
  }
  metrics.sums.assign(sums.begin() + int64_t(firstSum), sums.end());
  if (run.program->observes_groups) {
    Status status;
    forEachMetric(descriptor, 1, metrics, [&](const MetricBlock &block) {
      if (status.ok() &&
          pdlabi::observesGroups(descriptor.metrics[block.index].kind))
        status = sumGroups(replicas, block.index, block.sums);
    });
    PDLRT_RETURN_IF_ERROR(std::move(status));
  }
  report.metrics.clear();
  forEachMetric(descriptor, 1, metrics, [&](const MetricBlock &block) {
    const pdl_metric &metric = descriptor.metrics[block.index];
    if (options.printsFigures)
      rangeWarnings.check(block.index, block.of(0));
    report.metrics.push_back(
        {metricValue(metric, block.of(0)), whyUndefined(metric, block.of(0)),
         pdlabi::metricRemark(metric.kind, metric.parameter, block.sums)});
    if (metric.kind == PDL_METRIC_AUC && !options.tensorboard.empty())
      report.metrics.back().buckets.assign(
          block.sums,
          block.sums + pdlabi::AreaUnderCurve::sumCount(metric.parameter));
  });
  return counts[6];
}

Status Command::requireSamples(const pdl_program &program,
                               const PassReport &report,
                               const std::vector<std::string> &files) const {
  if (stopping)
    return {};
  const std::string where = inputName(files.front()) +
                            (files.size() > 1 ? " and the other files" : "");
  if (report.samples == 0 && report.badRows > 0)
    return Status::invalidArgument(
        fmt::format("no samples in {}: all rows are bad ({}); check the "
                    "delimiter and the columns",
                    where, report.badRows));
  if (report.samples == 0)
    return Status::invalidArgument("no samples in " + where +
                                   "; check the file and the range of rows");
  if (program.objective_count > 0 && !(report.weightSum > 0))
    logWarning(
        "all weights in " + where +
        " are 0, so that nothing was trained and there is no loss; check "
        "the column of the weights");
  return {};
}

Status Command::evaluateHere(ProgramRun &run, const std::string &label,
                             PassReport &report, const StepVisitor &visit) {
  StepEngine &engine = *run.engine;
  Progress progress(label, terminal);
  engine.replicas().resetCounters();
  const SteadyClock::time_point start = SteadyClock::now();
  PDLRT_RETURN_IF_ERROR(run.reader->beginEpoch(0));
  PDLRT_RETURN_IF_ERROR(engine.begin(run.source()));
  while (!engine.stopped()) {
    Expected<std::optional<StepResult>> step = engine.next(false);
    if (!step)
      return step.status();
    const std::optional<StepResult> &result = *step;
    if (!result)
      break;
    report.add(*result);
    if (visit)
      PDLRT_RETURN_IF_ERROR(visit(result->samples));
    if (progress.due()) {
      rangeWarnings.check(engine.replicas());
      progress.show({report.samples, report.steps, 0, report.meanLoss(),
                     firstAuc(descriptor, engine.replicas())});
    }
  }
  report.seconds = secondsSince(start);
  return {};
}

Status Command::evaluateOnce(ProgramRun &run, const std::string &label,
                             PassReport &report, const StepVisitor &visit) {
  Status failure = evaluateHere(run, label, report, visit);
  // A failure that is returned at once would fail the job while another process
  // may still write a checkpoint. So this process first meets the others,
  // unless it runs alone or may restart.
  const bool isAwaited = options.distributed && !job->recovery();
  if (!failure.ok() && (!isAwaited || failure.code() == PDL_OUT_OF_MEMORY))
    return failure;
  Expected<int64_t> failed = addUp(run, report, /*fails=*/!failure.ok());
  PDLRT_RETURN_IF_ERROR(std::move(failure));
  PDLRT_RETURN_IF_ERROR(failed.status());
  return *failed == 0 ? Status()
                      : Status::failedPrecondition(
                            "another trainer could not read its share of "
                            "the data, and says why: " +
                            label + " ends without its figures");
}
