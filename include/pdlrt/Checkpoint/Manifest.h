//===- Manifest.h - What a checkpoint consists of ---------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CHECKPOINT_MANIFEST_H
#define PDLRT_CHECKPOINT_MANIFEST_H

#include "pdlrt/Checkpoint/ModelParts.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Data/BatchSource.h"
#include "pdlrt/Files/Safetensors.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pdlrt {

/// Raised with every change that an older reader would misread. No other one is
/// read: what moves from version to version is a dump.
inline constexpr int64_t checkpointVersion = 3;
/// That of deltas, which older readers would take for the whole.
inline constexpr int64_t deltaVersion = 4;

/// What a file of a checkpoint holds.
enum class PartKind {
  Dense,  ///< parameters and their slots, or some rows of them
  Table,  ///< the rows of one table that belong to some of its shards
  Trainer ///< sums of the running epoch
};

/// [first, end).
using CheckpointRange = std::pair<int64_t, int64_t>;

struct CheckpointPart {
  std::string file; ///< its name in the checkpoint's folder
  PartKind kind = PartKind::Dense;
  std::string symbol; ///< Table: whose rows
  /// Table: which of its shards, ascending.
  std::vector<CheckpointRange> shards;
  /// Dense: the rows of each parameter that are here, ascending; empty: all
  /// rows of all parameters.
  std::vector<std::pair<std::string, std::vector<CheckpointRange>>> rows;

  /// Table, of a delta: the rows of these shards that have changed since the
  /// checkpoint before; else all of them, whatever there was before.
  bool isChanges = false;
  /// Of a delta: the number of the process that wrote it among those that write
  /// tables.
  int64_t owner = 0;

  bool holdsShard(int64_t shard) const;
  FileDigest digest;
};

/// A parameter's rows; a tensor of rank 0 or 1 is one row.
int64_t rowCountOf(const std::vector<int64_t> &shape);

struct CheckpointSymbol {
  std::string name;
  bool isTable = false;
  std::vector<int64_t> shape; ///< of a table: that of one row
  std::vector<std::string> slots;
  TensorType elementType = TensorType::F32; ///< of values and slots
  /// The last ones of the slots have one element for each row: a tensor of
  /// [rows, 1].
  int64_t rowSlots = 0;
  /// Of a table's values, where they are stored otherwise than its slots.
  std::optional<TensorType> valueType = {};

  TensorType partType(size_t part) const {
    return part == 0 ? valueType.value_or(elementType) : elementType;
  }
  bool isRowSlot(size_t slot) const {
    return slot + size_t(rowSlots) >= slots.size();
  }
};

/// How far training has come. Counts without another word are those since its
/// beginning, over all runs.
struct TrainingProgress {
  int64_t steps = 0;
  int64_t samples = 0;
  int64_t skippedUpdates = 0;
  /// Of the running epoch so far; else of the last.
  int64_t badRows = 0;
  /// Epochs that have ended.
  int64_t epoch = 0;
  /// Of the first process, in its log of losses, which may have begun after
  /// some steps; 0: not known.
  int64_t lossLines = 0;
  /// Of the running epoch: by group, where its reader stands. Empty: the epoch
  /// has not begun, and the counts below are zeros.
  std::vector<DataPosition> positions;
  int64_t epochSteps = 0;
  int64_t epochSamples = 0;
  int64_t epochSkippedUpdates = 0;
};

/// Names a checkpoint so that no other one is taken for it.
struct CheckpointLink {
  /// Of its folder, which stands beside.
  std::string name;
  /// Of its manifest's bytes (XXH3), which has the sums of its files.
  uint64_t digest = 0;
};

/// Everything about a checkpoint but the numbers in its files.
struct CheckpointManifest {
  std::string model;
  /// How much the parts say of the layout (ModelParts.h).
  int64_t layoutVersion = currentLayout;
  uint64_t layoutFingerprint = 0;
  uint64_t trainingFingerprint = 0;
  /// What the two are made of.
  std::vector<ModelPart> modelParts;
  std::string compilerVersion;
  std::string targetCpu;
  /// "strict" or "fast".
  std::string numerics;
  uint64_t seed = 0;
  /// Flags that a running epoch depends on, each with its value as a text.
  std::vector<std::pair<std::string, std::string>> settings;
  TrainingProgress progress;
  /// Updates applied, by name of the group.
  std::vector<std::pair<std::string, int64_t>> groupSteps;
  std::vector<CheckpointSymbol> symbols;
  std::vector<CheckpointPart> parts;
  /// Of a delta: the checkpoint whose state it changes. None: it is whole.
  std::optional<CheckpointLink> after = {};
};

/// The manifest as text, for a message; its parts need not be whole.
std::string encodeManifest(const CheckpointManifest &manifest);
/// Reads that text; an error where it is none. Any bytes are safe.
Expected<CheckpointManifest> decodeManifest(const std::string &text);

/// Writes the manifest with its checksum, at once or not at all. `digest`,
/// unless null, gets that of a link to it.
Status writeManifest(const CheckpointManifest &manifest,
                     const std::string &path, uint64_t *digest = nullptr);

/// Reads what `writeManifest` wrote. Any other content is refused: another
/// version, a single changed byte, names of files outside the folder, shards
/// of a table or rows of a parameter that are missing or there twice.
Expected<CheckpointManifest> readManifest(const std::string &path,
                                          uint64_t *digest = nullptr);

} // namespace pdlrt

#endif // PDLRT_CHECKPOINT_MANIFEST_H
