//===- PredictCommand.cpp - The command that predicts ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/Command.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/StopSignal.h"
#include "pdlrt/Core/WholeNumber.h"
#include "pdlrt/Programs/Trainer/Predictions.h"

#include <fmt/format.h>
#include <optional>
#include <string>
#include <vector>

using namespace pdlrt;

namespace {

class PredictCommand final : Command {
public:
  using Command::Command;

  Status run();
};

} // namespace

/// What stands above the column that is let through.
static std::string nameOfCopied(const std::string &column) {
  return parseWholeNumber(column) ? "column" + column : column;
}

Status PredictCommand::run() {
  PDLRT_RETURN_IF_ERROR(createTrainedModel());
  ProgramRun predictor;
  PDLRT_RETURN_IF_ERROR(openProgram("predict", options.data, {}, predictor));
  if (predictor.program->output_count == 0)
    return Status::invalid("program @predict has no outputs; return a value "
                           "from it and translate the model again");
  Expected<PredictionWriter> writer =
      PredictionWriter::open(options.output, *predictor.program,
                             nameOfCopied(options.data.copyColumn));
  if (!writer)
    return std::move(writer).status();
  PDLRT_RETURN_IF_ERROR(predictor.reader->beginEpoch(0));
  int64_t samples = 0, nextRow = 0;
  const RoundReader &reader = *predictor.reader;
  // A bad row keeps its place.
  auto passBadRows = [&](int64_t end) -> Status {
    for (; nextRow < end; ++nextRow)
      PDLRT_RETURN_IF_ERROR(
          writer->writeBadRow(reader.copiedCellOfBadRow(nextRow)));
    return {};
  };
  PDLRT_RETURN_IF_ERROR(predictor.engine->begin(predictor.source()));
  while (!stopSignal()) {
    Expected<std::optional<StepResult>> step = predictor.engine->next(false);
    if (!step)
      return step.status();
    const std::optional<StepResult> &result = *step;
    if (!result) {
      // Of rows that were broken off, nobody knows which are bad.
      if (!predictor.brokenOff)
        PDLRT_RETURN_IF_ERROR(passBadRows(reader.rowCount()));
      break;
    }
    const BatchContext &outputs = predictor.engine->replicas()[0].current();
    const Batch &batch = *outputs.input().batch;
    for (int64_t i = 0; i < result->samples; ++i) {
      PDLRT_RETURN_IF_ERROR(passBadRows(batch.row(i)));
      PDLRT_RETURN_IF_ERROR(writer->write(outputs, i, batch.copiedCell(i)));
      ++nextRow;
    }
    samples += result->samples;
  }
  PDLRT_RETURN_IF_ERROR(writer->finish());
  Report report;
  report.samples = samples;
  stopping = stopSignal() != 0;
  PDLRT_RETURN_IF_ERROR(
      requireSamples(*predictor.program, report, options.data.files));
  for (const std::string &sentence : predictor.reader->badRowSentences())
    logWarning("predicted nan for " + sentence);
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
  return {};
}

Status pdlrt::runPredict(const pdl_descriptor &descriptor,
                         const SessionOptions &options) {
  return PredictCommand(descriptor, options).run();
}
