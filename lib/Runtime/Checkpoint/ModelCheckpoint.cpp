//===- ModelCheckpoint.cpp - State to and from a checkpoint ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Checkpoint/ModelCheckpoint.h"

#include "Checkpoint/SymbolTensors.h"
#include "Checkpoint/TableTensors.h"
#include "pdlrt/Abi/Descriptor.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

using namespace pdlrt;

/// "values", or the slot `part` - 1.
static std::string rowPartName(const pdl_symbol &symbol, int32_t part) {
  return part ? slotName(symbol, part - 1) : "values";
}

Status pdlrt::checkSameModel(const pdl_descriptor &descriptor,
                             const Checkpoint &checkpoint, CheckpointUse use) {
  const CheckpointManifest &manifest = checkpoint.manifest();
  const std::string differences =
      differencesOf(partsOf(descriptor), manifest.modelParts, use);
  if (differences.empty())
    return {};
  return Status::invalid(fmt::format(
      "{}: does not fit this program (model {} there, {} here): {}; use the "
      "program that wrote it, or {}",
      checkpoint.path(), manifest.model, descriptor.model_name, differences,
      use == CheckpointUse::Values
          ? "another checkpoint"
          : "keep its values: `pdl-checkpoint dump` writes them to a file, and "
            "a new training begins with --init-from FILE"));
}

//===----------------------------------------------------------------------===//
// Out
//===----------------------------------------------------------------------===//

/// The rows of some shards, ordered by (shard, key).
static Status addTablePart(const pdl_descriptor &descriptor, int32_t index,
                           std::vector<CheckpointRange> shards,
                           const std::vector<TableRow> &rows,
                           CheckpointWriter &writer) {
  const pdl_symbol &symbol = descriptor.symbols[index];
  SafetensorsWriter tensors;
  std::vector<RowPart> parts;
  for (int32_t part = 0; part <= symbol.slot_count; ++part)
    parts.push_back({rowPartName(symbol, part), partOffset(symbol, part),
                     partWidth(symbol, part)});
  PDLRT_RETURN_IF_ERROR(
      addTableRows(tensors, "keys", parts, rows, tensorTypeOf(symbol)));
  CheckpointPart part;
  // Shards have one owner, so the name has one writer.
  part.file =
      fmt::format("table-{}-{:04}.safetensors", index, shards.front().first);
  part.kind = PartKind::Table;
  part.symbol = symbol.name;
  part.shards = std::move(shards);
  return writer.addPart(part, tensors);
}

static Status saveTable(const Model &model, int32_t index,
                        CheckpointWriter &writer, size_t bytesInPart) {
  const EmbeddingTable &table = *model.table(index);
  std::vector<TableRow> rows, shard;
  std::vector<CheckpointRange> shards;
  auto flush = [&] {
    Status status = addTablePart(model.descriptor(), index, std::move(shards),
                                 rows, writer);
    rows.clear();
    shards.clear();
    return status;
  };
  for (int s = 0; s < EmbeddingTable::shardCount; ++s) {
    if (!model.holdsShard(index, s))
      continue;
    table.collectShard(s, shard);
    rows.insert(rows.end(), shard.begin(), shard.end());
    if (!shards.empty() && shards.back().second == s)
      ++shards.back().second;
    else
      shards.emplace_back(s, s + 1);
    if (rows.size() * table.rowBytes() >= bytesInPart)
      PDLRT_RETURN_IF_ERROR(flush());
  }
  return shards.empty() ? Status() : flush();
}

void pdlrt::describeModel(const Model &model, CheckpointManifest &manifest) {
  const pdl_descriptor &descriptor = model.descriptor();
  manifest.model = descriptor.model_name;
  manifest.layoutFingerprint = descriptor.layout_fingerprint;
  manifest.trainingFingerprint = descriptor.training_fingerprint;
  manifest.modelParts = partsOf(descriptor);
  manifest.compilerVersion = descriptor.compiler_version;
  manifest.targetCpu = descriptor.target_cpu;
  manifest.numerics =
      descriptor.numerics == PDL_NUMERICS_STRICT ? "strict" : "fast";
  manifest.seed = model.seed();
  for (int32_t g = 0; g < descriptor.group_count; ++g)
    manifest.groupSteps.emplace_back(descriptor.groups[g].name,
                                     model.stepCount(g));
  for (int32_t i = 0; i < descriptor.symbol_count; ++i) {
    const pdl_symbol &symbol = descriptor.symbols[i];
    manifest.symbols.push_back(
        {symbol.name,
         symbol.kind == PDL_SYMBOL_TABLE,
         shapeOf(symbol),
         {symbol.slot_names, symbol.slot_names + symbol.slot_count},
         tensorTypeOf(symbol),
         symbol.row_slot_count});
  }
}

