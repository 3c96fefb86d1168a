//===- TrainerRecords.cpp - Progress of trainers from their records -------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Recovery/TrainerRecords.h"

#include "Recovery/RecoveryRecord.h"
#include "Recovery/WorkerNote.h"
#include "pdlrt/Engine/PassReport.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <utility>

using namespace pdlrt;

/// Returns the error of a trainer whose position in the data is unknown.
static Status hasNoRecord(int64_t trainer) {
  return Status::failedPrecondition(fmt::format(
      "trainer {} has left no recovery record at the servers, because it has "
      "not begun its first step; start it again, on any host that has its data",
      trainer));
}

/// Returns the recovery record that a trainer attached to the last request
/// whose effect is in the state.
static Expected<RecoveryRecord>
recordOf(int64_t trainer, const std::vector<SenderMark> &marks, bool isWhole) {
  const auto mark = std::ranges::find_if(marks, [&](const SenderMark &each) {
    return each.trainer == trainer && each.worker == 0;
  });
  std::vector<const NumberedNote *> answered;
  if (mark != marks.end())
    for (const NumberedNote &note : mark->notes)
      if (note.sequence <= mark->answered)
        answered.push_back(&note);
  // The last response may be that to the gradients of a step whose norms are
  // pending. These gradients are not applied yet.
  if (!isWhole && !answered.empty())
    answered.pop_back();
  if (answered.empty())
    return hasNoRecord(trainer);
  return decodeRecoveryRecord(answered.back()->note);
}

/// Adds the step that was applied last to the record of its request.
static Status addStep(const StateServer::LastStep &last,
                      RecoveryRecord &record) {
  StepResult result;
  result.samples = record.step.samples;
  if (!last.sums || last.sums->empty())
    return Status::internal("a server does not know the losses of its last "
                            "step");
  result.lossSum = last.sums->front().loss;
  result.weightSum = last.sums->front().weight;
  for (size_t i = 1; i < last.sums->size(); ++i)
    result.otherWeights += (*last.sums)[i].weight;
  result.skipped = result.hasNoWeight();
  record.addStep(result);
  return {};
}

/// Copies the sums of one trainer's replicas to their positions in the sums of
/// all replicas.
static Status placeMetrics(const pdl_descriptor &descriptor, int64_t trainer,
                           int64_t workers, int64_t replicas,
                           RecoveryRecord &record, MetricSums &all) {
  if (record.metrics.sums.size() != MetricSums(descriptor, workers).sums.size())
    return Status::failedPrecondition(fmt::format(
        "the recovery record of trainer {} has other metrics", trainer));
  std::vector<std::vector<double>> own;
  forEachMetric(
      descriptor, workers, record.metrics, [&](const MetricBlock &block) {
        own.emplace_back(block.sums, block.sums + workers * block.size);
      });
  size_t next = 0;
  forEachMetric(descriptor, replicas, all, [&](const MetricBlock &block) {
    std::ranges::copy(own[next++], block.of(trainer * workers).begin());
  });
  return {};
}

ObservedMetrics::ObservedMetrics(const std::vector<SavePlan::Metric> &of)
    : planned(of) {
  for (const SavePlan::Metric &each : planned)
    metrics.push_back(
        {sizeof(pdl_metric), each.name.c_str(), each.kind, each.parameter});
  holder.metric_count = int32_t(metrics.size());
  holder.metrics = metrics.data();
}

