//===- ModelParts.h - Compares a checkpoint with a program ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A part is a named piece of a model's description (`pdl_part`), such as the
// optimizer rule of a group. A checkpoint stores the parts of the program that
// wrote it. Another program can use the checkpoint if the parts that it needs
// are equal; otherwise an error lists the differences. All functions are pure.
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

/// Returns the part that describes how the keys of table `table` are made from
/// fields, with one line for each way. Returns null if there is none. `table`
/// is a name without '@'.
const ModelPart *keysOf(const std::vector<ModelPart> &parts,
                        const std::string &table);

/// Says whether checkpoints and dumps of layout 1 are accepted
/// (--accept-old-layout). If one was opened, `unchecked` describes the parts
/// that were not checked; otherwise it is empty.
struct OldLayout {
  bool accepted = false;
  std::string unchecked;
};

/// Returns the error that rejects values of layout 1 in `path`.
Status refuseOldLayout(const std::string &path, const std::string &unchecked);

/// Removes from both lists the parts that layout 1 does not record: how keys
/// are made from fields, and the fields and losses of the training. They cannot
/// be compared. Returns a readable list of the removed parts that `use` would
/// have compared; empty if there are none.
std::string removeUnchecked(std::vector<ModelPart> &program,
                            std::vector<ModelPart> &checkpoint,
                            CheckpointUse use);

/// Returns a readable description of how program and checkpoint differ in
/// making the keys of a table from fields; empty if there is no difference that
/// matters. `program` is the result of `keysOf` for the program, and
/// `checkpoint` is the value of that part in the checkpoint. `here` and `other`
/// name the two in the text. A program that only reads the table may lack some
/// of the checkpoint's ways.
std::string keyDifferences(const ModelPart &program,
                           const std::string &checkpoint,
                           const std::string &other,
                           const std::string &here = "this program");

/// Returns the names, without '@', of the symbols of a checkpoint that a
/// program has too but cannot use, because their keys are made in another way
/// or their types differ.
std::vector<std::string>
symbolsToLeaveOut(const std::vector<ModelPart> &program,
                  const std::vector<ModelPart> &checkpoint);

/// Compares the parts of a program with those of a checkpoint, as far as `use`
/// needs them. Returns the differences as text to append after a colon: the
/// first few differences, each with the values of program and checkpoint, and
/// the number of further ones. Returns an empty text if there are none. Values
/// compares only the parts of kind PDL_PART_STATE that the program has.
/// Training compares all parts, and requires that the checkpoint has no others.
/// `other` is the name of the checkpoint in the text.
std::string differencesOf(const std::vector<ModelPart> &program,
                          const std::vector<ModelPart> &checkpoint,
                          CheckpointUse use,
                          const std::string &other = "the checkpoint");

} // namespace pdlrt

#endif // PDLRT_CHECKPOINT_MODELPARTS_H
