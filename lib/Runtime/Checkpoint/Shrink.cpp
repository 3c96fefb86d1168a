//===- Shrink.cpp - Removes rows of low value from a checkpoint -----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Checkpoint/Shrink.h"

#include "Checkpoint/RewrittenPart.h"
#include "Checkpoint/ShardRows.h"
#include "Checkpoint/TableLife.h"
#include "Files/TemporaryFile.h"
#include "pdlabi/admission.h"
#include "pdlrt/Table/TableOptions.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

using namespace pdlrt;

//===----------------------------------------------------------------------===//
// Properties of a table
//===----------------------------------------------------------------------===//

namespace {

/// The operations requested for a table.
struct TableShrinking {
  const CheckpointSymbol *symbol = nullptr;
  /// Options of a table that has only row slots, with which scores are
  /// computed.
  TableOptions slots;
  bool hasPeriods = false;
  int64_t period = 0;

  bool hasScores() const { return !slots.life.scoreWeights.empty(); }
  bool changesNothing() const { return !hasPeriods && !hasScores(); }
  /// Returns true if a slot of the symbol decays.
  bool decays(size_t slot) const {
    const size_t first = symbol->slots.size() - slots.rowSlotCount;
    return slot >= first && slot - first < slots.life.scoreWeights.size() &&
           slots.life.scoreWeights[slot - first] != 0;
  }
  size_t elementBytes() const { return tensorElementSize(symbol->elementType); }
};

} // namespace

static Expected<TableShrinking> shrinkingOf(const Checkpoint &checkpoint,
                                            const CheckpointSymbol &symbol,
                                            const ShrinkOptions &options) {
  TableShrinking table;
  table.symbol = &symbol;
  TableOptions &slots = table.slots;
  slots.elementType = symbol.elementType == TensorType::F64 ? PDL_F64 : PDL_F32;
  slots.width = 0;
  slots.rowSlotCount = size_t(symbol.rowSlots);
  slots.slotInitialValues.assign(slots.rowSlotCount, 0);
  const Expected<int64_t> every = updatesOfPeriod(checkpoint, symbol.name);
  if (!every)
    return every.status();
  if (*every > 0 && symbol.rowSlots == 0)
    return checkpoint.damaged("table @" + symbol.name +
                              " has periods, and no slot for them");
  if (*every > 0 && options.unseen) {
    const Expected<int64_t> period =
        runningPeriod(checkpoint, symbol.name, *every);
    if (!period)
      return period.status();
    table.hasPeriods = true;
    table.period = *period;
    slots.life.shrinkEvery = *every;
    slots.life.shrinkUnseen = *options.unseen;
  }
  // The last slot has the period, and no weight.
  const std::vector<std::string> names(symbol.slots.end() - symbol.rowSlots,
                                       symbol.slots.end() -
                                           (*every > 0 ? 1 : 0));
  std::vector<double> weights(names.size());
  for (const auto &[name, weight] : options.score) {
    const auto found = std::ranges::find(names, name);
    if (found == names.end())
      return table;
    weights[size_t(found - names.begin())] = weight;
  }
  if (!options.score.empty()) {
    slots.life.scoreWeights = std::move(weights);
    const std::string *admission =
        trainingPartOf(checkpoint.manifest(), "admission of @" + symbol.name);
    if (admission && admission->starts_with("by score "))
      slots.life.admission = PDL_ADMIT_SCORE;
    slots.life.shrinkDecay = options.decay;
    slots.life.shrinkLeast = options.least;
  }
  return table;
}

/// Returns an error if no table supports the requested operations.
static Status checkRequested(const Checkpoint &checkpoint,
                             const std::vector<TableShrinking> &tables,
                             const ShrinkOptions &options) {
  if (options.unseen &&
      std::ranges::none_of(tables, &TableShrinking::hasPeriods))
    return Status::failedPrecondition(
        checkpoint.path() +
        ": no table has periods, so that none knows when its rows were "
        "updated; leave --unseen out, or train with the clause shrink(...)");
  if (options.score.empty() ||
      std::ranges::any_of(tables, &TableShrinking::hasScores))
    return {};
  std::string names, have;
  for (const auto &[name, weight] : options.score)
    names += (names.empty() ? "" : ", ") + name;
  for (const TableShrinking &table : tables)
    for (size_t s = 0; s < table.symbol->slots.size(); ++s)
      if (table.symbol->isRowSlot(s))
        have += fmt::format("{}@{}: {}", have.empty() ? "" : ", ",
                            table.symbol->name, table.symbol->slots[s]);
  return Status::invalidArgument(fmt::format(
      "{}: no table has row slots {}, of which a score is asked; {}",
      checkpoint.path(), names,
      have.empty()
          ? "leave --score out: there are none"
          : "name some of these (a period is none of a score): " + have));
}