Expected<TrainingPlace>
pdlrt::placeOfTraining(const ObservedMetrics &metrics, int64_t trainers,
                       int64_t workers, const std::vector<SenderMark> &marks,
                       const StateServer::LastStep &last) {
  const pdl_descriptor &descriptor = metrics.descriptor();
  const int64_t replicas = trainers * workers;
  TrainingPlace place;
  place.replicas = int(replicas);
  place.running.metrics = MetricSums(descriptor, replicas);
  TrainingProgress &progress = place.progress;
  std::optional<RecoveryRecord> first;
  for (int64_t trainer = 0; trainer < trainers; ++trainer) {
    Expected<RecoveryRecord> decoded = recordOf(trainer, marks, last.isWhole);
    if (!decoded)
      return decoded.status();
    RecoveryRecord &record = *decoded;
    if (record.place == RecoveryRecord::Place::Step)
      PDLRT_RETURN_IF_ERROR(addStep(last, record));
    if (first && (record.place != first->place ||
                  record.totalSteps != first->totalSteps ||
                  record.epoch != first->epoch ||
                  record.epochEnded != first->epochEnded))
      return Status::failedPrecondition(fmt::format(
          "the recovery records of trainers 0 and {} are of other steps",
          trainer));
    PDLRT_RETURN_IF_ERROR(placeMetrics(descriptor, trainer, workers, replicas,
                                       record, place.running.metrics));
    progress.badRows += record.badRows;
    progress.epochSamples += record.report.samples;
    progress.positions.insert(progress.positions.end(),
                              record.positions.begin(), record.positions.end());
    if (!first)
      first = std::move(record);
  }
  if (!first)
    return Status::internal("a job without trainers");
  const bool hasEnded =
      first->place == RecoveryRecord::Place::EpochEnds && first->epochEnded;
  progress.steps = first->totalSteps;
  progress.skippedUpdates =
      first->skippedUpdates + first->report.skippedUpdates;
  progress.epoch = hasEnded ? first->epoch + 1 : first->epoch;
  progress.lossLines = std::max<int64_t>(first->lossLines, 0);
  progress.samples = first->totalSamples + progress.epochSamples;
  // Sums over the job, which are equal in all records.
  place.running.lossSum = first->report.lossSum;
  place.running.weightSum = first->report.weightSum;
  if (hasEnded) {
    progress.positions.clear();
    progress.epochSamples = 0;
  }
  if (progress.positions.empty())
    return place;
  if (int64_t(progress.positions.size()) != trainers)
    return Status::failedPrecondition(
        "some recovery records say where their trainers "
        "read, and others do not");
  place.dividedAt = first->dividedAt;
  progress.epochSteps = first->report.steps;
  progress.epochSkippedUpdates = first->report.skippedUpdates;
  return place;
}

//===----------------------------------------------------------------------===//
// Modes without rounds of steps
//===----------------------------------------------------------------------===//

namespace {

/// Records of a trainer whose workers send requests themselves.
struct WorkerRecords {
  /// Record of the process, attached to the last sum that it has requested.
  std::optional<RecoveryRecord> ofProcess;
  /// Record of each worker. None if the worker has sent no request.
  std::vector<std::optional<WorkerRecoveryRecord>> ofWorkers;
  /// Number of sums that the process had requested when it attached
  /// `ofProcess`; and for each worker, when it attached its record.
  uint64_t sums = 0;
  std::vector<uint64_t> sumsBefore;
};

} // namespace

static Expected<WorkerRecords>
readRecords(int64_t trainer, int64_t workers,
            const std::vector<SenderMark> &marks) {
  WorkerRecords records;
  records.ofWorkers.resize(workers);
  records.sumsBefore.resize(workers);
  for (const SenderMark &mark : marks) {
    if (mark.trainer != trainer || mark.worker > workers || mark.notes.empty())
      continue;
    const NumberedNote &last = mark.notes.back();
    if (mark.worker == 0) {
      Expected<RecoveryRecord> decoded = decodeRecoveryRecord(last.note);
      if (!decoded)
        return decoded.status();
      records.ofProcess = std::move(*decoded);
      records.sums = last.sequence;
      continue;
    }
    const std::optional<WorkerNote> note = decodeWorkerNote(last.note);
    if (!note)
      return Status::dataLoss("a recovery record is damaged");
    records.sumsBefore[mark.worker - 1] = note->sums;
    Expected<WorkerRecoveryRecord> decoded =
        decodeWorkerRecoveryRecord(note->record);
    if (!decoded)
      return decoded.status();
    records.ofWorkers[mark.worker - 1] = std::move(*decoded);
  }
  return records;
}

/// Returns the result of a step of the pass, summed over all workers.
static StepResult resultOf(const WorkerRecords &records, int64_t step) {
  StepResult all;
  for (const std::optional<WorkerRecoveryRecord> &own : records.ofWorkers) {
    if (!own)
      continue;
    const auto &results = own->mark.results;
    const int64_t place = int64_t(results.size()) - 1 - (own->mark.done - step);
    if (place < 0 || place >= int64_t(results.size()))
      continue;
    all.samples += results[place].samples;
    all.lossSum += results[place].lossSum;
    all.weightSum += results[place].weightSum;
    all.otherWeights += results[place].otherWeights;
  }
  all.skipped = all.hasNoWeight();
  return all;
}

