//===- ModelCheckpoint.cpp - Saves and restores a model -------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Checkpoint/ModelCheckpoint.h"
#include "pdlrt/Checkpoint/RunningEpoch.h"

#include "Checkpoint/FallibleTasks.h"
#include "Checkpoint/SymbolTensors.h"
#include "Checkpoint/TableParts.h"
#include "Files/TemporaryFile.h"
#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Core/Trace.h"
#include "pdlrt/Table/TableSnapshot.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <iterator>
#include <new>
#include <optional>

using namespace pdlrt;

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

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
    if (symbol.storage != PDL_STORE_ELEMENT)
      manifest.symbols.back().valueType = rowTensorType(symbol, 0);
  }
}

/// Returns the size of all tables in files, in bytes.
static size_t tableBytes(const Model &model) {
  size_t bytes = 0;
  for (int32_t i = 0; i < model.descriptor().symbol_count; ++i)
    if (const EmbeddingTable *table = model.table(i))
      bytes += fileBytes(*table, table->size());
  return bytes;
}

/// Returns the number of bytes that the rows in memory take in files. The
/// memory limits of saves are fractions of this size.
static size_t heldTableBytes(const Model &model) {
  size_t bytes = 0;
  for (int32_t i = 0; i < model.descriptor().symbol_count; ++i)
    if (const EmbeddingTable *table = model.table(i))
      bytes += fileBytes(*table, table->heldRows());
  return bytes;
}

/// Returns the size of all parameters and their slots, in bytes.
static size_t denseBytes(const Model &model) {
  const pdl_descriptor &descriptor = model.descriptor();
  size_t bytes = 0;
  for (int32_t i = 0; i < descriptor.symbol_count; ++i)
    for (int32_t p = 0; !model.table(i) && model.heldElements(i) > 0 &&
                        p <= descriptor.symbols[i].slot_count;
         ++p)
      bytes +=
          size_t(model.heldElements(i, p)) * elementSize(descriptor.symbols[i]);
  return bytes;
}

namespace {

/// The data of a model to be saved.
struct SavePlan {
  /// Parameters and slots. If the file name is empty, there are none.
  CheckpointPart dense;
  SafetensorsWriter denseTensors;
  std::vector<PlannedPart> tables;
  /// Memory limit for parts of tables.
  size_t memory = 0;
  /// Changes of tables, used instead of `tables` for a delta.
  std::vector<PlannedChanges> changes;
};

} // namespace

static Status saveTables(const Model &model, const SavePlan &plan,
                         CheckpointWriter &writer, Scheduler *scheduler) {
  Expected<std::string> folder = writer.folder();
  if (!folder)
    return folder.status();
  Expected<std::vector<CheckpointPart>> written =
      writeTableParts(model, plan.tables, *folder, scheduler, plan.memory);
  if (!written)
    return written.status();
  for (const PlannedChanges &planned : plan.changes) {
    Expected<std::vector<CheckpointPart>> parts =
        writeChanges(model, planned, *folder);
    if (!parts)
      return parts.status();
    std::ranges::move(*parts, std::back_inserter(*written));
  }
  const bool isEmpty = written->empty();
  for (CheckpointPart &part : *written)
    writer.addWritten(std::move(part));
  return isEmpty ? Status() : flushFolder(*folder);
}

/// Plans the file with parameters and their slots. If `copies`, copies their
/// current values. Otherwise the file gets the values that they have when it is
/// written.
static Status planDense(const Model &model, const std::string &file,
                        bool copies, SavePlan &plan) {
  const pdl_descriptor &descriptor = model.descriptor();
  CheckpointPart part;
  part.file = file;
  part.kind = PartKind::Dense;
  bool isWhole = true, isEmpty = true;
  for (int32_t i = 0; i < descriptor.symbol_count; ++i) {
    const pdl_symbol &symbol = descriptor.symbols[i];
    if (model.table(i))
      continue;
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
      const std::string name = fullPartName(symbol, p);
      PDLRT_RETURN_IF_ERROR(
          copies ? plan.denseTensors.addCopy(name, type, std::move(shape),
                                             model.part(i, p))
                 : plan.denseTensors.add(name, type, std::move(shape),
                                         model.part(i, p)));
    }
  }
  if (isWhole)
    part.rows.clear();
  else if (isEmpty)
    return {};
  plan.dense = std::move(part);
  return {};
}

