//===- PredictCommand.cpp - Command that predicts -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/FileFormat.h"
#include "Programs/Trainer/Command.h"
#include "Programs/Trainer/InputsFile.h"
#include "Programs/Trainer/TrainingSummary.h"
#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Core/Finite.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/StopSignal.h"
#include "pdlrt/Core/UnknownIds.h"
#include "pdlrt/Core/WholeNumber.h"
#include "pdlrt/Programs/Trainer/Predictions.h"

#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

using namespace pdlrt;

/// Returns the names of the copied columns.
static std::vector<std::string> namesOfCopied(const DataOptions &data) {
  if (!data.idField.empty())
    return {data.idField};
  std::vector<std::string> names;
  for (const std::string &column : data.copyColumns)
    names.push_back(parseWholeNumber(column) ? "column" + column : column);
  return names;
}

namespace {

/// Counts rows with an output that is NaN or infinite. Such outputs are still
/// written.
struct NonFiniteRows {
  int64_t count = 0, first = 0;

  void add(const pdl_program &program, const BatchContext &outputs,
           int64_t samples);
};

class PredictCommand final : Command {
public:
  using Command::Command;

  Status run();

private:
  /// Predicts until the end of the data. For a stream, also ends when the next
  /// batch has not arrived yet.
  Status runPass();
  /// Returns the next round with samples; empty at the end of the pass.
  Expected<std::span<const StepInput>> readRound();
  /// Writes the bad rows up to row `end`, which belong to no sample.
  Status writeBadRows(int64_t end, const RoundReader::SettledRows &settled);
  Status writeStep(int64_t count);
  Status report();

  ProgramRun predictor;
  std::unique_ptr<PredictionWriter> writer;
  /// Set if the inputs are to be written.
  std::optional<InputsFile> inputs;
  /// True if more rows may arrive later.
  bool isStream = false;
  /// Settled rows of the rounds that were read but not written yet.
  std::deque<RoundReader::SettledRows> settledOfRounds;
  RoundReader::SettledRows settledAtEnd;
  bool isAtEnd = false;
  int64_t samples = 0, nextRow = 0;
  /// Time of the first step.
  SteadyClock::time_point start;
  NonFiniteRows nonFinite;
};

} // namespace

void NonFiniteRows::add(const pdl_program &program, const BatchContext &outputs,
                        int64_t samples) {
  auto isFinite = [&](int64_t begin, int64_t end) {
    for (int32_t o = 0; o < program.output_count; ++o) {
      const pdl_output &output = program.outputs[o];
      if (output.element_type != PDL_F32 && output.element_type != PDL_F64)
        continue;
      const auto rowBytes =
          output.width * int64_t(elementSize(output.element_type));
      if (!allFinite(output.element_type, (end - begin) * output.width,
                     static_cast<const char *>(outputs.output(o)) +
                         begin * rowBytes))
        return false;
    }
    return true;
  };
  if (isFinite(0, samples))
    return;
  for (int64_t i = 0; i < samples; ++i)
    if (!isFinite(i, i + 1) && count++ == 0)
      first = outputs.input().batch->row(i);
}

/// Returns true if ids in the file are text.
static bool hasIdTexts(const std::string &file, const DataOptions &data) {
  return fileFormatOf(file, data).traits().hasIdTexts;
}

Status PredictCommand::run() {
  PDLRT_RETURN_IF_ERROR(createTrainedModel());
  DataOptions data = options.data;
  isStream = !std::ranges::all_of(data.files, canBeReadAgain);
  if (isStream)
    data.flushAfter = options.flushAfter;
  if (!options.dumpInputs.empty())
    data.copyTexts = hasIdTexts(data.files.front(), data);
  for (const std::string &file : data.files)
    if (!options.dumpInputs.empty() && hasIdTexts(file, data) != data.copyTexts)
      return Status::invalidArgument(
          "--dump-inputs has texts of all rows or of none, "
          "but of " +
          data.files.front() + " and " + file +
          " one holds tensors; predict them one by one");
  if (Status opened =
          openProgram(frozenProgram("predict"), data, {}, predictor);
      !opened.ok()) {
    // If a signal came while a stream had no row yet, the error only says that
    // there was no row. So the command succeeds.
    const bool isStopped =
        isStream && stopSignal() != 0 && opened.code() != PDL_OUT_OF_MEMORY;
    if (isStopped)
      logWarning("stopped by a signal before there was a row: " +
                 opened.message());
    return isStopped ? Status() : opened;
  }
  if (predictor.program->output_count == 0)
    return Status::invalidArgument(
        std::string("program @") + predictor.program->name +
        " has no outputs; return a value from it and "
        "translate the model again");
  Expected<std::unique_ptr<PredictionWriter>> opened =
      PredictionWriter::open(formatOf(options), options.output,
                             *predictor.program, namesOfCopied(options.data));
  if (!opened)
    return std::move(opened).status();
  writer = std::move(*opened);
  if (!options.dumpInputs.empty())
    inputs.emplace(descriptor, *predictor.program, data.copyTexts);
  start = SteadyClock::now();
  PDLRT_RETURN_IF_ERROR(predictor.reader->beginEpoch(0));
  while (!stopSignal() && !isAtEnd && !predictor.brokenOff)
    PDLRT_RETURN_IF_ERROR(runPass());
  // After an interruption it is not known which of the remaining rows are bad.
  if (isAtEnd)
    PDLRT_RETURN_IF_ERROR(writeBadRows(settledAtEnd.count, settledAtEnd));
  if (inputs)
    PDLRT_RETURN_IF_ERROR(inputs->write(options.dumpInputs));
  PDLRT_RETURN_IF_ERROR(writer->finish());
  return report();
}

