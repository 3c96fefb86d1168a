//===- SameModel.cpp - Whether a checkpoint is of a model -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// By itself, so that libraries that serve need nothing else of those who save.
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Checkpoint/ModelCheckpoint.h"

#include <fmt/format.h>

using namespace pdlrt;

Status pdlrt::checkSameModel(const pdl_descriptor &descriptor,
                             const Checkpoint &checkpoint, CheckpointUse use,
                             OldLayout *old) {
  return checkSameModel(descriptor, checkpoint.manifest(), checkpoint.path(),
                        use, old);
}

Status pdlrt::checkSameModel(const pdl_descriptor &descriptor,
                             const CheckpointManifest &manifest,
                             const std::string &path, CheckpointUse use,
                             OldLayout *old) {
  std::vector<ModelPart> program = partsOf(descriptor),
                         saved = manifest.modelParts;
  std::string unchecked;
  if (manifest.layoutVersion < currentLayout)
    unchecked = removeUnchecked(program, saved, use);
  const std::string differences = differencesOf(program, saved, use);
  if (differences.empty() && !unchecked.empty() && (!old || !old->accepted))
    return refuseOldLayout(path, unchecked);
  if (differences.empty()) {
    if (old)
      old->unchecked = unchecked;
    return {};
  }
  return Status::invalid(fmt::format(
      "{}: does not fit this program (model {} there, {} here): {}; use the "
      "program that wrote it, or {}",
      path, manifest.model, descriptor.model_name, differences,
      use == CheckpointUse::Values
          ? "another checkpoint"
          : "keep its values: `pdl-checkpoint dump` writes them to a file, and "
            "a new training begins with --init-from FILE"));
}