/// Returns the progress of a trainer that was in a step when its last request
/// arrived. The progress includes the steps that its slowest worker has done.
static RecoveryRecord placeInSteps(const pdl_descriptor &descriptor,
                                   WorkerRecords &records,
                                   const RecoveryRecord &process) {
  RecoveryRecord place = process;
  const WorkerRecoveryRecord *slowest = nullptr, *any = nullptr;
  bool allHaveBegun = true;
  for (std::optional<WorkerRecoveryRecord> &own : records.ofWorkers) {
    if (own && own->process.epoch != process.epoch)
      own.reset();
    allHaveBegun &= own.has_value();
    if (!own)
      continue;
    any = &*own;
    // A worker without a batch in the last round had nothing to send.
    if (own->mark.done >= process.passSteps &&
        (!slowest || own->mark.done < slowest->mark.done))
      slowest = any;
  }
  const WorkerRecoveryRecord *at = slowest ? slowest : any;
  const int64_t done =
      allHaveBegun && slowest ? slowest->mark.done : process.passSteps;
  for (int64_t step = process.passSteps + 1; step <= done; ++step)
    place.addStep(resultOf(records, step));
  if (allHaveBegun && at) {
    place.positions = at->positions;
    place.badRows = at->badRows;
  }
  place.place = RecoveryRecord::Place::Step;
  place.epochEnded = place.stepsEnded = false;
  // Metrics at the start of the pass, for workers that have not started.
  const auto workers = int64_t(records.ofWorkers.size());
  MetricSums all(descriptor, workers);
  if (process.metrics.sums.size() == all.sums.size())
    all = process.metrics;
  for (int64_t w = 0; w < workers; ++w) {
    std::optional<WorkerRecoveryRecord> &own = records.ofWorkers[w];
    if (!own || own->metrics.size() != MetricSums(descriptor, 1).sums.size())
      continue;
    const double *next = own->metrics.data();
    forEachMetric(descriptor, workers, all, [&](const MetricBlock &block) {
      std::copy_n(next, block.size, block.of(w).begin());
      next += block.size;
    });
  }
  place.metrics = std::move(all);
  return place;
}

/// Returns the progress of a trainer whose workers send requests themselves.
static Expected<RecoveryRecord>
placeOfWorkers(const pdl_descriptor &descriptor, int64_t trainer,
               int64_t workers, const std::vector<SenderMark> &marks) {
  Expected<WorkerRecords> records = readRecords(trainer, workers, marks);
  if (!records)
    return records.status();
  const RecoveryRecord *process = nullptr;
  uint64_t sumsBefore = 0;
  for (size_t w = 0; w < records->ofWorkers.size(); ++w) {
    const std::optional<WorkerRecoveryRecord> &own = records->ofWorkers[w];
    if (!own || (process && records->sumsBefore[w] < sumsBefore))
      continue;
    const RecoveryRecord &each = own->process;
    if (!process || records->sumsBefore[w] > sumsBefore ||
        each.isLaterThan(*process))
      process = &each;
    sumsBefore = records->sumsBefore[w];
  }
  if (process && sumsBefore >= records->sums) {
    const RecoveryRecord base = *process;
    return placeInSteps(descriptor, *records, base);
  }
  std::optional<RecoveryRecord> &own = records->ofProcess;
  if (!own)
    return hasNoRecord(trainer);
  return std::move(*own);
}

/// Returns the progress of a trainer after its last applied step, for a mode in
/// which the process sends the requests of all its workers. The loss of that
/// step is only in the next record.
static Expected<RecoveryRecord>
placeOfProcess(int64_t trainer, const std::vector<SenderMark> &marks) {
  const auto mark = std::ranges::find_if(marks, [&](const SenderMark &each) {
    return each.trainer == trainer && each.worker == 0;
  });
  std::optional<RecoveryRecord> counted, later;
  if (mark != marks.end())
    for (const NumberedNote &note : mark->notes) {
      Expected<RecoveryRecord> decoded = decodeRecoveryRecord(note.note);
      if (!decoded)
        return decoded.status();
      const bool isOfStep = decoded->place == RecoveryRecord::Place::Step;
      if (note.sequence <= mark->answered || !isOfStep)
        counted = std::move(*decoded);
      else
        later = std::move(*decoded);
    }
  if (!counted)
    return hasNoRecord(trainer);
  if (counted->place != RecoveryRecord::Place::Step)
    return std::move(*counted);
  const int64_t samples = counted->report.samples + counted->step.samples;
  const int64_t steps = counted->report.steps + 1;
  if (later && later->report.steps == steps)
    counted->report = later->report;
  counted->report.samples = samples;
  counted->report.steps = steps;
  ++counted->totalSteps;
  if (counted->lossLines >= 0)
    ++counted->lossLines;
  return std::move(*counted);
}

