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
  /// Metrics that the checkpoint lacks or has with another kind. Their sums are
  /// 0.
  std::vector<std::string> newMetrics;
  /// Samples of group metrics, indexed by the descriptor's group metrics, then
  /// by replica. Empty if there are no such metrics.
  std::vector<pdlabi::GroupedSamples> groups = {};
  /// The rows of the epoch that are divided among these replicas; null: all
  /// rows.
  std::shared_ptr<const EpochRest> rest = nullptr;
};

/// Returns the checkpoint setting of `--data` if rows are distributed
/// round-robin to `files` files.
std::string inTurnText(size_t files);

/// The replicas among which an epoch is divided.
struct EpochDivision {
  int groups = 1, workers = 1;
  /// Steps of the training when the epoch was divided among them; 0: at its
  /// start.
  int64_t steps = 0;
  /// Number of files if rows are distributed to them round-robin
  /// (`DataOptions::filesInTurn`), otherwise 0.
  int64_t files = 0;

  int replicas() const { return groups * workers; }
  /// Returns the checkpoint setting of `--replicas`.
  std::string text() const;
  /// Returns true if a setting of `--data` means files with rows distributed
  /// round-robin.
  static bool isInTurn(const std::string &setting);
  /// Returns the division in a checkpoint that was written in the middle of an
  /// epoch.
  static Expected<EpochDivision> of(const Checkpoint &checkpoint);
};

Status saveRunningEpoch(const pdl_descriptor &descriptor,
                        const RunningEpoch &running, int replicas,
                        CheckpointWriter &writer);
/// Loads the accumulators of a checkpoint, which must be of that number of
/// replicas.
Expected<RunningEpoch> loadRunningEpoch(const pdl_descriptor &descriptor,
                                        int replicas,
                                        const Checkpoint &checkpoint);

/// Completes a save of a training: adds the counts of the running epoch, for
/// that number of replicas, and commits. `running` is null if there is nothing
/// to add. Returns an error if this process no longer owns the folder.
/// `digest`: as in `CheckpointWriter::commit`.
Status commitTraining(const pdl_descriptor &descriptor,
                      const RunningEpoch *running, int replicas,
                      const CheckpointFolder &folder, CheckpointWriter &writer,
                      CheckpointManifest manifest, uint64_t *digest = nullptr);

/// Returns the remaining rows if the running epoch was divided again, otherwise
/// null.
Expected<std::shared_ptr<const EpochRest>>
loadRest(const Checkpoint &checkpoint);

/// Records in the settings that the running epoch was divided again at that
/// step.
void noteDivision(int64_t steps, CheckpointManifest &manifest);

/// Moves the counts of `from` replicas to the first of `to` replicas.
void giveToFirst(const pdl_descriptor &descriptor, int from, int to,
                 RunningEpoch &running);

} // namespace pdlrt

#endif // PDLRT_CHECKPOINT_RUNNINGEPOCH_H
