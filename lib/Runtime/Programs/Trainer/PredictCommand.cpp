//===- PredictCommand.cpp - The command that predicts ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/RecordReader.h"
#include "Programs/Trainer/Command.h"
#include "Programs/Trainer/InputsFile.h"
#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Core/Finite.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/StopSignal.h"
#include "pdlrt/Core/UnknownIds.h"
#include "pdlrt/Core/WholeNumber.h"
#include "pdlrt/Programs/Trainer/Predictions.h"

#include <algorithm>
#include <csignal>
#include <deque>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

using namespace pdlrt;

/// What stands above the column that is let through.
static std::vector<std::string> namesOfCopied(const DataOptions &data) {
  if (!data.idField.empty())
    return {data.idField};
  std::vector<std::string> names;
  for (const std::string &column : data.copyColumns)
    names.push_back(parseWholeNumber(column) ? "column" + column : column);
  return names;
}

namespace {

/// Rows with an output that is not finite. They are written as they are.
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
  /// Predicts until the data end or, of a stream, until no round is there in
  /// advance.
  Status runPass();
  /// The next round with samples; none at the end of the pass.
  Expected<std::span<const StepInput>> readRound();
  /// Those up to row `end`, which no sample was made of.
  Status writeBadRows(int64_t end, const RoundReader::SettledRows &settled);
  Status writeStep(int64_t count);
  Status report();

  ProgramRun predictor;
  std::unique_ptr<PredictionWriter> writer;
  /// None where nobody wants them.
  std::optional<InputsFile> inputs;
  /// Whether rows may come later.
  bool isStream = false;
  /// Of the rounds that were read, and not written yet; and of the end.
  std::deque<RoundReader::SettledRows> behindRounds;
  RoundReader::SettledRows behindLast;
  bool isAtEnd = false;
  int64_t samples = 0, nextRow = 0;
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

Status PredictCommand::run() {
  // Who reads the predictions may end first: that is an error of the write.
  std::signal(SIGPIPE, SIG_IGN);
  PDLRT_RETURN_IF_ERROR(createTrainedModel());
  DataOptions data = options.data;
  isStream = !std::ranges::all_of(data.files, canBeReadAgain);
  if (isStream)
    data.flushAfter = options.flushAfter;
  if (!options.dumpInputs.empty())
    data.copyTexts = !isTensorFile(data.files.front());
  for (const std::string &file : data.files)
    if (!options.dumpInputs.empty() && isTensorFile(file) == data.copyTexts)
      return Status::invalid("--dump-inputs has texts of all rows or of none, "
                             "but of " +
                             data.files.front() + " and " + file +
                             " one holds tensors; predict them one by one");
  if (Status opened =
          openProgram(frozenProgram("predict"), data, {}, predictor);
      !opened.ok()) {
    // It waited for the first row.
    const bool isStopped =
        isStream && stopSignal() != 0 && opened.code() != PDL_OUT_OF_MEMORY;
    if (isStopped)
      logWarning("stopped by a signal before there was a row: " +
                 opened.message());
    return isStopped ? Status() : opened;
  }
  if (predictor.program->output_count == 0)
    return Status::invalid(std::string("program @") + predictor.program->name +
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
  PDLRT_RETURN_IF_ERROR(predictor.reader->beginEpoch(0));
  while (!stopSignal() && !isAtEnd && !predictor.brokenOff)
    PDLRT_RETURN_IF_ERROR(runPass());
  // Of rows that were broken off, nobody knows which are bad.
  if (isAtEnd)
    PDLRT_RETURN_IF_ERROR(writeBadRows(behindLast.count, behindLast));
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
  // To wait for a round in advance would keep the one before it.
  if (isStream && !behindRounds.empty() && !predictor.reader->isNextReady())
    return std::span<const StepInput>();
  while (true) {
    Expected<std::span<const StepInput>> round = predictor.readRound();
    if (!round || predictor.brokenOff)
      return round;
    RoundReader::SettledRows settled = predictor.reader->takeSettledRows();
    if (round->empty()) {
      isAtEnd = true;
      behindLast = std::move(settled);
      return round;
    }
    if (predictor.reader->sampleCount() > 0) {
      behindRounds.push_back(std::move(settled));
      return round;
    }
    // Only bad rows have come. Such a round is never read in advance: all
    // before it is written.
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
  const RoundReader::SettledRows settled = std::move(behindRounds.front());
  behindRounds.pop_front();
  nonFinite.add(*predictor.program, outputs, count);
  for (int64_t i = 0; i < count; ++i) {
    // A bad row keeps its place.
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
  Report report;
  report.samples = samples;
  report.badRows = predictor.reader->badRowCount();
  stopping = stopSignal() != 0;
  // Also where all rows are bad: they say why.
  for (const std::string &sentence : predictor.reader->badRowSentences())
    logWarning("predicted nan for " + sentence);
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
  const int64_t unknown = counts.unknownInitial + counts.unknownZero;
  if (areTooManyUnknown(counts.ids, unknown))
    logWarning(sayUnknown(counts.ids, unknown));
  return {};
}

Status pdlrt::runPredict(const pdl_descriptor &descriptor,
                         const SessionOptions &options) {
  return PredictCommand(descriptor, options).run();
}
