//===- ModelFile.h - State in and out as safetensors ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layout, for each symbol of the model:
//
//   <parameter>                 F32 or F64, its shape
//   <parameter>.slot.<slot>     the same
//   <table>.keys                I64 [rows], ascending
//   <table>.values              F32 or F64 [rows, width], in order of the keys
//   <table>.slot.<slot>         the same
//
// and the metadata `seed` and `model`; `layout_version`, and `keys.<table>`,
// how its keys come from fields, one way a line; with slots also
// `group.<group>.steps`, how many updates the group has had.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CHECKPOINT_MODELFILE_H
#define PDLRT_CHECKPOINT_MODELFILE_H

#include "pdlrt/Checkpoint/ModelParts.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Files/Safetensors.h"
#include "pdlrt/State/Model.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pdlrt {

/// The metadata of a dump that says how many updates a group has had.
std::string groupStepsName(const std::string &group);

/// The metadata of a dump that says how keys come from fields.
std::map<std::string, std::string>
layoutMetadata(const std::vector<ModelPart> &parts);

/// Refuses rows of a table whose keys come from fields in another way than the
/// program's, and says how; and those of dumps of layout 1, unless `old`
/// accepts them, which then gets what was not checked. A file that is no dump
/// says nothing about keys, and passes. `table`: its name without '@'.
Status checkDumpedKeys(const pdl_descriptor &descriptor,
                       const SafetensorsFile &file, const std::string &table,
                       OldLayout &old);

/// Logs what was not checked of the values in `path`, if anything.
void warnOfOldLayout(const std::string &path, const OldLayout &old);

/// Writes the values of all symbols to `path`, at once or not at all; with
/// `withSlots` the optimizer's slots and the groups' step counts too. Names of
/// symbols stand without '@'.
Status dumpModel(const Model &model, const std::string &path, bool withSlots);

/// Which of a model's symbols a file has to hold, and what is taken of it.
enum class FileCoverage {
  Parameters, ///< all parameters, for a model that is used as it is
  Any,        ///< at least one symbol, for a model that is trained
  AnyValues   ///< the same, without slots and step counts
};

/// What a training takes of the file of --init-from. `valuesOnly`: the flag
/// --init-values-only.
inline FileCoverage coverageOfTraining(bool valuesOnly) {
  return valuesOnly ? FileCoverage::AnyValues : FileCoverage::Any;
}

/// Sets the state of a fresh model to what `path` holds, by name; types and
/// shapes must be the model's, but F32 tensors are widened for an F64 program.
/// The log says what was taken, and warns of what the model has and the file
/// lacks, which keeps its initial value, of tensors that belong to nothing, and
/// of slots without step counts. A server's model takes its own rows. Rows
/// whose keys come from fields in another way are refused; those of a dump of
/// layout 1 too, unless `acceptOldLayout`.
Status initializeModel(Model &model, const std::string &path,
                       FileCoverage coverage, bool acceptOldLayout = false);

/// The seed that a dump was trained with: rows that were never inserted derive
/// from it. None if the file is not a dump.
Expected<std::optional<uint64_t>> seedOfModelFile(const std::string &path);

} // namespace pdlrt

#endif // PDLRT_CHECKPOINT_MODELFILE_H