Status pdlrt::saveParts(const Model &model, const std::string &denseFile,
                        CheckpointWriter &writer, size_t bytesInPart) {
  const pdl_descriptor &descriptor = model.descriptor();
  SafetensorsWriter dense;
  CheckpointPart part;
  part.file = denseFile;
  part.kind = PartKind::Dense;
  bool isWhole = true, isEmpty = true;
  for (int32_t i = 0; i < descriptor.symbol_count; ++i) {
    const pdl_symbol &symbol = descriptor.symbols[i];
    if (model.table(i)) {
      PDLRT_RETURN_IF_ERROR(saveTable(model, i, writer, bytesInPart));
      continue;
    }
    const TensorType type = tensorTypeOf(symbol);
    const int64_t held = model.heldElements(i) / symbol.row_width;
    isWhole &= held == symbol.row_count;
    if (held == 0)
      continue;
    isEmpty = false;
    std::vector<CheckpointRange> ranges;
    for (const RowBlock &run : model.rows(i))
      ranges.emplace_back(run.firstRow, run.firstRow + run.rowCount);
    part.rows.emplace_back(symbol.name, std::move(ranges));
    for (int32_t p = 0; p <= symbol.slot_count; ++p) {
      std::vector<int64_t> shape = partShape(symbol, p);
      if (shape.size() > 1)
        shape.front() = held;
      PDLRT_RETURN_IF_ERROR(
          dense.add(fullPartName(symbol, p), type, shape, model.part(i, p)));
    }
  }
  if (isWhole)
    part.rows.clear();
  else if (isEmpty)
    return {};
  return writer.addPart(part, dense);
}

Status pdlrt::saveModel(const Model &model, CheckpointWriter &writer,
                        CheckpointManifest &manifest) {
  describeModel(model, manifest);
  return saveParts(model, "dense.safetensors", writer);
}

//===----------------------------------------------------------------------===//
// In
//===----------------------------------------------------------------------===//

/// The parts of a symbol that a use needs, and from which part of the
/// checkpoint each is: what frozen programs read begins as the value where a
/// checkpoint does not have it.
static std::vector<std::pair<int32_t, int32_t>>
partsToRestore(const pdl_symbol &symbol, const Checkpoint &checkpoint,
               CheckpointUse use) {
  std::vector<std::pair<int32_t, int32_t>> parts = {{0, 0}};
  if (use == CheckpointUse::Training) {
    for (int32_t p = 1; p <= symbol.slot_count; ++p)
      parts.emplace_back(p, p);
    return parts;
  }
  const int32_t frozen = symbol.frozen_part;
  if (frozen == 0)
    return parts;
  const auto hasSlot = [&](const CheckpointSymbol &saved) {
    return saved.name == symbol.name &&
           std::ranges::count(saved.slots, symbol.slot_names[frozen - 1]) > 0;
  };
  parts.emplace_back(
      frozen,
      std::ranges::any_of(checkpoint.manifest().symbols, hasSlot) ? frozen : 0);
  return parts;
}

/// Copies the rows of a parameter (part 0) or slot that the model holds, `from`
/// that part of the checkpoint.
static Status copyHeldRows(const Checkpoint &checkpoint, const Model &model,
                           int32_t index, int32_t part, int32_t from) {
  const pdl_descriptor &descriptor = model.descriptor();
  const pdl_symbol &symbol = descriptor.symbols[index];
  const CheckpointSymbol wanted = {
      symbol.name, false, partShape(symbol, part), {}, tensorTypeOf(symbol)};
  const size_t rowBytes = size_t(partWidth(symbol, part)) * elementSize(symbol);
  auto *next = static_cast<char *>(model.part(index, part));
  for (const RowBlock &run : model.rows(index)) {
    PDLRT_RETURN_IF_ERROR(
        checkpoint.copyRows(wanted, fullPartName(symbol, from),
                            {run.firstRow, run.firstRow + run.rowCount}, next));
    next += size_t(run.rowCount) * rowBytes;
  }
  return {};
}

