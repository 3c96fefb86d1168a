//===- RecoveryParts.h - Parts that recovery records and restores -*- C++
//-*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_RECOVERY_RECOVERYPARTS_H
#define LIB_RUNTIME_RECOVERY_RECOVERYPARTS_H

#include "Engine/ProgramRun.h"
#include "Engine/TrainingState.h"
#include "pdlrt/Recovery/RecoveryChannel.h"

#include <cstdint>
#include <functional>

namespace pdlrt {

/// Progress of the outputs of a training, which a restarted process continues.
struct OutputProgress {
  /// Number of lines of the log of losses; -1: no log.
  int64_t lossLines = -1;
  /// Steps and epoch of the save that was started last, or of the resumed
  /// checkpoint (`TrainingCheckpoints::lastSaved`).
  int64_t savedSteps = 0, savedEpoch = 0;
};

/// Objects of a trainer whose progress `Recovery` records and restores. They
/// must outlive `Recovery`.
struct RecoveryParts {
  /// Channel for recovery records. Null if no other process waits for a restart
  /// of this one.
  RecoveryChannel *channel = nullptr;
  /// True if workers send by themselves (`Mode::workersSend`).
  bool workersSend = false;
  /// Digest of the flags on which the result of the training depends.
  int64_t flagsDigest = 0;
  /// The program that is trained. Its engine and its reader may be created
  /// after `Recovery::rejoin`.
  ProgramRun &run;
  TrainingState &state;
  /// Flushes the outputs of the training, so that they survive if the process
  /// is killed. Returns their progress.
  std::function<OutputProgress()> flushOutputs;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_RECOVERY_RECOVERYPARTS_H
