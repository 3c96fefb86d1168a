//===- WaitingTensors.h - Waiting keys in files -----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// If a table admits keys by count or score, keys may wait for admission. A part
// of the table with such keys has two more tensors: `waiting.keys`, ordered by
// (shard, key), and `waiting.notes`, the `WaitingBits` of each of these keys
// (WaitingKey.h). If the part contains only changes, so do these tensors.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_CHECKPOINT_WAITINGTENSORS_H
#define LIB_RUNTIME_CHECKPOINT_WAITINGTENSORS_H

#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Files/Safetensors.h"
#include "pdlrt/Table/EmbeddingTable.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pdlrt {

/// Waiting keys in the form of files.
struct WaitingColumns {
  static constexpr const char *keysName = "waiting.keys";
  static constexpr const char *notesName = "waiting.notes";

  std::vector<int64_t> keys;
  std::vector<int32_t> notes;

  /// Returns true if a tensor has one of these two names, after the name of any
  /// table.
  static bool isName(const std::string &tensor) {
    return tensor.ends_with(std::string(".") + keysName) ||
           tensor.ends_with(std::string(".") + notesName);
  }

  static constexpr size_t bytesOfKey = sizeof(int64_t) + sizeof(int32_t);

  size_t bytes() const { return keys.size() * bytesOfKey; }
  void add(const WaitingKey &each) {
    keys.push_back(each.key);
    notes.push_back(int32_t(each.bits.saved().bits()));
  }
  void add(const WaitingColumns &others) {
    keys.insert(keys.end(), others.keys.begin(), others.keys.end());
    notes.insert(notes.end(), others.notes.begin(), others.notes.end());
  }
  /// Adds the waiting keys of a shard (`EmbeddingTable::collectWaiting`).
  void addShard(EmbeddingTable &table, int shard, bool onlyChanged,
                bool areSaved);
  /// Adds the tensors of keys and notes, unless they are empty. This object
  /// must outlive the writer.
  Status addTo(SafetensorsWriter &tensors) const;
  /// Copies both tensors to a file image. `layout` must contain them.
  void copyTo(std::byte *image, const SafetensorsWriter::Layout &layout) const;
};

/// Reads the waiting keys of part `index` of a checkpoint. Returns an error if
/// they are out of order, or in shards that the part does not contain.
Expected<std::vector<WaitingKey>> waitingKeysOf(const Checkpoint &checkpoint,
                                                size_t index);

/// Returns the waiting keys of a table, ordered by (shard, key), according to a
/// checkpoint and its predecessors.
Expected<std::vector<WaitingKey>> linkWaiting(const Checkpoint &checkpoint,
                                              const std::string &symbol);

} // namespace pdlrt

#endif // LIB_RUNTIME_CHECKPOINT_WAITINGTENSORS_H
