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
// and the metadata `seed` and `model`; with slots also `group.<group>.steps`,
// how many updates the group has had.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CHECKPOINT_MODELFILE_H
#define PDLRT_CHECKPOINT_MODELFILE_H

#include "pdlrt/Core/Status.h"
#include "pdlrt/State/Model.h"

#include <cstdint>
#include <optional>
#include <string>

namespace pdlrt {

/// The metadata of a dump that says how many updates a group has had.
std::string groupStepsName(const std::string &group);

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
/// of slots without step counts. A server's model takes its own rows.
Status initializeModel(Model &model, const std::string &path,
                       FileCoverage coverage);

/// The seed that a dump was trained with: rows that were never inserted derive
/// from it. None if the file is not a dump.
Expected<std::optional<uint64_t>> seedOfModelFile(const std::string &path);

} // namespace pdlrt

#endif // PDLRT_CHECKPOINT_MODELFILE_H