//===----------------------------------------------------------------------===//
// Shards
//===----------------------------------------------------------------------===//

/// Reads the row slots of a shard's rows, as consecutive rows of `table.slots`.
static Expected<std::vector<std::byte>>
readSlots(const TableShrinking &table, const ShardRows &files, int shard,
          std::span<const LinkedRows::Row> rows) {
  const size_t bytes = table.elementBytes(), rowBytes = table.slots.rowBytes();
  const size_t count = table.slots.rowSlotCount;
  const CheckpointSymbol &symbol = *table.symbol;
  std::vector<std::byte> slots(rows.size() * rowBytes);
  for (size_t s = 0; s < count; ++s) {
    const size_t slot = symbol.slots.size() - count + s;
    if (!table.decays(slot) && !(table.hasPeriods && s + 1 == count))
      continue;
    // The shard's elements, by file.
    std::vector<std::vector<std::byte>> columns(files.files().size());
    for (size_t f = 0; f < columns.size(); ++f) {
      const auto [first, end] = files.rowsOf(f, shard);
      if (first == end)
        continue;
      const LinkedRows::File &file = files.files()[f];
      const Expected<const TensorView *> tensor =
          file.of->tensorOf(*file.content, "slot." + symbol.slots[slot],
                            symbol.elementType, {file.rows, 1});
      if (!tensor)
        return tensor.status();
      columns[f].resize(size_t(end - first) * bytes);
      PDLRT_RETURN_IF_ERROR(
          (*tensor)->read(first, end - first, columns[f].data()));
    }
    for (size_t i = 0; i < rows.size(); ++i)
      std::memcpy(
          slots.data() + i * rowBytes + s * bytes,
          columns[rows[i].file].data() +
              size_t(rows[i].index - files.rowsOf(rows[i].file, shard).first) *
                  bytes,
          bytes);
  }
  return slots;
}

/// Removes the selected rows and keys from a shard.
static Status shrinkShard(const Checkpoint &checkpoint,
                          const TableShrinking &table, const ShardRows &files,
                          int number, ShardRows::Shard &shard) {
  if (table.changesNothing())
    return {};
  Expected<std::vector<std::byte>> slots =
      readSlots(table, files, number, shard.rows);
  if (!slots)
    return slots.status();
  const int64_t unseen = table.slots.life.shrinkUnseen;
  size_t left = 0;
  for (size_t i = 0; i < shard.rows.size(); ++i) {
    std::byte *row = slots->data() + i * table.slots.rowBytes();
    bool goes = false;
    if (table.hasPeriods) {
      const int64_t last = table.slots.periodOf(row);
      if (last < 0)
        return checkpoint.damaged(fmt::format(
            "@{}: key {} had its last update in a period that is none",
            table.symbol->name, shard.rows[i].key));
      goes = table.period - 1 - last >= unseen;
    }
    if (table.hasScores())
      goes |= table.slots.decay(row) < table.slots.life.shrinkLeast;
    if (!goes)
      shard.rows[left++] = shard.rows[i];
  }
  shard.rows.resize(left);
  // Keys that occurred in the running period have age 0.
  if (table.hasPeriods)
    std::erase_if(shard.waiting, [&](const WaitingKey &each) {
      return each.bits.age(table.period) > unseen;
    });
  if (!table.slots.life.waitingDecays())
    return {};
  for (WaitingKey &each : shard.waiting)
    each.bits = each.bits.withCount(
        pdlabi::decayedUnits(each.bits.count(), table.slots.life.shrinkDecay));
  std::erase_if(shard.waiting,
                [](const WaitingKey &each) { return each.bits.count() == 0; });
  return {};
}

template <typename T>
static void multiply(double factor, int64_t count, std::byte *elements) {
  for (int64_t i = 0; i < count; ++i, elements += sizeof(T)) {
    T element;
    std::memcpy(&element, elements, sizeof(T));
    element *= T(factor);
    std::memcpy(elements, &element, sizeof(T));
  }
}

