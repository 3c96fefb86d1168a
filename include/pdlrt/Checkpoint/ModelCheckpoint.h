//===- ModelCheckpoint.h - State to and from a checkpoint ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CHECKPOINT_MODELCHECKPOINT_H
#define PDLRT_CHECKPOINT_MODELCHECKPOINT_H

#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/State/Model.h"

#include <string>
#include <utility>
#include <vector>

namespace pdlrt {

/// Refuses a checkpoint that does not have what `use` needs, and says what
/// differs (ModelParts.h).
Status checkSameModel(const pdl_descriptor &descriptor,
                      const Checkpoint &checkpoint, CheckpointUse use);

/// Fills in what a manifest says of the program, its symbols and the updates
/// applied: all but settings, progress and parts.
void describeModel(const Model &model, CheckpointManifest &manifest);

/// Adds what the model holds of values and slots: all, or a server's own, in
/// parts that together with those of other servers are the whole. `denseFile`:
/// name of the file of parameters, unlike that of other servers. A part of a
/// table ends with the shard that brings it to `bytesInPart`; at most `threads`
/// threads write parts, as many as make saving need little memory beside the
/// tables. `model` does not change meanwhile. Throws std::bad_alloc.
Status saveParts(const Model &model, const std::string &denseFile,
                 CheckpointWriter &writer, int threads = 1,
                 size_t bytesInPart = size_t(16) << 20);

/// Adds values, slots and step counts of all symbols and groups: the parts to
/// `writer`, the rest to `manifest`. `model` does not change meanwhile.
Status saveModel(const Model &model, CheckpointWriter &writer,
                 CheckpointManifest &manifest, int threads = 1);

/// Sets the state of a fresh model, made with the checkpoint's seed: all, or
/// what a server's model holds of it, whoever wrote which parts, on at most
/// `threads` threads. Slots and step counts are left as they are where only
/// values are used. Throws std::bad_alloc.
Status restoreModel(Model &model, const Checkpoint &checkpoint,
                    CheckpointUse use, int threads = 1);

/// Refuses to go on in the middle of an epoch with other flags than those that
/// it was begun with. `settings`: those of this run.
Status
checkSettings(const Checkpoint &checkpoint,
              const std::vector<std::pair<std::string, std::string>> &settings);

} // namespace pdlrt

#endif // PDLRT_CHECKPOINT_MODELCHECKPOINT_H
