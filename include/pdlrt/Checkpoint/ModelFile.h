//===- ModelFile.h - Reads and writes dumps (safetensors) -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A dump is one safetensors file. It contains for each symbol of the model:
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

/// Returns the metadata entries `layout_version` and `keys.<table>`, which
/// describe how the keys of tables are made from fields.
std::map<std::string, std::string>
layoutMetadata(const std::vector<ModelPart> &parts);

/// Checks that the program makes the keys of table `table` from fields in the
/// same way as the program that wrote the dump `file`; otherwise returns an
/// error that lists the differences. A dump of layout 1 does not contain this
/// information. It is rejected, unless `old` accepts it; then `old` receives a
/// description of the unchecked keys. A file that is not a dump passes. `table`
/// is a name without '@'.
Status checkDumpedKeys(const pdl_descriptor &descriptor,
                       const SafetensorsFile &file, const std::string &table,
                       OldLayout &old);

/// If values of the file `path` were not checked (`old.unchecked`), logs a
/// warning about them.
void warnOfOldLayout(const std::string &path, const OldLayout &old);

/// Writes the values of all symbols to `path`, atomically. If `withSlots`, also
/// writes the slots of symbols and the step counts of groups. In the file,
/// symbol names have no '@'.
Status dumpModel(const Model &model, const std::string &path, bool withSlots);

/// Selects the symbols that a file must contain, and the data that is read from
/// it.
enum class FileCoverage {
  /// Requires all parameters: for a model that is not trained further.
  Parameters,
  Any,      ///< At least one symbol is required: for a model that is trained.
  AnyValues ///< Like Any, but without slots and step counts.
};

/// Returns the coverage with which training reads the file of --init-from.
/// `valuesOnly` is the flag --init-values-only.
inline FileCoverage coverageOfTraining(bool valuesOnly) {
  return valuesOnly ? FileCoverage::AnyValues : FileCoverage::Any;
}

/// Sets the state of a fresh model to the contents of `path`, by name. Types
/// and shapes must match the model, but F32 tensors are widened for an F64
/// program. A server's model reads only its own rows. Logs which symbols were
/// read. Warns about symbols that the file lacks, which keep their initial
/// values, about unknown tensors, and about slots without step counts. Returns
/// an error if keys are made from fields in another way (`checkDumpedKeys`), or
/// if the dump has layout 1 and `acceptOldLayout` is false.
Status initializeModel(Model &model, const std::string &path,
                       FileCoverage coverage, bool acceptOldLayout = false);

/// Returns the seed of the training that wrote a dump; nullopt if the file is
/// not a dump. The values of rows that were never inserted derive from the
/// seed.
Expected<std::optional<uint64_t>> seedOfModelFile(const std::string &path);

} // namespace pdlrt

#endif // PDLRT_CHECKPOINT_MODELFILE_H
