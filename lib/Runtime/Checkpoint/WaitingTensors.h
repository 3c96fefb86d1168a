//===- WaitingTensors.h - Keys that wait, in files --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of a table that admits keys by count or score, a part has two tensors more if
// keys of its shards wait: `waiting.keys`, by (shard, key), and
// `waiting.notes`, the bits of each (WaitingKey.h). A part with changes has
// those that changed.
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

/// Keys that wait, as files have them.
struct WaitingColumns {
  static constexpr const char *keysName = "waiting.keys";
  static constexpr const char *notesName = "waiting.notes";

  std::vector<int64_t> keys;
  std::vector<int32_t> notes;

  /// Whether a tensor of some table is one of these.
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
  /// Adds those of a shard (`EmbeddingTable::collectWaiting`).
  void addShard(EmbeddingTable &table, int shard, bool onlyChanged,
                bool areSaved);
  /// Adds both tensors, unless they are empty; they outlive the writer.
  Status addTo(SafetensorsWriter &tensors) const;
  /// Copies both into a file of that layout, which has them.
  void copyTo(std::byte *image, const SafetensorsWriter::Layout &layout) const;
};

/// Those of part `index` of a checkpoint; an error where they are not in order
/// or not of its shards.
Expected<std::vector<WaitingKey>> waitingKeysOf(const Checkpoint &checkpoint,
                                                size_t index);

/// Those of a table behind all links of a checkpoint, by (shard, key).
Expected<std::vector<WaitingKey>> linkWaiting(const Checkpoint &checkpoint,
                                              const std::string &symbol);

} // namespace pdlrt

#endif // LIB_RUNTIME_CHECKPOINT_WAITINGTENSORS_H
