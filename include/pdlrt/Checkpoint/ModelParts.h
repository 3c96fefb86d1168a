//===- ModelParts.h - What a checkpoint and a program share -----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The named parts of a model (`pdl_part`), as a checkpoint keeps them. A
// program goes on from a checkpoint if the parts that it needs are as they
// were, and says which are not. All functions are pure.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CHECKPOINT_MODELPARTS_H
#define PDLRT_CHECKPOINT_MODELPARTS_H

#include "pdlabi/abi.h"

#include <string>
#include <vector>

namespace pdlrt {

/// One part, with its value as a text.
struct ModelPart {
  pdl_part_kind kind = PDL_PART_STATE;
  std::string name;
  std::string value;
};

/// What a checkpoint is opened for.
enum class CheckpointUse {
  Values,  ///< to evaluate and predict
  Training ///< to go on with the training that wrote it
};

/// All parts of a program.
std::vector<ModelPart> partsOf(const pdl_descriptor &descriptor);

/// What differs between the parts of a program and those of a checkpoint that
/// `use` needs, as a text that stands behind a colon: the first few, with both
/// values, and how many more; empty if nothing does. Values alone may be fewer
/// than those of the checkpoint; a training has the same. `other`: what the
/// text calls the checkpoint.
std::string differencesOf(const std::vector<ModelPart> &program,
                          const std::vector<ModelPart> &checkpoint,
                          CheckpointUse use,
                          const std::string &other = "the checkpoint");

} // namespace pdlrt

#endif // PDLRT_CHECKPOINT_MODELPARTS_H