/// Plans the parts of all tables. If `snapshotLimit` is set, begins snapshots
/// of the tables, which together may use at most this number of bytes.
static void planTables(const Model &model, const TablePartSizes &sizes,
                       SavedRows saved, std::optional<size_t> snapshotLimit,
                       SavePlan &plan) {
  const size_t bytesInPart = bytesOfPart(sizes.bytesInPart, tableBytes(model));
  plan.memory = std::max(sizes.memory, heldTableBytes(model) / 32);
  const TableSnapshot *first = nullptr;
  for (int32_t i = 0; i < model.descriptor().symbol_count; ++i) {
    EmbeddingTable *table = model.table(i);
    if (!table)
      continue;
    TableSnapshot *snapshot = nullptr;
    if (snapshotLimit) {
      snapshot = &table->beginSnapshot(*snapshotLimit, saved);
      // All tables share one memory limit, so memory that one table frees is
      // available to the others.
      if (first)
        snapshot->shareRoomOf(*first);
      else
        first = snapshot;
    }
    if (saved == SavedRows::Changed) {
      plan.changes.push_back({i, snapshot, table->takeErased(), bytesInPart});
      planWaiting(model, plan.changes.back());
    } else
      planTableParts(model, i, bytesInPart, plan.tables, snapshot,
                     saved == SavedRows::Base);
    // Earlier erased keys are part of this save, or no longer needed.
    table->trackErased(saved != SavedRows::All);
  }
}

static Status writeDense(SavePlan &plan, CheckpointWriter &writer) {
  if (plan.dense.file.empty())
    return {};
  Status status = writer.addPart(std::move(plan.dense), plan.denseTensors);
  plan.dense = {};
  plan.denseTensors = {};
  return status;
}

Status pdlrt::saveParts(const Model &model, const std::string &denseFile,
                        CheckpointWriter &writer, Scheduler *scheduler,
                        const TablePartSizes &sizes, SavedRows saved) {
  PDLRT_RETURN_IF_ERROR(model.bringToHost());
  model.withholdPrepared();
  model.noteTableSizes();
  SavePlan plan;
  planTables(model, sizes, saved, std::nullopt, plan);
  PDLRT_RETURN_IF_ERROR(planDense(model, denseFile, /*copies=*/false, plan));
  PDLRT_RETURN_IF_ERROR(writeDense(plan, writer));
  return saveTables(model, plan, writer, scheduler);
}

struct StateSnapshot::Plan : SavePlan {};

StateSnapshot::StateSnapshot(Model &model)
    : model(model), plan(std::make_unique<Plan>()) {}

Expected<std::unique_ptr<StateSnapshot>>
StateSnapshot::take(Model &model, const std::string &denseFile,
                    CheckpointWriter &writer, const TablePartSizes &sizes,
                    SavedRows saved) {
  const TraceSpan span("snapshot");
  PDLRT_RETURN_IF_ERROR(model.bringToHost());
  model.withholdPrepared();
  model.noteTableSizes();
  std::unique_ptr<StateSnapshot> taken(new StateSnapshot(model));
  const size_t share = heldTableBytes(model) / 32;
  const size_t maxCopied =
      std::max(sizes.copied, std::min(share, sizes.maxCopied));
  SavePlan &plan = *taken->plan;
  bool copies = denseBytes(model) <= maxCopied;
  if (copies) {
    try {
      PDLRT_RETURN_IF_ERROR(planDense(model, denseFile, copies, plan));
    } catch (const std::bad_alloc &) {
      // Without copies, steps wait until the parameters are on the disk.
      plan.dense = {};
      plan.denseTensors = {};
      copies = false;
    }
  }
  if (!copies) {
    PDLRT_RETURN_IF_ERROR(planDense(model, denseFile, copies, plan));
    PDLRT_RETURN_IF_ERROR(writeDense(plan, writer));
  }
  planTables(model, sizes, saved, std::max(sizes.copyLimit, share), plan);
  return taken;
}

StateSnapshot::~StateSnapshot() {
  for (int32_t i = 0; i < model.descriptor().symbol_count; ++i)
    if (EmbeddingTable *table = model.table(i); table && table->snapshot())
      table->endSnapshot();
}

Status StateSnapshot::write(CheckpointWriter &writer) {
  PDLRT_RETURN_IF_ERROR(writeDense(*plan, writer));
  // The training needs the scheduler's threads.
  return saveTables(model, *plan, writer, /*scheduler=*/nullptr);
}

size_t StateSnapshot::maxCopiedBytes() const {
  // Tables share one memory limit, so any table has the total.
  for (int32_t i = 0; i < model.descriptor().symbol_count; ++i)
    if (const EmbeddingTable *table = model.table(i);
        table && table->snapshot())
      return table->snapshot()->maxCopiedBytes();
  return 0;
}

