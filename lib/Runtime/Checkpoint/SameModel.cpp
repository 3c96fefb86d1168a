//===- SameModel.cpp - Checks that a checkpoint fits a program ------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This code has a file of its own, so that serving libraries need no other code
// about checkpoints.
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Checkpoint/ModelCheckpoint.h"

#include <algorithm>
#include <fmt/format.h>

using namespace pdlrt;

/// Returns advice for users whose program does not fit a checkpoint: how a new
/// training can start from those values of the checkpoint that fit.
static std::string sayHowToKeep(const std::vector<ModelPart> &program,
                                const std::vector<ModelPart> &saved) {
  const std::vector<std::string> others = symbolsToLeaveOut(program, saved);
  if (others.empty())
    return "keep its values: `pdl-checkpoint dump` writes them to a file, and "
           "a new training begins with --init-from FILE";
  const bool isAnyLeft = std::ranges::any_of(saved, [&](const ModelPart &part) {
    const size_t at = part.name.find('@');
    return part.kind == PDL_PART_STATE && at != std::string::npos &&
           std::ranges::find(others, part.name.substr(at + 1)) == others.end();
  });
  if (!isAnyLeft)
    return "begin a new training in another folder, because none of its values "
           "fit";
  return fmt::format(
      "keep the values that fit: `pdl-checkpoint dump --without {}` writes "
      "them to a file, a new training begins with --init-from FILE, and @{} "
      "with initial values",
      fmt::join(others, " --without "), fmt::join(others, ", @"));
}

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
  return Status::failedPrecondition(fmt::format(
      "{}: does not fit this program (model {} there, {} here): {}; use the "
      "program that wrote it, or {}",
      path, manifest.model, descriptor.model_name, differences,
      use == CheckpointUse::Values ? "another checkpoint"
                                   : sayHowToKeep(program, saved)));
}
