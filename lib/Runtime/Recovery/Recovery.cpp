//===- Recovery.cpp - Continuing within a round ---------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Recovery/Recovery.h"

#include "pdlrt/Core/Log.h"

#include <fmt/format.h>
#include <span>
#include <utility>

using namespace pdlrt;
using Place = RecoveryRecord::Place;

Recovery::Recovery(RecoveryParts given)
    : parts(std::move(given)), workers(parts) {
  if (parts.channel)
    previous = parts.channel->previous();
  restarted = previous.has_value();
}

//===----------------------------------------------------------------------===//
// Records of this process
//===----------------------------------------------------------------------===//

/// Flushes the outputs, and returns a record with the counts of this process,
/// including the lengths of the outputs. Call only during an epoch.
RecoveryRecord Recovery::recordHere(Place place) const {
  const TrainingState &state = parts.state;
  const EpochPosition &position = state.position;
  const OutputProgress outputs = parts.flushOutputs();
  RecoveryRecord here;
  here.place = place;
  here.flags = parts.flagsDigest;
  here.epoch = position.epoch;
  here.totalSteps = state.totalSteps;
  here.totalSamples = state.totalSamples;
  here.skippedUpdates = state.skippedUpdates;
  here.resumedSteps = state.resumedSteps;
  here.resumedSamples = state.resumedSamples;
  here.stepsInEpoch = state.stepsInEpoch;
  here.agreedSteps = state.agreedSteps;
  here.lossLines = outputs.lossLines;
  here.savedSteps = outputs.savedSteps;
  here.savedEpoch = outputs.savedEpoch;
  here.savedEventTime = state.savedEventTime;
  here.epochEnded = position.hasEnded;
  here.stepsEnded = position.stepsEnded;
  here.report = *position.report;
  here.passSteps = position.stepsHere(here.report);
  here.dividedAt = position.rest ? position.rest->steps : 0;
  return here;
}

/// Attaches a record of kind `place` to the next request of this process.
/// `step`: the pending step if `place` is `Place::Step`, otherwise null. The
/// record has no positions if an epoch begins that is read as a whole.
void Recovery::attach(Place place, const PendingStep *step) {
  RecoveryRecord here = recordHere(place);
  if (step)
    here.step = *step;
  const int64_t rounds = place == Place::EpochBegins
                             ? 0
                             : here.passSteps + (place == Place::Step ? 1 : 0);
  if (place != Place::EpochBegins || !parts.state.position.readsWhole) {
    here.positions = parts.run.positionsAfter(rounds);
    here.badRows = parts.run.badRowsAfter(rounds);
  }
  here.metrics = parts.run.engine->replicas().collectMetrics(
      ReplicaSet::MetricScope::Process);
  parts.channel->attach(encodeRecoveryRecord(here));
}

void Recovery::beforeRound(const PendingStep *step) {
  attach(step ? Place::Step : Place::EpochBegins, step);
}

void Recovery::beforeRequest(int worker, const WorkerMark &mark) {
  workers.attach(worker, mark);
}

void Recovery::noteTaken() {
  if (workers.isUsed())
    workers.noteTaken(recordHere(Place::Step));
}

void Recovery::enterMeeting() {
  // If only the process sends requests, each step has a record, so one for a
  // meeting is needed only after the last step. If workers send requests
  // themselves, each meeting needs one.
  if (workers.isUsed() || (parts.channel && parts.state.position.stepsEnded))
    attach(Place::Meets);
}

void Recovery::enterEpochEnd() {
  if (parts.channel)
    attach(Place::EpochEnds);
}

//===----------------------------------------------------------------------===//
// Restart
//===----------------------------------------------------------------------===//

