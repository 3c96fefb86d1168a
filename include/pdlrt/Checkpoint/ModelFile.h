//===- ModelFile.h - Reads and writes dumps (safetensors) -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The file contains for each symbol of the model:
//
//   <parameter>                 F32 or F64, its shape
//   <parameter>.slot.<slot>     the same
//   <table>.keys                I64 [rows], ascending
//   <table>.values              F32 or F64 [rows, width], in order of the keys
//   <table>.slot.<slot>         the same
//
// Metadata: `seed` and `model`; `layout_version`; `keys.<table>`, which
// describes how the table's keys are made from fields, one way per line. Dumps
// with slots also have `group.<group>.steps`, the number of updates of the
// group.
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

/// Returns the name of the metadata entry with a group's number of updates.
std::string groupStepsName(const std::string &group);

/// Returns the metadata that describes how keys are made from fields.
std::map<std::string, std::string>
layoutMetadata(const std::vector<ModelPart> &parts);

/// Returns an error that lists the differences if the keys of a table are made
/// from fields in another way than in the program. Also rejects dumps of layout
/// 1, unless `old` accepts them; `old` then receives what was not checked. A
/// file that is not a dump has no information on keys and passes. `table`: its
/// name without '@'.
Status checkDumpedKeys(const pdl_descriptor &descriptor,
                       const SafetensorsFile &file, const std::string &table,
                       OldLayout &old);

/// Logs a warning about values of `path` that were not checked, if there are
/// any.
void warnOfOldLayout(const std::string &path, const OldLayout &old);

/// Writes the values of all symbols to `path`, atomically. If `withSlots`, also
/// writes the optimizer's slots and the step counts of groups. Symbol names
/// have no '@'.
Status dumpModel(const Model &model, const std::string &path, bool withSlots);

/// Symbols that a file must contain, and the data that is read from it.
enum class FileCoverage {
  /// Requires all parameters: for a model that is used unchanged.
  Parameters,
  Any,      ///< At least one symbol is required: for a model that is trained.
  AnyValues ///< Like Any, but without slots and step counts.
};

/// Returns the coverage that training uses for the file of --init-from.
/// `valuesOnly`: the flag --init-values-only.
inline FileCoverage coverageOfTraining(bool valuesOnly) {
  return valuesOnly ? FileCoverage::AnyValues : FileCoverage::Any;
}

/// Sets the state of a fresh model to the contents of `path`, by name. Types
/// and shapes must match the model, but F32 tensors are widened for an F64
/// program. A server's model reads only its own rows. Logs what was read. Warns
/// about symbols that the file lacks and that keep their initial values, about
/// unknown tensors, and about slots without step counts. Rejects rows whose
/// keys are made from fields in another way, and dumps of layout 1 unless
/// `acceptOldLayout`.
Status initializeModel(Model &model, const std::string &path,
                       FileCoverage coverage, bool acceptOldLayout = false);

/// Returns the seed of the training that wrote a dump. Rows that were never
/// inserted derive from it. None if the file is not a dump.
Expected<std::optional<uint64_t>> seedOfModelFile(const std::string &path);

} // namespace pdlrt

#endif // PDLRT_CHECKPOINT_MODELFILE_H
