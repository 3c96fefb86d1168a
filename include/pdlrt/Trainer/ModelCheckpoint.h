//===- ModelCheckpoint.h - State of a trainer to and from a checkpoint -*- C++
//-*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TRAINER_MODELCHECKPOINT_H
#define PDLRT_TRAINER_MODELCHECKPOINT_H

#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Trainer/Model.h"
#include "pdlrt/Trainer/ReplicaSet.h"

#include <string>
#include <utility>
#include <vector>

namespace pdlrt {

/// Refuses a checkpoint of another model, by its semantic fingerprint.
Status checkSameModel(const pdl_descriptor &descriptor,
                      const Checkpoint &checkpoint);

/// Fills in what a manifest says of the program, its symbols and the updates
/// applied: all but settings, progress and parts.
void describeModel(const Model &model, CheckpointManifest &manifest);

/// Adds what the model holds of values and slots: all, or a server's own, in
/// parts that together with those of other servers are the whole. `denseFile`:
/// name of the file of parameters, unlike that of other servers. A part of a
/// table ends with the shard that brings it to `bytesInPart`, so that saving
/// needs little memory beside the table. `model` does not change meanwhile.
Status saveParts(const Model &model, const std::string &denseFile,
                 CheckpointWriter &writer,
                 size_t bytesInPart = size_t(64) << 20);

/// Adds values, slots and step counts of all symbols and groups: the parts to
/// `writer`, the rest to `manifest`. `model` does not change meanwhile.
Status saveModel(const Model &model, CheckpointWriter &writer,
                 CheckpointManifest &manifest);

/// Sets the state of a fresh model, made with the checkpoint's seed: all, or
/// what a server's model holds of it, whoever wrote which parts.
Status restoreModel(Model &model, const Checkpoint &checkpoint);

/// Loss and metric accumulators of a running epoch, of all replicas of a job.
struct RunningEpoch {
  double lossSum = 0;
  double weightSum = 0;
  /// Metric by metric, in it replica by replica.
  std::vector<int64_t> counts;
  std::vector<double> sums;
};

/// Zeros.
RunningEpoch emptyRunningEpoch(const pdl_descriptor &descriptor,
                               int64_t replicas);
/// What the replicas of this process have; zeros for those of others, so that
/// the sum over processes is that of all.
RunningEpoch collectRunningEpoch(const pdl_descriptor &descriptor,
                                 const ReplicaSet &set);
/// Sets the replicas of this process.
void restoreRunningEpoch(const pdl_descriptor &descriptor,
                         const RunningEpoch &running, ReplicaSet &set);

Status saveRunningEpoch(const pdl_descriptor &descriptor,
                        const RunningEpoch &running, int replicas,
                        CheckpointWriter &writer);
/// An error where the checkpoint is of another number of replicas.
Expected<RunningEpoch> loadRunningEpoch(const pdl_descriptor &descriptor,
                                        int replicas,
                                        const Checkpoint &checkpoint);

/// Refuses to go on in the middle of an epoch with other flags than those that
/// it was begun with. `settings`: those of this run.
Status
checkSettings(const Checkpoint &checkpoint,
              const std::vector<std::pair<std::string, std::string>> &settings);

} // namespace pdlrt

#endif // PDLRT_TRAINER_MODELCHECKPOINT_H
