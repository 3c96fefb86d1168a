//===- RunningEpoch.h - Accumulated loss and metrics of an epoch *- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CHECKPOINT_RUNNINGEPOCH_H
#define PDLRT_CHECKPOINT_RUNNINGEPOCH_H

#include "pdlabi/abi/descriptor.h"
#include "pdlabi/metrics/GroupedAreaUnderCurve.h"
#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Data/EpochRest.h"
#include "pdlrt/Kernels/Metrics.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace pdlrt {

/// Loss and metric accumulators of a running epoch, of all replicas of a job.
struct RunningEpoch {
  double lossSum = 0;
  double weightSum = 0;
  MetricSums metrics;
  /// Names of the program's metrics that the checkpoint lacks or has with
  /// another kind. Their sums start at 0.
  std::vector<std::string> newMetrics;
  /// Samples of grouped metrics, such as grouped AUC: for metric m of the
  /// descriptor and replica r, entry m * replicas + r. Empty if there are no
  /// such metrics.
  std::vector<pdlabi::GroupedSamples> groups = {};
  /// The rows of the epoch that are divided among the replicas; null: all rows.
  std::shared_ptr<const EpochRest> rest = nullptr;
};

/// Returns the value of the setting `--data` in a manifest if rows are
/// distributed round-robin to `files` files.
std::string inTurnText(size_t files);

/// The replicas among which an epoch is divided.
struct EpochDivision {
  int groups = 1, workers = 1;
  /// Number of steps of the training when the epoch was divided among these
  /// replicas; 0 if they had it from its start.
  int64_t steps = 0;
  /// Number of files if rows are distributed to them round-robin
  /// (`DataOptions::filesInTurn`), otherwise 0.
  int64_t files = 0;

  int replicas() const { return groups * workers; }
  /// Returns the value of the setting `--replicas` in a manifest.
  std::string text() const;
  /// Returns true if `setting` is a value of `inTurnText`.
  static bool isInTurn(const std::string &setting);
  /// Returns the division in a checkpoint that was written in the middle of an
  /// epoch.
  static Expected<EpochDivision> of(const Checkpoint &checkpoint);
};

Status saveRunningEpoch(const pdl_descriptor &descriptor,
                        const RunningEpoch &running, int replicas,
                        CheckpointWriter &writer);
/// Loads the accumulators from a checkpoint. Returns an error if they are of
/// another number of replicas.
Expected<RunningEpoch> loadRunningEpoch(const pdl_descriptor &descriptor,
                                        int replicas,
                                        const Checkpoint &checkpoint);

/// Completes a save of a training: writes the accumulators of the running
/// epoch, which are of `replicas` replicas, and commits the checkpoint. If no
/// epoch is running, `running` is null. Returns an error if this process no
/// longer owns the folder. `digest` is as in `CheckpointWriter::commit`.
Status commitTraining(const pdl_descriptor &descriptor,
                      const RunningEpoch *running, int replicas,
                      const CheckpointFolder &folder, CheckpointWriter &writer,
                      CheckpointManifest manifest, uint64_t *digest = nullptr);

/// Returns the rows that remained when the running epoch was divided among
/// other replicas; null if it never was.
Expected<std::shared_ptr<const EpochRest>>
loadRest(const Checkpoint &checkpoint);

/// Records in the setting `--replicas` of a manifest that the running epoch was
/// divided among these replicas after `steps` steps.
void noteDivision(int64_t steps, CheckpointManifest &manifest);

/// Changes the number of replicas of `running` from `from` to `to`, when an
/// epoch is divided again. The first new replica gets the sums and samples of
/// all old ones; the others start at 0.
void giveToFirst(const pdl_descriptor &descriptor, int from, int to,
                 RunningEpoch &running);

} // namespace pdlrt

#endif // PDLRT_CHECKPOINT_RUNNINGEPOCH_H
