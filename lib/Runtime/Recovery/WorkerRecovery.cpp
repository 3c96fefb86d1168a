//===- WorkerRecovery.cpp - Recovery of independent workers ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Recovery/WorkerRecovery.h"

#include <utility>

using namespace pdlrt;

WorkerRecovery::WorkerRecovery(const RecoveryParts &parts)
    : parts(parts), channel(parts.workersSend ? parts.channel : nullptr) {}

void WorkerRecovery::noteRoundBegin() {
  if (!channel)
    return;
  const ProgramRun &run = parts.run;
  const bool readsWhole = parts.state.position.readsWhole;
  RoundBegin begin;
  if (run.rounds > 0 || !readsWhole)
    begin = {run.reader->positions(), run.reader->badRowCount()};
  const MutexLock lock(mutex);
  roundBegins[run.rounds % roundBegins.size()] = std::move(begin);
  // Records contain the start of the pass. A resumed pass has started before.
  if (run.rounds == 0 && records.empty()) {
    passBegin = roundBegins[0];
    passMetrics = {};
    if (!readsWhole)
      passMetrics = run.engine->replicas().collectMetrics(
          ReplicaSet::MetricScope::Process);
  }
}

void WorkerRecovery::noteTaken(RecoveryRecord process) {
  const MutexLock lock(mutex);
  lastTaken = std::move(process);
}

void WorkerRecovery::attach(int worker, const WorkerMark &mark) {
  WorkerRecoveryRecord left;
  left.mark = mark;
  {
    const MutexLock lock(mutex);
    left.process = lastTaken;
    left.process.positions = passBegin.positions;
    left.process.badRows = passBegin.badRows;
    left.process.metrics = passMetrics;
    const RoundBegin &begin = roundBegins[mark.done % roundBegins.size()];
    left.positions = begin.positions;
    left.badRows = begin.badRows;
  }
  left.metrics = parts.run.engine->replicas().metricsOf(worker);
  channel->attachOfWorker(worker, encodeRecoveryRecord(left));
}

Status WorkerRecovery::take(const RecoveryChannel::Previous &previous,
                            RecoveryRecord &process) {
  records.clear();
  std::optional<RecoveryRecord> latest;
  for (const Message &each : previous.ofWorkers) {
    std::optional<WorkerRecoveryRecord> &own = records.emplace_back();
    if (each.size() == 0)
      continue;
    Expected<WorkerRecoveryRecord> decoded = decodeWorkerRecoveryRecord(each);
    if (!decoded)
      return decoded.status();
    if (!latest || decoded->process.isLaterThan(*latest))
      latest = decoded->process;
    own = std::move(*decoded);
  }
  if (latest && previous.workersWereLater)
    process = std::move(*latest);
  if (!process.isInPass())
    records.clear();
  for (std::optional<WorkerRecoveryRecord> &own : records)
    if (own && own->process.epoch != process.epoch)
      own.reset();
  return {};
}

Status WorkerRecovery::restore(const RecoveryRecord &process,
                               PassReport &report) {
  report = process.report;
  const int64_t taken = process.passSteps;
  const WorkerRecoveryRecord *any = nullptr, *last = nullptr;
  bool allHaveBegun = true;
  for (std::optional<WorkerRecoveryRecord> &own : records) {
    allHaveBegun &= own.has_value();
    if (!own)
      continue;
    any = &*own;
    // A worker without a batch in the last round had nothing to send.
    if (own->mark.done < taken) {
      own->mark.done = taken;
      own->mark.hasNext = false;
    } else if (!last || own->mark.done < last->mark.done) {
      last = any;
    }
  }
  if (!last)
    return Status::internal("no worker of this trainer's earlier start was in "
                            "the epoch that it had begun");
  ProgramRun &run = parts.run;
  ReplicaSet &replicas = run.engine->replicas();
  EpochPosition &position = parts.state.position;
  position.readsWhole = any->process.positions.empty();
  if (!position.readsWhole)
    PDLRT_RETURN_IF_ERROR(restoreMetrics(any->process, replicas));
  RoundBegin begin = {any->process.positions, any->process.badRows};
  {
    const MutexLock lock(mutex);
    passBegin = begin;
    passMetrics = any->process.metrics;
  }
  for (size_t w = 0; w < records.size(); ++w) {
    const auto &record = records[w];
    if (record && !replicas.restoreMetricsOf(int(w), record->metrics))
      return Status::failedPrecondition(
          "this trainer's earlier start had other workers or metrics: start it "
          "with the same command line as before");
  }
  // Start at the beginning if some worker has not started.
  run.rounds = allHaveBegun ? last->mark.done : 0;
  if (run.rounds > 0)
    begin = {last->positions, last->badRows};
  return begin.positions.empty()
             ? run.reader->beginEpoch(process.epoch)
             : run.reader->restore(begin.positions, begin.badRows,
                                   position.rest);
}

WorkersAt WorkerRecovery::resume(int64_t taken) {
  WorkersAt at;
  at.firstRound = parts.run.rounds;
  at.taken = taken;
  for (size_t w = 0; w < records.size(); ++w) {
    const std::optional<WorkerRecoveryRecord> &own = records[w];
    at.marks.push_back(own ? own->mark : WorkerMark());
    if (own)
      channel->repeatWorker(int(w));
  }
  records.clear();
  return at;
}
