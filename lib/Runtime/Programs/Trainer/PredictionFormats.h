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

/// As `PredictionWriter::open`, each for its formats.
Expected<std::unique_ptr<PredictionWriter>>
openTextPredictions(PredictionFormat format, const std::string &path,
                    const pdl_program &program,
                    const std::vector<std::string> &copied);
Expected<std::unique_ptr<PredictionWriter>>
openTensorPredictions(const std::string &path, const pdl_program &program,
                      const std::vector<std::string> &copied);

/// Of a failed call of the system, `error` being its errno.
Status predictionsFailed(const std::string &path, int error);

/// Two columns, or tensors, of one name.
Status refuseSecondName(const std::string &name, const pdl_program &program);

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_PREDICTIONFORMATS_H
