//===- TrainWorkers.cpp - Workers that come back to a job -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where workers step by themselves, each leaves a bookmark with each of its
// requests, and is found there by a new start of its process, at a step of its
// own. What the process counts goes on from the last step of all workers that
// it had taken; what workers had done since is in their bookmarks.
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/TrainCommand.h"

#include "Programs/Trainer/Agreement.h"
#include "pdlrt/Abi/Mode.h"

#include <algorithm>
#include <tuple>
#include <utility>

using namespace pdlrt;

bool TrainCommand::workersComeBack() const {
  return job->mayComeBack() && modeOf(descriptor).workersSend;
}

/// The reader stands where the round behind those that were read begins.
void TrainCommand::noteRoundBegin() {
  if (!workersComeBack())
    return;
  RoundBegin begin;
  if (trainer.rounds > 0 || !readsWholeEpoch)
    begin = {trainer.reader->positions(), trainer.reader->badRowCount()};
  const std::lock_guard lock(workersMutex);
  roundBegins[trainer.rounds % roundBegins.size()] = std::move(begin);
  // Bookmarks say where the pass began. A pass that is gone on with has begun.
  if (trainer.rounds == 0 && workerBookmarks.empty()) {
    passBegin = roundBegins[0];
    passMetrics = {};
    if (!readsWholeEpoch)
      passMetrics = trainer.engine->replicas().collectMetrics(
          ReplicaSet::MetricScope::Process);
  }
}

/// All workers have done the steps that this process has counted.
void TrainCommand::noteTaken() {
  if (!workersComeBack())
    return;
  Bookmark here = bookmarkHere(Bookmark::Place::Step);
  // An error is met again by the next line, or when the file is closed.
  static_cast<void>(losses.flush());
  const std::lock_guard lock(workersMutex);
  lastTaken = std::move(here);
}

void TrainCommand::leaveWorkerBookmark(int worker, const WorkerMark &mark) {
  WorkerBookmark left;
  left.mark = mark;
  {
    const std::lock_guard lock(workersMutex);
    left.process = lastTaken;
    left.process.positions = passBegin.positions;
    left.process.badRows = passBegin.badRows;
    left.process.metrics = passMetrics;
    const RoundBegin &begin = roundBegins[mark.done % roundBegins.size()];
    left.positions = begin.positions;
    left.badRows = begin.badRows;
  }
  left.metrics = trainer.engine->replicas().metricsOf(worker);
  job->leaveWorkerBookmark(worker, encodeBookmark(left));
}

/// Whether the bookmark of a worker is behind another one.
static bool isLater(const Bookmark &one, const Bookmark &other) {
  return std::pair(one.epoch, one.passSteps) >
         std::pair(other.epoch, other.passSteps);
}

/// Of the epoch in which the earlier start of this process was: what its
/// workers left and, where they were later, what it had counted last.
Status TrainCommand::takeWorkerBookmarks() {
  workerBookmarks.clear();
  std::optional<Bookmark> latest;
  for (const Message &each : job->workerBookmarks()) {
    std::optional<WorkerBookmark> &own = workerBookmarks.emplace_back();
    if (each.size() == 0)
      continue;
    Expected<WorkerBookmark> decoded = decodeWorkerBookmark(each);
    if (!decoded)
      return decoded.status();
    if (!latest || isLater(decoded->process, *latest))
      latest = decoded->process;
    own = std::move(*decoded);
  }
  if (latest && job->workersWereLater())
    bookmark = std::move(*latest);
  const bool isInPass =
      bookmark->place == Bookmark::Place::Step ||
      (bookmark->place == Bookmark::Place::Meets && !bookmark->stepsEnded);
  if (!isInPass)
    workerBookmarks.clear();
  for (std::optional<WorkerBookmark> &own : workerBookmarks)
    if (own && own->process.epoch != bookmark->epoch)
      own.reset();
  return {};
}

/// Metrics and readers, for the worker that is behind all others.
Status TrainCommand::restoreWorkers(Report &report) {
  report = bookmark->report;
  const int64_t taken = bookmark->passSteps;
  const WorkerBookmark *any = nullptr, *last = nullptr;
  bool allHaveBegun = true;
  for (std::optional<WorkerBookmark> &own : workerBookmarks) {
    allHaveBegun &= own.has_value();
    if (!own)
      continue;
    any = &*own;
    // Without a batch in the last round it had nothing to send.
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
  ReplicaSet &replicas = trainer.engine->replicas();
  readsWholeEpoch = any->process.positions.empty();
  if (!readsWholeEpoch)
    PDLRT_RETURN_IF_ERROR(restoreMetrics(any->process, replicas));
  // From its beginning, where some worker has not begun.
  passBegin = {any->process.positions, any->process.badRows};
  passMetrics = any->process.metrics;
  for (size_t w = 0; w < workerBookmarks.size(); ++w)
    if (workerBookmarks[w] &&
        !replicas.restoreMetricsOf(int(w), workerBookmarks[w]->metrics))
      return Status::invalid(
          "this trainer's earlier start had other workers or metrics: start it "
          "with the same command line as before");
  trainer.rounds = allHaveBegun ? last->mark.done : 0;
  const RoundBegin begin = trainer.rounds > 0
                               ? RoundBegin{last->positions, last->badRows}
                               : passBegin;
  return begin.positions.empty()
             ? trainer.reader->beginEpoch(bookmark->epoch)
             : trainer.reader->restore(begin.positions, begin.badRows);
}

Status TrainCommand::resumeWorkers(RoundSource source) {
  StepEngine::WorkersAt at;
  at.firstRound = trainer.rounds;
  at.taken = bookmark->passSteps;
  std::tie(at.allowed, at.last) = stepsAllowed();
  for (size_t w = 0; w < workerBookmarks.size(); ++w) {
    const std::optional<WorkerBookmark> &own = workerBookmarks[w];
    at.marks.push_back(own ? own->mark : WorkerMark());
    if (own)
      job->repeatWorker(int(w));
  }
  workerBookmarks.clear();
  return trainer.engine->resumeWorkers(std::move(source), std::move(at));
}
