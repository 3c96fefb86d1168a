//===- TrainingReport.h - Report of a training ------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_PROGRAMS_TRAINER_TRAININGREPORT_H
#define LIB_RUNTIME_PROGRAMS_TRAINER_TRAININGREPORT_H

#include "Engine/ProgramRun.h"
#include "Engine/TrainingState.h"
#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Device/Device.h"
#include "pdlrt/Engine/PassReport.h"
#include "pdlrt/Programs/Trainer/Session.h"
#include "pdlrt/State/Model.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace pdlrt {

/// Returns the line with the figures of an epoch that has ended, or of the part
/// of `steps` steps that was trained. Without `lines`, which trainer 0 reports,
/// the line has the steps alone.
std::string epochLine(int64_t epoch, bool hasEnded, int64_t steps,
                      const std::vector<std::string> &lines);

/// Returns the line to print if the checkpoint has as many steps or epochs as
/// `options` request, so that nothing is left to train.
std::string describeNothingLeft(const SessionOptions &options,
                                const TrainingState &state);

/// Results of a training.
struct TrainingResult {
  const TrainingState &state;
  const ProgramRun &trainer, &tester;
  const Model &model;
  std::span<Device *const> devices;
  /// Results of the last epoch, and of the test after it.
  const PassReport &trained, &tested;
  /// `hasStopped`: the job has ended early. `hasGivenUp`: it has ended because
  /// saves failed.
  bool hasStopped = false, hasGivenUp = false;
  /// Reason why the training stopped early; empty if it did not.
  std::string stoppedEarly = {};
  /// The line of `describeNothingLeft`, or empty if something was left to
  /// train.
  std::string nothingLeft;
  /// `SessionOptions::printsFigures`.
  bool printsFigures = true;
};

/// Prints the report of a training.
Status reportTraining(const pdl_descriptor &descriptor,
                      const TrainingResult &result);

} // namespace pdlrt

#endif // LIB_RUNTIME_PROGRAMS_TRAINER_TRAININGREPORT_H