Expected<bool> Recovery::rejoin() {
  const std::optional<RecoveryChannel::Previous> from =
      std::exchange(previous, std::nullopt);
  if (!from || from->pending.size() == 0)
    return false;
  // If the last request came from a worker and not from the process, the
  // workers' records have the counts, and `take` sets them below.
  Expected<RecoveryRecord> decoded = from->workersWereLater
                                         ? RecoveryRecord()
                                         : decodeRecoveryRecord(from->pending);
  if (!decoded)
    return decoded.status();
  if (workers.isUsed())
    PDLRT_RETURN_IF_ERROR(workers.take(*from, *decoded));
  if (decoded->flags != parts.flagsDigest)
    return Status::failedPrecondition(
        "this trainer was restarted with other flags than its first "
        "start had: start it with the same command line");
  TrainingState &state = parts.state;
  state.totalSteps = decoded->totalSteps;
  state.totalSamples = decoded->totalSamples;
  state.skippedUpdates = decoded->skippedUpdates;
  state.resumedSteps = decoded->resumedSteps;
  state.resumedSamples = decoded->resumedSamples;
  state.earlierSteps = decoded->totalSteps - decoded->resumedSteps;
  state.stepsInEpoch = decoded->stepsInEpoch;
  state.agreedSteps = decoded->agreedSteps;
  state.savedEventTime = decoded->savedEventTime;
  logInfo(fmt::format("came back to the job, after {} steps in epoch {}",
                      state.totalSteps, decoded->epoch + 1));
  record = std::make_unique<const RecoveryRecord>(std::move(*decoded));
  return true;
}

OutputProgress Recovery::outputs() const {
  return {record->lossLines, record->savedSteps, record->savedEpoch};
}

int64_t Recovery::dividedAt() const {
  // If there are no steps to do, no rows are read.
  return record->hasDoneSteps() ? 0 : record->dividedAt;
}

Status Recovery::restore(PassReport &report) {
  if (workers.isRestoring())
    return workers.restore(*record, report);
  ProgramRun &run = parts.run;
  EpochPosition &position = parts.state.position;
  PDLRT_RETURN_IF_ERROR(restoreMetrics(*record, run.engine->replicas()));
  report = record->report;
  position.readsWhole = record->positions.empty();
  if (position.readsWhole)
    return run.reader->beginEpoch(record->epoch);
  // If a step was in progress, its round is the first one of this run.
  run.rounds = record->place == Place::Step ? 1 : 0;
  if (record->dividedAt > 0 && record->hasDoneSteps()) {
    run.reader->stayAt(record->positions, record->badRows);
    return {};
  }
  return run.reader->restore(record->positions, record->badRows, position.rest);
}

//===----------------------------------------------------------------------===//
// Epochs
//===----------------------------------------------------------------------===//

Recovery::Entry Recovery::entryOfRecord() const {
  if (!record)
    return Entry::Steps;
  if (record->hasDoneSteps())
    return record->place == Place::Meets ? Entry::AfterSteps
                                         : Entry::AfterMeetings;
  return record->place == Place::Meets ? Entry::Meeting : Entry::Steps;
}

Expected<Recovery::Entry> Recovery::enterEpoch(RoundSource source,
                                               int64_t allowed, bool last) {
  const Entry entry = entryOfRecord();
  EpochPosition &position = parts.state.position;
  if (record && workers.isRestoring())
    position.stepsBefore -= record->passSteps;
  if (entry == Entry::Steps || entry == Entry::Meeting)
    PDLRT_RETURN_IF_ERROR(beginPass(std::move(source), allowed, last));
  else
    position.hasEnded = record->epochEnded;
  record.reset();
  return entry;
}

/// Starts the engine, which also starts to read the first rounds.
Status Recovery::beginPass(RoundSource given, int64_t allowed, bool last) {
  RoundSource source = [this, given = std::move(given)] {
    Expected<std::span<const StepInput>> inputs = given();
    workers.noteRoundBegin();
    return inputs;
  };
  StepEngine &engine = *parts.run.engine;
  RecoveryParticipant *const participant =
      parts.channel ? engine.recovery() : nullptr;
  if (participant)
    participant->observe(this);
  workers.noteRoundBegin();
  noteTaken();
  const bool workersResume = workers.isRestoring();
  const bool stepResumes = record && record->place == Place::Step;
  if (!workersResume && !stepResumes)
    return engine.begin(std::move(source));
  if (!participant)
    return Status::internal("this engine does not continue within a step");
  if (!workersResume)
    return participant->resume(std::move(source), record->step);
  WorkersAt at = workers.resume(record->passSteps);
  at.allowed = allowed;
  at.last = last;
  return participant->resume(std::move(source), std::move(at));
}
