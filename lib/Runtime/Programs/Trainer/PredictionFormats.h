//===- PredictionFormats.h - Writers of predictions -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_TRAINER_PREDICTIONFORMATS_H
#define LIB_RUNTIME_PROGRAMS_TRAINER_PREDICTIONFORMATS_H

#include "pdlrt/Programs/Trainer/Predictions.h"

namespace pdlrt {

/// Implement `PredictionWriter::open` for their formats.
Expected<std::unique_ptr<PredictionWriter>>
openTextPredictions(PredictionFormat format, const std::string &path,
                    const pdl_program &program,
                    const std::vector<std::string> &copied);
Expected<std::unique_ptr<PredictionWriter>>
openTensorPredictions(const std::string &path, const pdl_program &program,
                      const std::vector<std::string> &copied);

/// Returns the error of a failed system call; `error` is its errno.
Status predictionsFailed(const std::string &path, int error);

/// Returns the error for two columns or tensors with the same name.
Status refuseSecondName(const std::string &name, const pdl_program &program);

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_PREDICTIONFORMATS_H