static Status restoreTablePart(const Model &model, int32_t symbolIndex,
                               const Checkpoint &checkpoint, size_t index,
                               CheckpointUse use) {
  const pdl_descriptor &descriptor = model.descriptor();
  const pdl_symbol &symbol = descriptor.symbols[symbolIndex];
  EmbeddingTable &table = *model.table(symbolIndex);
  const CheckpointPart &part = checkpoint.manifest().parts[index];
  const SafetensorsFile &file = checkpoint.file(index);
  const TensorView *keyTensor = file.find("keys");
  if (!keyTensor || keyTensor->type != TensorType::I64 ||
      keyTensor->shape.size() != 1)
    return checkpoint.damaged(part.file + " has no keys");
  const int64_t count = keyTensor->elementCount;
  std::vector<int64_t> keys(count);
  PDLRT_RETURN_IF_ERROR(keyTensor->copyTo(keys.data()));
  auto place = [](int64_t key) {
    return std::pair(EmbeddingTable::shardOf(key), key);
  };
  for (int64_t i = 0; i < count; ++i) {
    const int shard = EmbeddingTable::shardOf(keys[i]);
    if (!part.holdsShard(shard) ||
        (i > 0 && place(keys[i - 1]) >= place(keys[i])))
      return checkpoint.damaged(
          fmt::format("{}: key {} is not in its place", part.file, keys[i]));
  }
  // A server takes its own.
  std::vector<int64_t> heldKeys, places;
  for (int64_t i = 0; i < count; ++i)
    if (model.holdsShard(symbolIndex, EmbeddingTable::shardOf(keys[i]))) {
      heldKeys.push_back(keys[i]);
      places.push_back(i);
    }
  const auto held = int64_t(heldKeys.size());
  std::vector<void *> rows(held);
  TableScratch scratch;
  int64_t inserted = 0;
  PDLRT_RETURN_IF_ERROR(table.findOrInsert(held, heldKeys.data(), rows.data(),
                                           scratch, inserted));
  for (const auto &[p, from] : partsToRestore(symbol, checkpoint, use)) {
    Expected<const TensorView *> values = checkpoint.tensorOf(
        file, rowPartName(symbol, from), tensorTypeOf(symbol),
        {count, partWidth(symbol, p)});
    if (!values)
      return values.status();
    const int64_t width = partWidth(symbol, p);
    const size_t begin = size_t(partOffset(symbol, p)) * elementSize(symbol);
    const size_t bytes = size_t(width) * elementSize(symbol);
    TensorWindow window(**values);
    for (int64_t i = 0; i < held; ++i) {
      Expected<const std::byte *> row = window.at(places[i] * width, width);
      if (!row)
        return row.status();
      std::memcpy(static_cast<char *>(rows[i]) + begin, *row, bytes);
    }
  }
  return {};
}

Status pdlrt::restoreModel(Model &model, const Checkpoint &checkpoint,
                           CheckpointUse use) {
  const pdl_descriptor &descriptor = model.descriptor();
  PDLRT_RETURN_IF_ERROR(checkSameModel(descriptor, checkpoint, use));
  const CheckpointManifest &manifest = checkpoint.manifest();
  for (int32_t i = 0; i < descriptor.symbol_count; ++i) {
    const pdl_symbol &symbol = descriptor.symbols[i];
    if (model.table(i)) {
      bool found = false;
      for (size_t p = 0; p < manifest.parts.size(); ++p) {
        if (manifest.parts[p].kind != PartKind::Table ||
            manifest.parts[p].symbol != symbol.name)
          continue;
        found = true;
        PDLRT_RETURN_IF_ERROR(restoreTablePart(model, i, checkpoint, p, use));
      }
      if (!found)
        return checkpoint.damaged(std::string("it has no rows of @") +
                                  symbol.name);
      continue;
    }
    for (const auto &[p, from] : partsToRestore(symbol, checkpoint, use))
      PDLRT_RETURN_IF_ERROR(copyHeldRows(checkpoint, model, i, p, from));
  }
  for (int32_t g = 0;
       use == CheckpointUse::Training && g < descriptor.group_count; ++g) {
    const auto found =
        std::find_if(manifest.groupSteps.begin(), manifest.groupSteps.end(),
                     [&](const auto &entry) {
                       return entry.first == descriptor.groups[g].name;
                     });
    if (found == manifest.groupSteps.end())
      return checkpoint.damaged(std::string("it has no step count of @") +
                                descriptor.groups[g].name);
    model.restoreStepCount(g, found->second);
  }
  return {};
}

Status pdlrt::checkSettings(
    const Checkpoint &checkpoint,
    const std::vector<std::pair<std::string, std::string>> &settings) {
  const CheckpointManifest &manifest = checkpoint.manifest();
  // A new epoch may be cut into other batches.
  if (manifest.progress.positions.empty())
    return {};
  for (const auto &[flag, value] : settings) {
    const auto before = std::find_if(
        manifest.settings.begin(), manifest.settings.end(),
        [&flag = flag](const auto &entry) { return entry.first == flag; });
    if (before == manifest.settings.end())
      return checkpoint.damaged("it does not say " + flag);
    if (before->second != value)
      return Status::invalid(fmt::format(
          "{}: was written in the middle of epoch {} with {} {}, but this run "
          "has {}; give the flags of the run that wrote it (they may change "
          "where an epoch begins), or train into another folder",
          checkpoint.path(), manifest.progress.epoch + 1, flag, before->second,
          value));
  }
  return {};
}
