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
// and the metadata `seed` and `model`.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TRAINER_MODELFILE_H
#define PDLRT_TRAINER_MODELFILE_H

#include "pdlrt/Core/Status.h"
#include "pdlrt/Trainer/Model.h"

#include <cstdint>
#include <optional>
#include <string>

namespace pdlrt {

/// Writes the values of all symbols to `path`, at once or not at all; with
/// `withSlots` their optimizer slots too. Names of symbols stand without '@'.
Status dumpModel(const Model &model, const std::string &path, bool withSlots);

/// Sets the state of a fresh model to what `path` holds. Every parameter of the
/// model must be there, with its shape; tables and slots may be absent and then
/// keep their initial values. F32 tensors are widened for an F64 program. Every
/// tensor of the file must belong to the model. A server's model takes its own
/// rows of them.
Status initializeModel(Model &model, const std::string &path);

/// The seed that a dump was trained with: rows that were never inserted derive
/// from it. None if the file is not a dump.
Expected<std::optional<uint64_t>> seedOfModelFile(const std::string &path);

} // namespace pdlrt

#endif // PDLRT_TRAINER_MODELFILE_H