Status PredictCommand::runPass() {
  PDLRT_RETURN_IF_ERROR(
      predictor.engine->begin([this] { return readRound(); }));
  while (!stopSignal()) {
    Expected<std::optional<StepResult>> step = predictor.engine->next(false);
    if (!step)
      return step.status();
    if (!*step)
      break;
    PDLRT_RETURN_IF_ERROR(writeStep((*step)->samples));
  }
  return {};
}

Expected<std::span<const StepInput>> PredictCommand::readRound() {
  // Waiting for another round would delay the output of the previous one.
  if (isStream && !settledOfRounds.empty() && !predictor.reader->isNextReady())
    return std::span<const StepInput>();
  while (true) {
    Expected<std::span<const StepInput>> round = predictor.readRound();
    if (!round || predictor.brokenOff)
      return round;
    RoundReader::SettledRows settled = predictor.reader->takeSettledRows();
    if (round->empty()) {
      isAtEnd = true;
      settledAtEnd = std::move(settled);
      return round;
    }
    if (predictor.reader->sampleCount() > 0) {
      settledOfRounds.push_back(std::move(settled));
      return round;
    }
    // All rows of this round are bad, so it has no samples. Such a round is not
    // read ahead, so the rows before it have been written.
    PDLRT_RETURN_IF_ERROR(writeBadRows(settled.count, settled));
    PDLRT_RETURN_IF_ERROR(writer->flush());
  }
}

Status PredictCommand::writeBadRows(int64_t end,
                                    const RoundReader::SettledRows &settled) {
  for (; nextRow < end; ++nextRow) {
    const auto cell = settled.copiedCells.find(nextRow);
    PDLRT_RETURN_IF_ERROR(writer->writeBadRow(
        cell == settled.copiedCells.end() ? "" : cell->second));
  }
  return {};
}

Status PredictCommand::writeStep(int64_t count) {
  const BatchContext &outputs = predictor.engine->replicas()[0].current();
  const Batch &batch = *outputs.input().batch;
  const RoundReader::SettledRows settled = std::move(settledOfRounds.front());
  settledOfRounds.pop_front();
  nonFinite.add(*predictor.program, outputs, count);
  for (int64_t i = 0; i < count; ++i) {
    // First writes the lines of bad rows that precede this row.
    PDLRT_RETURN_IF_ERROR(writeBadRows(batch.row(i), settled));
    PDLRT_RETURN_IF_ERROR(
        writer->write(outputs.outputs(), i, batch.copiedCell(i)));
    ++nextRow;
  }
  PDLRT_RETURN_IF_ERROR(writeBadRows(settled.count, settled));
  if (inputs && count > 0)
    inputs->add(batch);
  samples += count;
  if (isStream && !predictor.reader->isNextReady())
    return writer->flush();
  return {};
}

Status PredictCommand::report() {
  PassReport report;
  report.samples = samples;
  report.badRows = predictor.reader->badRowCount();
  stopping = stopSignal() != 0;
  // Also needed if all rows are bad, because the messages say why.
  for (const std::string &message : predictor.reader->badRowMessages())
    logWarning("predicted nan for " + message);
  PDLRT_RETURN_IF_ERROR(
      requireSamples(*predictor.program, report, options.data.files));
  if (nonFinite.count)
    logWarning(
        fmt::format("outputs of {} rows are not finite, first of row {}, "
                    "counted from 0; look for extreme values there, or "
                    "in those of the model",
                    nonFinite.count, nonFinite.first));
  if (stopping)
    logWarning(fmt::format("stopped by a signal: {} has predictions of the "
                           "first {} rows only",
                           options.output.empty() || options.output == "-"
                               ? "the standard output"
                               : options.output,
                           nextRow));
  PullCounts counts = predictor.engine->replicas().pullCounts();
  logInfo(fmt::format("predicted {} samples, nan for {} bad rows; ids of "
                      "unknown keys {} of {}",
                      samples, predictor.reader->badRowCount(),
                      counts.unknownInitial + counts.unknownZero, counts.ids));
  summarizePrediction(report, secondsSince(start), counts);
  const int64_t unknown = counts.unknownInitial + counts.unknownZero;
  if (areTooManyUnknown(counts.ids, unknown))
    logWarning(sayUnknown(counts.ids, unknown));
  return {};
}

Status pdlrt::runPredict(const pdl_descriptor &descriptor,
                         const SessionOptions &options) {
  return PredictCommand(descriptor, options).run();
}