/// Writes the remaining rows of a table.
static Expected<ShrunkTable>
shrinkTable(const Checkpoint &checkpoint, size_t number,
            const TableShrinking &table, const ShardRows &files,
            size_t bytesInPart, CheckpointWriter &writer) {
  ShrunkTable shrunk;
  shrunk.table = table.symbol->name;
  const size_t rowBytes = bytesOfRow(*table.symbol);
  std::vector<LinkedRows::Row> rows;
  ShardRun run;
  WaitingColumns waiting;
  const auto write = [&]() -> Status {
    RewrittenPart part = {number, std::exchange(run, {}), files.files(), rows,
                          std::exchange(waiting, {})};
    if (table.hasScores())
      part.change = [&](size_t column, int64_t count, std::byte *elements) {
        if (column == 0 || !table.decays(column - 1))
          return;
        const double factor = table.slots.life.shrinkDecay;
        if (table.symbol->elementType == TensorType::F64)
          multiply<double>(factor, count, elements);
        else
          multiply<float>(factor, count, elements);
      };
    Status status = writeRewritten(checkpoint, part, writer);
    rows.clear();
    return status;
  };
  for (int s = 0; s < EmbeddingTable::shardCount; ++s) {
    Expected<ShardRows::Shard> shard = files.read(s);
    if (!shard)
      return shard.status();
    shrunk.rows += int64_t(shard->rows.size());
    shrunk.waiting += int64_t(shard->waiting.size());
    PDLRT_RETURN_IF_ERROR(shrinkShard(checkpoint, table, files, s, *shard));
    shrunk.rowsLeft += int64_t(shard->rows.size());
    shrunk.waitingLeft += int64_t(shard->waiting.size());
    rows.insert(rows.end(), shard->rows.begin(), shard->rows.end());
    for (const WaitingKey &each : shard->waiting)
      waiting.add(each);
    run.add(s, int64_t(shard->rows.size()));
    if (size_t(run.rows) * rowBytes + waiting.bytes() >= bytesInPart)
      PDLRT_RETURN_IF_ERROR(write());
  }
  if (!run.shards.empty())
    PDLRT_RETURN_IF_ERROR(write());
  return shrunk;
}

Expected<std::vector<ShrunkTable>>
pdlrt::shrinkCheckpoint(const Checkpoint &checkpoint, const std::string &path,
                        const ShrinkOptions &options,
                        const TablePartSizes &sizes) {
  const CheckpointManifest &manifest = checkpoint.manifest();
  std::vector<TableShrinking> tables;
  std::vector<ShardRows> files;
  std::vector<size_t> numbers;
  size_t allBytes = 0;
  for (size_t s = 0; s < manifest.symbols.size(); ++s) {
    const CheckpointSymbol &symbol = manifest.symbols[s];
    if (!symbol.isTable)
      continue;
    Expected<TableShrinking> table = shrinkingOf(checkpoint, symbol, options);
    if (!table)
      return table.status();
    tables.push_back(*std::move(table));
    numbers.push_back(s);
  }
  PDLRT_RETURN_IF_ERROR(checkRequested(checkpoint, tables, options));
  for (const TableShrinking &table : tables) {
    Expected<ShardRows> rows = ShardRows::open(checkpoint, table.symbol->name);
    if (!rows)
      return rows.status();
    allBytes += size_t(rows->writtenRows()) * bytesOfRow(*table.symbol);
    files.push_back(*std::move(rows));
  }
  CheckpointWriter writer(path);
  for (size_t p = 0; p < manifest.parts.size(); ++p)
    if (manifest.parts[p].kind != PartKind::Table)
      PDLRT_RETURN_IF_ERROR(copyPart(checkpoint, p, writer));
  std::vector<ShrunkTable> shrunk;
  for (size_t t = 0; t < tables.size(); ++t) {
    Expected<ShrunkTable> table =
        shrinkTable(checkpoint, numbers[t], tables[t], files[t],
                    bytesOfPart(sizes.bytesInPart, allBytes), writer);
    if (!table)
      return table.status();
    shrunk.push_back(*std::move(table));
  }
  Expected<std::string> folder = writer.folder();
  if (!folder)
    return folder.status();
  PDLRT_RETURN_IF_ERROR(flushFolder(*folder));
  CheckpointManifest written = manifest;
  written.after.reset();
  PDLRT_RETURN_IF_ERROR(writer.commitNew(std::move(written)));
  return shrunk;
}
