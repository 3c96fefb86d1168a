//===- ManifestFields.h - The fields of a manifest --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The list of all fields of manifest.json. Each function lists the fields of
// one structure. It is called with a `ManifestWriter` or a `ManifestReader`
// (ManifestJson.h), so each field in the list is both written and read.
//
// If older manifests lack a field, declare it by `optional`: the member then
// keeps its default. If older programs must not ignore a new field, the format
// needs a new version (Manifest.h).
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_CHECKPOINT_MANIFESTFIELDS_H
#define LIB_RUNTIME_CHECKPOINT_MANIFESTFIELDS_H

#include "Checkpoint/ManifestJson.h"
#include "pdlrt/Checkpoint/Manifest.h"
#include "pdlrt/Data/PartitionPlaces.h"

#include <array>
#include <fmt/format.h>
#include <string>
#include <utility>
#include <vector>

namespace pdlrt::manifest {

inline constexpr std::array<std::pair<PartKind, const char *>, 3> fileKinds = {
    {{PartKind::Dense, "dense"},
     {PartKind::Table, "table"},
     {PartKind::Trainer, "trainer"}}};

inline constexpr std::array<std::pair<pdl_part_kind, const char *>, 3>
    modelPartKinds = {{{PDL_PART_STATE, "state"},
                       {PDL_PART_OPTIMIZER, "optimizer"},
                       {PDL_PART_TRAINING, "training"}}};

//===----------------------------------------------------------------------===//
// Checks after reading
//===----------------------------------------------------------------------===//

inline void checkLayout(int64_t version) {
  if (version < 1 || version > currentLayout)
    throw ManifestError(
        fmt::format("its layout is {}, this program knows up to {}", version,
                    currentLayout));
}

/// Checks the shape of a parameter, or of a row of a table: the number of
/// elements must fit into int64_t.
inline void checkShape(const std::vector<int64_t> &shape) {
  // Prevents overflow in products of bytes.
  constexpr int64_t maxElements = int64_t(1) << 56;
  int64_t elements = 1;
  for (int64_t size : shape) {
    if (size < 1 || size > maxElements / elements)
      throw ManifestError(
          fmt::format("a symbol has the shape [{}]", fmt::join(shape, ", ")));
    elements *= size;
  }
}

inline void checkSymbol(const CheckpointSymbol &symbol) {
  if (symbol.valueType && symbol.elementType != TensorType::F32)
    throw ManifestError("@" + symbol.name +
                        " stores values in 16 bits, but computes in f64");
  if (symbol.rowSlots > int64_t(symbol.slots.size()))
    throw ManifestError("@" + symbol.name + " has more row slots than slots");
}

//===----------------------------------------------------------------------===//
// Lists of fields
//===----------------------------------------------------------------------===//

// Each function lists the fields of one structure, for writing and for reading.
// `io` is a ManifestWriter or a ManifestReader. A writer gets a constant
// structure.

inline constexpr auto modelPartFields = [](auto &io, auto &part) {
  io.kind("kind", part.kind, modelPartKinds);
  io.value("name", part.name);
  io.value("value", part.value);
};

inline constexpr auto settingFields = [](auto &io, auto &setting) {
  io.value("flag", setting.first);
  io.value("value", setting.second);
};

inline constexpr auto groupFields = [](auto &io, auto &group) {
  io.value("name", group.first);
  io.count("steps", group.second);
};

inline constexpr auto symbolFields = [](auto &io, auto &symbol) {
  constexpr bool isReading = std::decay_t<decltype(io)>::isReading;
  io.value("name", symbol.name);
  io.value("table", symbol.isTable);
  io.value("shape", symbol.shape);
  if constexpr (isReading)
    checkShape(symbol.shape);
  io.value("slots", symbol.slots);
  // Checkpoints of earlier versions have one type for all symbols.
  io.typeHereOrOutside("element_type", symbol.elementType,
                       {TensorType::F32, TensorType::F64});
  if (symbol.isTable)
    io.optional("value_type", symbol.valueType.has_value(), [&] {
      io.type("value_type", io.present(symbol.valueType),
              {TensorType::BF16, TensorType::F16});
    });
  io.optional("row_slots", symbol.rowSlots != 0,
              [&] { io.count("row_slots", symbol.rowSlots); });
  if constexpr (isReading)
    checkSymbol(symbol);
};

inline constexpr auto rowsFields = [](auto &io, auto &rows) {
  io.value("symbol", rows.first);
  io.value("ranges", rows.second);
};

/// Returns the fields of a part. `isDelta`: the checkpoint is a delta. Only
/// parts of deltas have the field `owner`.
inline constexpr auto partFields(bool isDelta) {
  return [isDelta](auto &io, auto &part) {
    io.value("file", part.file);
    io.kind("holds", part.kind, fileKinds);
    io.count("bytes", part.digest.bytes);
    io.hash("xxh3", part.digest.hash);
    if (part.kind == PartKind::Table) {
      io.value("symbol", part.symbol);
      io.value("shards", part.shards);
      io.optional("changes", part.isChanges,
                  [&] { io.value("changes", part.isChanges); });
    }
    io.optional("owner", isDelta, [&] { io.count("owner", part.owner); });
    if (part.kind == PartKind::Dense)
      io.optional("rows", !part.rows.empty(),
                  [&] { io.list("rows", part.rows, rowsFields); });
  };
}

inline constexpr auto linkFields = [](auto &io, auto &link) {
  io.value("name", link.name);
  io.hash("manifest_xxh3", link.digest);
};

inline constexpr auto windowStartFields = [](auto &io, auto &start) {
  io.count("file", start.file);
  io.count("row", start.row);
  io.count("byte", start.byte);
  io.count("line", start.line);
  io.count("selected", start.selected);
  io.count("content", start.digest);
};

inline constexpr auto placeFields = [](auto &io, auto &place) {
  io.count("file", place.file);
  io.count("byte", place.byte);
  io.count("line", place.line);
  io.optional("time", place.row > 0, [&] { io.count("time", place.row); });
};

inline constexpr auto positionFields = [](auto &io, auto &position) {
  io.count("window", position.window);
  io.count("offset", position.offset);
  io.count("batch", position.batch);
  // Earlier versions wrote neither `content` nor `start`, and computed `digest`
  // in another way.
  io.optional("content", true, [&] { io.count("content", position.digest); });
  io.optional("next", true, [&] { io.count("next", position.next); });
  io.optional("start", true,
              [&] { io.nested("start", position.start, windowStartFields); });
  // Partitions of a topic without end.
  std::vector<StartPlace> places(position.places.begin(),
                                 position.places.end());
  io.optional("places", !places.empty(),
              [&] { io.list("places", places, placeFields); });
  if constexpr (std::decay_t<decltype(io)>::isReading)
    position.places = PartitionPlaces(std::move(places));
};

inline constexpr auto bestValueFields = [](auto &io, auto &best) {
  io.value("metric", best.metric);
  io.value("value", best.value);
  io.count("steps", best.steps);
  io.count("misses", best.misses);
};

inline constexpr auto evaluationFields = [](auto &io, auto &evaluations) {
  io.count("steps", evaluations.steps);
  io.optional("monitored", !evaluations.monitored.metric.empty(), [&] {
    io.nested("monitored", evaluations.monitored, bestValueFields);
  });
  io.optional("kept", !evaluations.kept.metric.empty(),
              [&] { io.nested("kept", evaluations.kept, bestValueFields); });
};

inline constexpr auto progressFields = [](auto &io, auto &progress) {
  io.count("steps", progress.steps);
  io.count("samples", progress.samples);
  io.count("skipped_updates", progress.skippedUpdates);
  io.count("bad_rows", progress.badRows);
  io.count("epoch", progress.epoch);
  io.optional("loss_lines", progress.lossLines > 0,
              [&] { io.count("loss_lines", progress.lossLines); });
  io.list("positions", progress.positions, positionFields);
  if constexpr (std::decay_t<decltype(io)>::isReading)
    for (DataPosition &position : progress.positions)
      position.epoch = progress.epoch;
  io.count("epoch_steps", progress.epochSteps);
  io.count("epoch_samples", progress.epochSamples);
  io.count("epoch_skipped_updates", progress.epochSkippedUpdates);
  io.optional("evaluations", progress.evaluations.steps > 0, [&] {
    io.nested("evaluations", progress.evaluations, evaluationFields);
  });
};

inline constexpr auto manifestFields = [](auto &io, auto &manifest) {
  io.value("model", manifest.model);
  // Checkpoints of layout 1 have no version.
  if constexpr (std::decay_t<decltype(io)>::isReading)
    manifest.layoutVersion = 1;
  io.optional("layout_version", true,
              [&] { io.count("layout_version", manifest.layoutVersion); });
  if constexpr (std::decay_t<decltype(io)>::isReading)
    checkLayout(manifest.layoutVersion);
  io.hash("layout_fingerprint", manifest.layoutFingerprint);
  io.hash("training_fingerprint", manifest.trainingFingerprint);
  io.list("model_parts", manifest.modelParts, modelPartFields);
  io.value("compiler", manifest.compilerVersion);
  io.value("target_cpu", manifest.targetCpu);
  io.value("numerics", manifest.numerics);
  io.value("seed", manifest.seed);
  io.list("settings", manifest.settings, settingFields);
  io.list("groups", manifest.groupSteps, groupFields);
  io.list("symbols", manifest.symbols, symbolFields);
  io.optional("parts_folder", !manifest.partsFolder.empty(),
              [&] { io.value("parts_folder", manifest.partsFolder); });
  io.list("parts", manifest.parts, partFields(manifest.after.has_value()));
  io.optional("after", manifest.after.has_value(), [&] {
    io.nested("after", io.present(manifest.after), linkFields);
  });
  io.nested("progress", manifest.progress, progressFields);
};

} // namespace pdlrt::manifest

#endif // LIB_RUNTIME_CHECKPOINT_MANIFESTFIELDS_H
