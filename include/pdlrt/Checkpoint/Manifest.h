//===- Manifest.h - Contents of a checkpoint --------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CHECKPOINT_MANIFEST_H
#define PDLRT_CHECKPOINT_MANIFEST_H

#include "pdlrt/Checkpoint/EvaluationProgress.h"
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

/// Format version. It increases with every change that an older reader would
/// misread. Checkpoints of other versions are rejected; a dump moves a state
/// between versions.
inline constexpr int64_t checkpointVersion = 3;
/// Format version of deltas. It differs from `checkpointVersion`, so that
/// readers older than deltas do not mistake a delta for a full checkpoint.
inline constexpr int64_t deltaVersion = 4;

/// Content of a file in a checkpoint.
enum class PartKind {
  Dense,  ///< Parameters and their slots, or some rows of them.
  Table,  ///< Rows of one table that belong to some of its shards.
  Trainer ///< Loss and metrics of the running epoch.
};

/// The half-open range [first, end).
using CheckpointRange = std::pair<int64_t, int64_t>;

struct CheckpointPart {
  std::string file; ///< File name in the checkpoint's folder.
  PartKind kind = PartKind::Dense;
  std::string symbol; ///< Table parts: the table's name.
  /// Table parts: the shards whose rows the part contains, ascending.
  std::vector<CheckpointRange> shards;
  /// Dense parts: the rows of each parameter in this part, ascending. If empty,
  /// the part contains all rows of all parameters.
  std::vector<std::pair<std::string, std::vector<CheckpointRange>>> rows;

  /// Table parts of a delta: if true, the part contains only rows that changed
  /// since the previous checkpoint, of the shards in `shards`. If false, it
  /// contains all rows of these shards, and a reader ignores their rows in
  /// earlier checkpoints.
  bool isChanges = false;
  /// Table parts of a delta: index of the process that wrote the part, among
  /// the processes that write tables.
  int64_t owner = 0;

  bool holdsShard(int64_t shard) const;
  FileDigest digest;
};

/// Returns the number of rows of a parameter with this shape. A tensor of rank
/// 0 or 1 is one row.
int64_t rowCountOf(const std::vector<int64_t> &shape);

struct CheckpointSymbol {
  std::string name;
  bool isTable = false;
  std::vector<int64_t> shape; ///< For a table: the shape of one row.
  std::vector<std::string> slots;
  TensorType elementType = TensorType::F32; ///< Type of values and slots.
  /// Number of slots at the end of `slots` that have one element per row,
  /// stored as a tensor of [rows, 1].
  int64_t rowSlots = 0;
  /// Type of a table's values, if it differs from the type of its slots.
  std::optional<TensorType> valueType = {};

  TensorType partType(size_t part) const {
    return part == 0 ? valueType.value_or(elementType) : elementType;
  }
  bool isRowSlot(size_t slot) const {
    return slot + size_t(rowSlots) >= slots.size();
  }
};

/// Progress of a training. Unless stated otherwise, counts start at the
/// beginning of the training and cover all runs.
struct TrainingProgress {
  int64_t steps = 0;
  int64_t samples = 0;
  int64_t skippedUpdates = 0;
  /// Number of invalid rows of data (`--max-bad-rows`) in the running epoch so
  /// far, or in the last epoch if none is running.
  int64_t badRows = 0;
  /// Number of finished epochs.
  int64_t epoch = 0;
  /// Number of lines in the loss log of the first process; 0 if unknown. It may
  /// be less than `steps`, because the log may have been started later than the
  /// training.
  int64_t lossLines = 0;
  /// Positions of the readers in the running epoch, one per group of replicas.
  /// Empty if the next epoch has not begun; the following counts are then 0.
  std::vector<DataPosition> positions;
  int64_t epochSteps = 0;
  int64_t epochSamples = 0;
  int64_t epochSkippedUpdates = 0;
  EvaluationProgress evaluations = {};
};

/// Identifies a checkpoint unambiguously.
struct CheckpointLink {
  /// Name of its folder. A delta and its predecessors have the same parent
  /// folder.
  std::string name;
  /// Digest of the bytes of its manifest (XXH3). It covers the files too,
  /// because the manifest contains their checksums.
  uint64_t digest = 0;
};

/// The metadata of a checkpoint: everything except the tensors.
struct CheckpointManifest {
  std::string model;
  /// Version of the layout description in the parts (ModelParts.h).
  int64_t layoutVersion = currentLayout;
  uint64_t layoutFingerprint = 0;
  uint64_t trainingFingerprint = 0;
  /// The parts from which both fingerprints are computed.
  std::vector<ModelPart> modelParts;
  std::string compilerVersion;
  std::string targetCpu;
  /// "strict" or "fast".
  std::string numerics;
  uint64_t seed = 0;
  /// Flags whose values must not change in the middle of an epoch, with their
  /// values as texts (`checkSettings`).
  std::vector<std::pair<std::string, std::string>> settings;
  TrainingProgress progress;
  /// Number of applied updates by group name.
  std::vector<std::pair<std::string, int64_t>> groupSteps;
  std::vector<CheckpointSymbol> symbols;
  std::vector<CheckpointPart> parts;
  /// Folder of the files, within the checkpoint's folder; empty: the
  /// checkpoint's folder itself. In an object store, each save has a folder of
  /// its own, because files cannot be renamed.
  std::string partsFolder = {};
  /// The previous checkpoint, to which a delta adds changes. Nullopt for a full
  /// checkpoint.
  std::optional<CheckpointLink> after = {};
};

/// Encodes the manifest as text for a message between processes. The parts need
/// not cover all symbols yet.
std::string encodeManifest(const CheckpointManifest &manifest);
/// Decodes a text of `encodeManifest`. Returns an error if `text` is not a
/// manifest. Safe for arbitrary bytes.
Expected<CheckpointManifest> decodeManifest(const std::string &text);

/// Writes the manifest with its checksum, atomically. If `digest` is not null,
/// sets it to the digest of the manifest, which a CheckpointLink to the
/// checkpoint contains. In an object store, replaces the manifest only if no
/// other process has written one during the call.
Status writeManifest(const CheckpointManifest &manifest,
                     const std::string &path, uint64_t *digest = nullptr);

/// Like `writeManifest`, but returns an error if there is a manifest, also if
/// another process has written it during the call.
Status writeNewManifest(const CheckpointManifest &manifest,
                        const std::string &path);

/// Reads a file that `writeManifest` wrote. Returns an error for another format
/// version, if any byte has changed, or if a file name refers to another
/// folder. Also returns an error if a shard of a table or a row of a parameter
/// is missing or duplicated. If `digest` is not null, sets it as
/// `writeManifest` does.
Expected<CheckpointManifest> readManifest(const std::string &path,
                                          uint64_t *digest = nullptr);

} // namespace pdlrt

#endif // PDLRT_CHECKPOINT_MANIFEST_H
