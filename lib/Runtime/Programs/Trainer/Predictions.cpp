//===- Predictions.cpp - Outputs of a program as a file -------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Programs/Trainer/Predictions.h"

#include "Programs/Trainer/PredictionFormats.h"

#include <cerrno>
#include <cstring>

using namespace pdlrt;

PredictionWriter::~PredictionWriter() = default;

PredictionFormat pdlrt::formatOf(const SessionOptions &options) {
  if (options.outputFormat)
    return *options.outputFormat;
  if (options.output.ends_with(".safetensors"))
    return PredictionFormat::Safetensors;
  return options.output.ends_with(".csv") ? PredictionFormat::Csv
                                          : PredictionFormat::Tsv;
}

Expected<std::unique_ptr<PredictionWriter>>
PredictionWriter::open(PredictionFormat format, const std::string &path,
                       const pdl_program &program,
                       const std::vector<std::string> &copied) {
  return format == PredictionFormat::Safetensors
             ? openTensorPredictions(path, program, copied)
             : openTextPredictions(format, path, program, copied);
}

Status pdlrt::predictionsFailed(const std::string &path, int error) {
  const std::string where = path.empty() ? "the standard output" : path;
  if (error == EPIPE)
    return Status::ioError("cannot write predictions to " + where +
                           ": no process reads them any more");
  return Status::ofErrno(error,
                         "cannot write predictions to " + where + ": " +
                             std::strerror(error) +
                             (path.empty() ? "" : "; name another file"));
}

Status pdlrt::refuseSecondName(const std::string &name,
                               const pdl_program &program) {
  return Status::invalidArgument(
      "predictions would have two columns `" + name +
      "`: what --id or --copy-column lets through, and an output of program "
      "@" +
      program.name +
      "; give the output another name (nn.return ... as), or let another "
      "column through");
}
