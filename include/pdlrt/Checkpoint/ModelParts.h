//===- ModelParts.h - Compares a checkpoint with a program ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The named parts of a model (`pdl_part`), as a checkpoint stores them. A
// program can use a checkpoint if the parts that it needs are equal; otherwise
// an error lists the differences. All functions are pure.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CHECKPOINT_MODELPARTS_H
#define PDLRT_CHECKPOINT_MODELPARTS_H

#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Core/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace pdlrt {

/// One part, with its value as text.
struct ModelPart {
  pdl_part_kind kind = PDL_PART_STATE;
  std::string name;
  std::string value;
};

/// Purpose for which a checkpoint is opened.
enum class CheckpointUse {
  Values,  ///< To evaluate and predict.
  Training ///< To resume the training that wrote it.
};

/// Returns all parts of a program.
std::vector<ModelPart> partsOf(const pdl_descriptor &descriptor);

/// Version of the state layout that is written. Layout 1 did not record how the
/// keys of a table are made from fields.
inline constexpr int64_t currentLayout = 2;

/// Returns the part that describes how the keys of a table are made from
/// fields, one way per line, or null if there is none. `table`: its name
/// without '@'.
const ModelPart *keysOf(const std::vector<ModelPart> &parts,
                        const std::string &table);

/// Says whether values of layout 1 are accepted. If such values were opened,
/// `unchecked` describes what was not checked; otherwise it is empty.
struct OldLayout {
  bool accepted = false;
  std::string unchecked;
};

/// Returns the error that rejects values of layout 1 in `path`.
Status refuseOldLayout(const std::string &path, const std::string &unchecked);

/// Removes the parts by which values of layout 1 cannot be compared. Returns a
/// readable list of them, empty if there are none.
std::string removeUnchecked(std::vector<ModelPart> &program,
                            std::vector<ModelPart> &checkpoint,
                            CheckpointUse use);

/// Returns a readable description of how the keys of a table differ, empty if
/// they are equal. `program`: the result of `keysOf` on the parts of `here`.
/// `checkpoint`: the same for `other`. A program that only reads may make keys
/// in fewer ways.
std::string keyDifferences(const ModelPart &program,
                           const std::string &checkpoint,
                           const std::string &other,
                           const std::string &here = "this program");

/// Returns the names, without '@', of symbols that both have but whose values
/// the program cannot use, because their keys are made in another way or their
/// types differ.
std::vector<std::string>
symbolsToLeaveOut(const std::vector<ModelPart> &program,
                  const std::vector<ModelPart> &checkpoint);

/// Returns the differences between the parts of a program and those of a
/// checkpoint that `use` needs, as text to append after a colon. The text has
/// the first few differences, with both values, and the number of further ones.
/// It is empty if there are none. For Values, the program may have fewer parts
/// than the checkpoint; for Training, both must have the same parts. `other`:
/// name of the checkpoint in the text.
std::string differencesOf(const std::vector<ModelPart> &program,
                          const std::vector<ModelPart> &checkpoint,
                          CheckpointUse use,
                          const std::string &other = "the checkpoint");

} // namespace pdlrt

#endif // PDLRT_CHECKPOINT_MODELPARTS_H