Status pdlrt::saveModel(const Model &model, CheckpointWriter &writer,
                        CheckpointManifest &manifest, Scheduler *scheduler,
                        SavedRows saved) {
  describeModel(model, manifest);
  return saveParts(model, "dense.safetensors", writer, scheduler, {}, saved);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Returns the parts of a symbol to restore for `use`, each with the part of
/// the checkpoint from which it is read. Part 0 is the value, part `p` is slot
/// `p` - 1. If the checkpoint lacks the slot that frozen programs read, the
/// value is read into it.
static std::vector<std::pair<int32_t, int32_t>>
partsToRestore(const pdl_symbol &symbol, const Checkpoint &checkpoint,
               CheckpointUse use) {
  std::vector<std::pair<int32_t, int32_t>> parts = {{0, 0}};
  if (use == CheckpointUse::Training) {
    for (int32_t p = 1; p <= symbol.slot_count; ++p)
      parts.emplace_back(p, p);
    return parts;
  }
  if (symbol.frozen_part > 0)
    parts.emplace_back(symbol.frozen_part,
                       savedFrozenPart(symbol, checkpoint.manifest()));
  return parts;
}

/// Reads the rows of a parameter that this process holds, from part `from` of
/// the checkpoint into part `part` of the model. Part 0 is the value, part `p`
/// is slot `p` - 1.
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

/// Returns the parts of a checkpoint that have rows of a table.
static std::vector<size_t> tablePartsOf(const Checkpoint &checkpoint,
                                        const std::string &symbol) {
  const std::vector<CheckpointPart> &parts = checkpoint.manifest().parts;
  std::vector<size_t> found;
  for (size_t p = 0; p < parts.size(); ++p)
    if (parts[p].kind == PartKind::Table && parts[p].symbol == symbol)
      found.push_back(p);
  return found;
}

static bool holdsShards(const Model &model, int32_t symbol) {
  for (int s = 0; s < EmbeddingTable::shardCount; ++s)
    if (model.holdsShard(symbol, s))
      return true;
  return false;
}

static Status restoreTable(const Model &model, int32_t index,
                           const Checkpoint &link, CheckpointUse use,
                           Scheduler *scheduler) {
  const pdl_symbol &symbol = model.descriptor().symbols[index];
  const std::vector<size_t> parts = tablePartsOf(link, symbol.name);
  // An owner without shards of the table selects no files of it.
  if (parts.empty() && holdsShards(model, index))
    return link.damaged(std::string("it has no rows of @") + symbol.name);
  const auto columns = partsToRestore(symbol, link, use);
  return runFallible(scheduler, int64_t(parts.size()), [&](int64_t p) {
    return restoreTablePart(model, index, link, parts[p], columns);
  });
}

Status pdlrt::restoreChanges(Model &model, const Checkpoint &checkpoint,
                             CheckpointUse use, Scheduler *scheduler) {
  const pdl_descriptor &descriptor = model.descriptor();
  PDLRT_RETURN_IF_ERROR(checkSameModel(descriptor, checkpoint, use));
  const CheckpointManifest &manifest = checkpoint.manifest();
  for (int32_t i = 0; i < descriptor.symbol_count; ++i) {
    const pdl_symbol &symbol = descriptor.symbols[i];
    if (model.table(i)) {
      PDLRT_RETURN_IF_ERROR(restoreTable(model, i, checkpoint, use, scheduler));
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

Status pdlrt::restoreModel(Model &model, const Checkpoint &checkpoint,
                           CheckpointUse use, Scheduler *scheduler) {
  PDLRT_RETURN_IF_ERROR(checkSameModel(model.descriptor(), checkpoint, use));
  for (const Checkpoint &link : checkpoint.earlier())
    for (int32_t i = 0; i < model.descriptor().symbol_count; ++i)
      if (model.table(i))
        PDLRT_RETURN_IF_ERROR(restoreTable(model, i, link, use, scheduler));
  PDLRT_RETURN_IF_ERROR(restoreChanges(model, checkpoint, use, scheduler));
  for (int32_t i = 0;
       use == CheckpointUse::Training && i < model.descriptor().symbol_count;
       ++i)
    if (EmbeddingTable *table = model.table(i))
      table->trackErased(true);
  return {};
}

Status pdlrt::checkSettings(
    const Checkpoint &checkpoint,
    const std::vector<std::pair<std::string, std::string>> &settings) {
  const CheckpointManifest &manifest = checkpoint.manifest();
  // A new epoch may use other batches.
  if (manifest.progress.positions.empty())
    return {};
  for (const auto &[flag, value] : settings) {
    // The rest of the epoch may be divided among other replicas.
    if (flag == "--replicas")
      continue;
    const auto before = std::find_if(
        manifest.settings.begin(), manifest.settings.end(),
        [&flag = flag](const auto &entry) { return entry.first == flag; });
    if (before == manifest.settings.end())
      return checkpoint.damaged("it does not say " + flag);
    // Rows of streams may also be divided among other files.
    const bool areDealt = flag == "--data" &&
                          EpochDivision::isInTurn(before->second) &&
                          EpochDivision::isInTurn(value);
    if (before->second != value && !areDealt)
      return Status::failedPrecondition(fmt::format(
          "{}: was written in the middle of epoch {} with {} {}, but this run "
          "has {}; give the flags of the run that wrote it (they may change "
          "where an epoch begins), or train into another folder",
          checkpoint.path(), manifest.progress.epoch + 1, flag, before->second,
          value));
  }
  return {};
}
