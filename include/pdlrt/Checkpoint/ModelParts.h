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
#include "pdlrt/Core/Status.h"

#include <cstdint>
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

/// The layout of state that is written. Layout 1 did not say how the keys of a
/// table come from fields.
inline constexpr int64_t currentLayout = 2;

/// Returns the part that says how the keys of a table come from fields, one way
/// a line; null if none does. `table`: its name without '@'.
const ModelPart *keysOf(const std::vector<ModelPart> &parts,
                        const std::string &table);

/// Whether values of layout 1 may be opened, and what was not checked of those
/// that were, as a text; empty if all was.
struct OldLayout {
  bool accepted = false;
  std::string unchecked;
};

/// The refusal of values of layout 1 in `path`.
Status refuseOldLayout(const std::string &path, const std::string &unchecked);

/// Removes the parts that values of layout 1 cannot be compared by. Returns
/// what these are, as a text for a reader; empty if there are none.
std::string removeUnchecked(std::vector<ModelPart> &program,
                            std::vector<ModelPart> &checkpoint,
                            CheckpointUse use);

/// Returns how the keys of a table differ, as a text; empty if they do not.
/// `program`: what `keysOf` found in the parts of `here`. `checkpoint`: the
/// same, of `other`. A program that only reads may make keys in fewer ways.
std::string keyDifferences(const ModelPart &program,
                           const std::string &checkpoint,
                           const std::string &other,
                           const std::string &here = "this program");

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