Expected<TrainingPlace>
pdlrt::placeOfRestingTraining(const ObservedMetrics &metrics, int64_t trainers,
                              int64_t workers, bool workersSend,
                              const std::vector<SenderMark> &marks) {
  const pdl_descriptor &descriptor = metrics.descriptor();
  const int64_t replicas = trainers * workers;
  TrainingPlace place;
  place.replicas = int(replicas);
  place.running.metrics = MetricSums(descriptor, replicas);
  TrainingProgress &progress = place.progress;
  std::vector<RecoveryRecord> records;
  bool allHaveEnded = true;
  for (int64_t trainer = 0; trainer < trainers; ++trainer) {
    Expected<RecoveryRecord> record =
        workersSend ? placeOfWorkers(descriptor, trainer, workers, marks)
                    : placeOfProcess(trainer, marks);
    if (!record)
      return record.status();
    allHaveEnded &= record->epochEnded && record->hasDoneSteps();
    records.push_back(std::move(*record));
  }
  for (int64_t trainer = 0; trainer < trainers; ++trainer) {
    RecoveryRecord &record = records[trainer];
    if (record.epoch != records[0].epoch)
      return Status::failedPrecondition(
          fmt::format("trainers 0 and {} are in different epochs", trainer));
    PDLRT_RETURN_IF_ERROR(placeMetrics(descriptor, trainer, workers, replicas,
                                       record, place.running.metrics));
    progress.badRows += record.badRows;
    progress.epochSamples += record.report.samples;
    place.running.lossSum += record.report.lossSum;
    place.running.weightSum += record.report.weightSum;
    progress.steps = std::max(progress.steps, record.totalSteps);
    progress.epochSteps = std::max(progress.epochSteps, record.report.steps);
    if (!allHaveEnded)
      progress.positions.insert(progress.positions.end(),
                                record.positions.begin(),
                                record.positions.end());
  }
  const RecoveryRecord &first = records[0];
  progress.skippedUpdates = first.skippedUpdates + first.report.skippedUpdates;
  progress.epochSkippedUpdates = first.report.skippedUpdates;
  progress.epoch = first.epoch + (allHaveEnded ? 1 : 0);
  progress.lossLines = std::max<int64_t>(first.lossLines, 0);
  progress.samples = first.totalSamples + progress.epochSamples;
  if (!progress.positions.empty())
    place.dividedAt = first.dividedAt;
  if (!progress.positions.empty() &&
      int64_t(progress.positions.size()) != trainers)
    return Status::failedPrecondition(
        "some trainers have not begun their data, and others have; start those "
        "that were lost again, on any host that has their data");
  if (progress.positions.empty())
    progress.epochSteps = progress.epochSamples = progress.epochSkippedUpdates =
        0;
  return place;
}

Status pdlrt::addRest(const std::string &root, TrainingPlace &place,
                      CheckpointManifest &manifest) {
  std::vector<std::string> refused;
  Expected<std::optional<Checkpoint>> newest =
      findNewestCheckpoint(root, refused, CheckpointCheck::Progress);
  if (!newest)
    return newest.status();
  const std::optional<Checkpoint> &checkpoint = *newest;
  if (checkpoint && !checkpoint->manifest().progress.positions.empty()) {
    auto rest = loadRest(*checkpoint);
    if (!rest)
      return rest.status();
    place.running.rest = std::move(*rest);
  }
  const auto &rest = place.running.rest;
  if (!rest || rest->steps != place.dividedAt)
    return Status::failedPrecondition(
        "no checkpoint says yet which rows were left when the epoch was "
        "divided among other replicas; resume from the last checkpoint");
  noteDivision(place.dividedAt, manifest);
  return {};
}
