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
#include "pdlrt/Trainer/Report.h"

#include <string>
#include <utility>
#include <vector>

namespace pdlrt {

/// Refuses a checkpoint of another model, by its semantic fingerprint.
Status checkSameModel(const pdl_descriptor &descriptor,
                      const Checkpoint &checkpoint);

/// Adds values, slots and step counts of all symbols and groups: the parts to
/// `writer`, the rest to `manifest`. `model` does not change meanwhile.
Status saveModel(const Model &model, CheckpointWriter &writer,
                 CheckpointManifest &manifest);

/// Sets the state of a fresh model, made with the checkpoint's seed.
Status restoreModel(Model &model, const Checkpoint &checkpoint);

/// Adds losses and metric accumulators of the running epoch, by replica.
Status saveRunningEpoch(const pdl_descriptor &descriptor, ReplicaSet &set,
                        const Report &report, CheckpointWriter &writer);

/// Sets those of as many replicas, and the report's sums.
Status restoreRunningEpoch(const pdl_descriptor &descriptor, ReplicaSet &set,
                           Report &report, const Checkpoint &checkpoint);

/// Refuses to go on in the middle of an epoch with other flags than those that
/// it was begun with. `settings`: those of this run.
Status
checkSettings(const Checkpoint &checkpoint,
              const std::vector<std::pair<std::string, std::string>> &settings);

} // namespace pdlrt

#endif // PDLRT_TRAINER_MODELCHECKPOINT_H
