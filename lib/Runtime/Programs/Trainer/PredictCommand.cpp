//===- PredictCommand.cpp - The command that predicts ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/Trainer/Command.h"
#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Core/Finite.h"
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

namespace {

/// Rows with an output that is not finite. They are written as they are.
struct NonFiniteRows {
  int64_t count = 0, first = 0;

  void add(const pdl_program &program, const BatchContext &outputs,
           int64_t samples);
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
  PDLRT_RETURN_IF_ERROR(createTrainedModel());
  ProgramRun predictor;
  PDLRT_RETURN_IF_ERROR(
      openProgram(frozenProgram("predict"), options.data, {}, predictor));
  if (predictor.program->output_count == 0)
    return Status::invalid(std::string("program @") + predictor.program->name +
                           " has no outputs; return a value from it and "
                           "translate the model again");
  Expected<PredictionWriter> writer = PredictionWriter::open(
      options.output, *predictor.program,
      options.data.idField.empty() ? nameOfCopied(options.data.copyColumn)
                                   : options.data.idField);
  if (!writer)
    return std::move(writer).status();
  PDLRT_RETURN_IF_ERROR(predictor.reader->beginEpoch(0));
  int64_t samples = 0, nextRow = 0;
  NonFiniteRows nonFinite;
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
    nonFinite.add(*predictor.program, outputs, result->samples);
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
  return {};
}

Status pdlrt::runPredict(const pdl_descriptor &descriptor,
                         const SessionOptions &options) {
  return PredictCommand(descriptor, options).run();
}
