//===- State.h - Values and slots of a model in memory ----------*- C++ -*-===//
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

/// Contents of a dump (`ModelFile.h`). Tables are ordered by key. So equal
/// states have equal bytes, however many processes and files held them.
struct ModelState {
  std::map<std::string, StateTensor> tensors;
  std::map<std::string, std::string> metadata;
  /// Number of applied updates by group name. Empty if the dump does not
  /// contain them. `metadata` has the same numbers as texts.
  std::map<std::string, int64_t> groupSteps;
};

/// Reads the state in a checkpoint.
Expected<ModelState> stateOf(const Checkpoint &checkpoint);

/// Reads the state in a dump.
Expected<ModelState> readDump(const std::string &path);

/// Removes the keys, values and slots of the symbol with name `symbol`, without
/// '@'. Returns an error if there is no such symbol.
Status removeSymbol(ModelState &state, const std::string &symbol);

/// Writes a dump. Each byte is the same as in a file that `trainer train --dump
/// --dump-slots` writes for the same state.
Status writeDump(const ModelState &state, const std::string &path);

/// Numbers of rows by which a table differs between two states.
struct TableDifferences {
  std::string table;
  /// `rowsOfFirst`, `rowsOfSecond`: rows of each state. `onlyFirst`,
  /// `onlySecond`: rows that only one state has. `changed`: rows that both
  /// states have but that are not bit-identical.
  int64_t rowsOfFirst = 0, rowsOfSecond = 0;
  int64_t onlyFirst = 0, onlySecond = 0, changed = 0;
};

/// Result of a bitwise comparison of two states. `count` is the number of
/// differences.
struct StateDifferences {
  int64_t count = 0;
  /// Differences of tables that both states have.
  std::vector<TableDifferences> tables = {};
  /// Messages about the first differences, in order of symbol and key.
  std::vector<std::string> messages = {};
};

/// Compares two states and creates at most `limit` messages. `first` and
/// `second` name the states in messages.
StateDifferences compareStates(const ModelState &a, const ModelState &b,
                               const std::string &first,
                               const std::string &second, size_t limit);

} // namespace pdlrt

#endif // PDLRT_CHECKPOINT_STATE_H
