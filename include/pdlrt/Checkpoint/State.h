//===- State.h - Values and slots of a model, in memory ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CHECKPOINT_STATE_H
#define PDLRT_CHECKPOINT_STATE_H

#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Files/Safetensors.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace pdlrt {

struct StateTensor {
  TensorType type = TensorType::F32;
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;
};

/// What a dump holds (`ModelFile.h`): tables are ordered by key, so that equal
/// states are equal bytes whoever wrote them, in however many parts.
struct ModelState {
  std::map<std::string, StateTensor> tensors;
  std::map<std::string, std::string> metadata;
  /// Updates applied, by name of the group; also in `metadata`. Empty where a
  /// dump does not say them.
  std::map<std::string, int64_t> groupSteps;
};

/// The state in a checkpoint.
Expected<ModelState> stateOf(const Checkpoint &checkpoint);

/// The state in a safetensors file that is a dump.
Expected<ModelState> readDump(const std::string &path);

/// Writes a dump: the file that `trainer train --dump --dump-slots` writes of
/// the same state.
Status writeDump(const ModelState &state, const std::string &path);

/// How many rows of a table differ between two states.
struct TableDifferences {
  std::string table;
  /// Rows of each, those that only one has, and those that both have, with
  /// other bits.
  int64_t rowsOfFirst = 0, rowsOfSecond = 0;
  int64_t onlyFirst = 0, onlySecond = 0, changed = 0;
};

/// Where two states differ in a bit.
struct StateDifferences {
  int64_t count = 0;
  /// Of tables that both have.
  std::vector<TableDifferences> tables = {};
  /// About the first of them, in order of symbol and key.
  std::vector<std::string> sentences = {};
};

/// Compares two states; at most `limit` sentences. `first` and `second` name
/// them in sentences.
StateDifferences compareStates(const ModelState &a, const ModelState &b,
                               const std::string &first,
                               const std::string &second, size_t limit);

} // namespace pdlrt

#endif // PDLRT_CHECKPOINT_STATE_H
