//===- TableParts.cpp - The rows of a table in files ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checkpoint/TableParts.h"

#include "Checkpoint/FallibleTasks.h"
#include "Checkpoint/KeyPlaces.h"
#include "Checkpoint/SymbolTensors.h"
#include "Checkpoint/TableTensors.h"
#include "Files/TemporaryFile.h"
#include "Files/WholeFile.h"
#include "pdlrt/Abi/Descriptor.h"
#include "pdlrt/Core/Trace.h"
#include "pdlrt/Files/FileBytes.h"
#include "pdlrt/Files/Store.h"
#include "pdlrt/Kernels/Storage.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fmt/format.h>

using namespace pdlrt;

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

void ShardRun::add(int64_t shard, int64_t rowsOfShard) {
  rows += rowsOfShard;
  if (!shards.empty() && shards.back().second == shard)
    ++shards.back().second;
  else
    shards.emplace_back(shard, shard + 1);
}

bool ShardRun::holds(int64_t shard) const {
  return std::ranges::any_of(shards, [&](const CheckpointRange &range) {
    return range.first <= shard && shard < range.second;
  });
}

std::string pdlrt::tableFileOf(size_t symbol, int64_t firstShard) {
  return fmt::format("table-{}-{:04}.safetensors", symbol, firstShard);
}

size_t pdlrt::bytesOfPart(size_t asked, size_t allBytes) {
  return std::max(asked, allBytes / 256);
}

void pdlrt::planTableParts(const Model &model, int32_t symbol,
                           size_t bytesInPart, std::vector<PlannedPart> &parts,
                           TableSnapshot *snapshot, bool notesSaved) {
  EmbeddingTable &table = *model.table(symbol);
  PlannedPart part;
  for (int s = 0; s < EmbeddingTable::shardCount; ++s) {
    if (!model.holdsShard(symbol, s))
      continue;
    part.symbol = symbol;
    part.snapshot = snapshot;
    part.notesSaved = notesSaved;
    part.add(s, snapshot ? snapshot->shardSize(s) : table.savedSize(s));
    part.waiting.addShard(table, s, /*onlyChanged=*/false,
                          /*areSaved=*/notesSaved);
    if (fileBytes(table, part.rows) + part.waiting.bytes() >= bytesInPart) {
      parts.push_back(std::move(part));
      part = {};
    }
  }
  if (!part.shards.empty())
    parts.push_back(std::move(part));
}

void pdlrt::planWaiting(const Model &model, PlannedChanges &planned) {
  EmbeddingTable &table = *model.table(planned.symbol);
  planned.waiting.resize(EmbeddingTable::shardCount);
  for (int s = 0; s < EmbeddingTable::shardCount; ++s)
    if (model.holdsShard(planned.symbol, s))
      planned.waiting[size_t(s)].addShard(table, s, /*onlyChanged=*/true,
                                          /*areSaved=*/true);
}

namespace {

/// Memory that one writing thread reuses for consecutive parts.
struct PartMemory {
  RowList rows;
  FileImage image;
};

/// Position and size of a value or slot in a row, in bytes. `next`: destination
/// of this column of the row that is copied next.
struct Column {
  size_t begin, bytes;
  std::byte *next;
};

} // namespace

/// Copies the keys, values and slots of rows into columns. Reads each row once,
/// and prefetches later rows into the cache.
static void copyRows(const std::vector<TableRow> &rows, size_t rowBytes,
                     std::byte *&keys, std::vector<Column> &columns) {
  constexpr size_t ahead = 16, lineBytes = 64;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i + ahead < rows.size())
      for (size_t byte = 0; byte < rowBytes; byte += lineBytes)
        __builtin_prefetch(static_cast<const char *>(rows[i + ahead].row) +
                           byte);
    std::memcpy(keys, &rows[i].key, sizeof(int64_t));
    keys += sizeof(int64_t);
    for (Column &column : columns) {
      std::memcpy(column.next,
                  static_cast<const char *>(rows[i].row) + column.begin,
                  column.bytes);
      column.next += column.bytes;
    }
  }
}

/// Collects the rows of a shard.
static void collectRows(const EmbeddingTable &table, const PlannedPart &part,
                        int shard, RowList &rows) {
  if (part.snapshot)
    part.snapshot->collectShard(shard, rows);
  else
    table.collectSaved(shard, SavedRows::All, rows);
}

/// Marks rows, and the shards that contain them, as saved.
static void noteSaved(const EmbeddingTable &table,
                      const std::vector<CheckpointRange> &shards,
                      std::span<const TableRow> rows) {
  for (const TableRow &row : rows)
    table.layout().headerOf(row.row).noteSaved();
  for (const auto &[first, end] : shards)
    for (int64_t s = first; s < end; ++s)
      table.noteShardSaved(int(s));
}

/// Marks shards of a snapshot as read. Called only when the shards are on the
/// disk, because until then their rows are read again for each column. `rows`:
/// the rows of all these shards, in order.
static void passShards(const std::vector<CheckpointRange> &shards,
                       TableSnapshot &snapshot,
                       std::span<const TableRow> rows) {
  for (const auto &[first, end] : shards)
    for (int64_t s = first; s < end; ++s) {
      size_t count = 0;
      while (count < rows.size() &&
             EmbeddingTable::shardOf(rows[count].key) == s)
        ++count;
      snapshot.pass(int(s), rows.first(count));
      rows = rows.subspan(count);
    }
}

/// Returns the number of bytes that are needed to build a part in memory: the
/// file, a quarter more for the spare capacity of buffers, and the row list of
/// `collectShard`.
static size_t memoryForImage(const Model &model, const PlannedPart &part) {
  const size_t file =
      fileBytes(*model.table(part.symbol), part.rows) + part.waiting.bytes();
  return file + file / 4 + size_t(part.rows) * sizeof(TableRow);
}

/// Returns the maximum number of bytes that writing a part in pieces needs: the
/// keys and addresses of its rows and of those of one shard, and copies of rows
/// that are on disk.
static size_t memoryForPieces(const Model &model, const PlannedPart &part) {
  const EmbeddingTable &table = *model.table(part.symbol);
  const size_t copied =
      table.heldRows() < table.size() ? table.layout().stride() : 0;
  return size_t(part.rows) * (2 * sizeof(TableRow) + copied);
}

/// Builds the file of a part in memory and writes it at once.
static Status writeWhole(const Model &model, const PlannedPart &planned,
                         const std::string &path, PartMemory &memory,
                         FileDigest &digest) {
  const pdl_symbol &symbol = model.descriptor().symbols[planned.symbol];
  const EmbeddingTable &table = *model.table(planned.symbol);
  SafetensorsWriter tensors;
  PDLRT_RETURN_IF_ERROR(
      tensors.add("keys", TensorType::I64, {planned.rows}, nullptr));
  for (int32_t p = 0; p <= symbol.slot_count; ++p)
    PDLRT_RETURN_IF_ERROR(
        tensors.add(rowPartName(symbol, p), rowTensorType(symbol, p),
                    {planned.rows, partWidth(symbol, p)}, nullptr));
  PDLRT_RETURN_IF_ERROR(planned.waiting.addTo(tensors));
  Expected<SafetensorsWriter::Layout> layout = tensors.layout(path);
  if (!layout)
    return layout.status();
  std::byte *image = memory.image.reserve(layout->bytes);
  std::memcpy(image, layout->head.data(), layout->head.size());
  std::byte *keys = image + layout->offsetOf("keys");
  std::vector<Column> columns;
  for (int32_t p = 0; p <= symbol.slot_count; ++p)
    columns.push_back({partBegin(symbol, p), partBytes(symbol, p),
                       image + layout->offsetOf(rowPartName(symbol, p))});
  int64_t left = planned.rows;
  for (const auto &[first, end] : planned.shards)
    for (int64_t s = first; s < end; ++s) {
      table.collectSaved(int(s), SavedRows::All, memory.rows);
      left -= int64_t(memory.rows.size());
      if (left < 0)
        return Status::internal("a table has changed while it was saved");
      copyRows(memory.rows, table.rowBytes(), keys, columns);
      if (planned.notesSaved)
        noteSaved(table, {{s, s + 1}}, memory.rows);
    }
  if (left != 0)
    return Status::internal("a table has changed while it was saved");
  planned.waiting.copyTo(image, *layout);
  digest = {layout->bytes, hashBytes(image, layout->bytes)};
  return memory.image.write(path);
}

/// Returns the value and slots of a row with their names in files.
static std::vector<RowPart> rowPartsOf(const pdl_symbol &symbol) {
  std::vector<RowPart> parts;
  for (int32_t p = 0; p <= symbol.slot_count; ++p)
    parts.push_back({rowPartName(symbol, p), partBegin(symbol, p),
                     partWidth(symbol, p), rowTensorType(symbol, p),
                     PDL_STORE_ELEMENT});
  return parts;
}

/// Writes the file of a part in pieces; the content is the same as that of
/// `writeWhole`.
static Status writePieces(const Model &model, const PlannedPart &planned,
                          const std::string &path, FileDigest &digest) {
  const pdl_symbol &symbol = model.descriptor().symbols[planned.symbol];
  const EmbeddingTable &table = *model.table(planned.symbol);
  RowList rows, ofShard;
  rows.reserve(size_t(planned.rows));
  for (const auto &[first, end] : planned.shards)
    for (int64_t s = first; s < end; ++s) {
      // If there is only one shard, no second list is needed.
      RowList &found = rows.empty() ? rows : ofShard;
      collectRows(table, planned, int(s), found);
      if (&found == &ofShard)
        rows.append(std::move(ofShard));
    }
  if (int64_t(rows.size()) != planned.rows)
    return Status::internal("a table has changed while it was saved");
  const std::vector<RowPart> parts = rowPartsOf(symbol);
  SafetensorsWriter tensors;
  PDLRT_RETURN_IF_ERROR(
      addTableRows(tensors, "keys", parts, rows, planned.snapshot));
  PDLRT_RETURN_IF_ERROR(planned.waiting.addTo(tensors));
  PDLRT_RETURN_IF_ERROR(tensors.writeStreamed(path, digest));
  if (planned.snapshot)
    passShards(planned.shards, *planned.snapshot, rows);
  else if (planned.notesSaved)
    noteSaved(table, planned.shards, rows);
  return {};
}

static Expected<CheckpointPart>
writeTablePart(const Model &model, const PlannedPart &planned,
               const std::string &folder, PartMemory &memory, bool isWhole) {
  const TraceSpan span("save part", {planned.rows});
  CheckpointPart part;
  // Each shard has one owner, so the name is unique.
  part.file = tableFileOf(size_t(planned.symbol), planned.shards.front().first);
  part.kind = PartKind::Table;
  part.symbol = model.descriptor().symbols[planned.symbol].name;
  part.shards = planned.shards;
  const std::string path = folder + "/" + part.file;
  PDLRT_RETURN_IF_ERROR(
      isWhole ? writeWhole(model, planned, path, memory, part.digest)
              : writePieces(model, planned, path, part.digest));
  return part;
}

/// Returns true if a part is built in memory, which needs `memory` bytes at
/// most. Otherwise the part is written in pieces. Parts of a snapshot are
/// always written in pieces, because the training continues and needs its
/// memory.
static bool fits(const Model &model, const PlannedPart &part, size_t memory) {
  return !part.snapshot && memoryForImage(model, part) <= memory;
}

size_t pdlrt::writersFor(const Model &model,
                         const std::vector<PlannedPart> &parts, size_t threads,
                         size_t memory) {
  size_t most = 1;
  for (const PlannedPart &part : parts)
    most = std::max(most, fits(model, part, memory)
                              ? memoryForImage(model, part)
                              : memoryForPieces(model, part));
  return std::min(std::clamp<size_t>(memory / most, 1, threads), parts.size());
}

Expected<std::vector<CheckpointPart>> pdlrt::writeTableParts(
    const Model &model, const std::vector<PlannedPart> &parts,
    const std::string &folder, Scheduler *scheduler, size_t memory) {
  const size_t threads = scheduler ? size_t(scheduler->threadCount()) : 1;
  std::vector<CheckpointPart> written(parts.size());
  std::atomic<size_t> next{0};
  const auto writeNext = [&](PartMemory &ofWriter, size_t p) -> Status {
    Expected<CheckpointPart> part = writeTablePart(
        model, parts[p], folder, ofWriter, fits(model, parts[p], memory));
    if (!part)
      return part.status();
    written[p] = std::move(*part);
    return {};
  };
  PDLRT_RETURN_IF_ERROR(runFallible(
      scheduler, int64_t(writersFor(model, parts, threads, memory)),
      [&](int64_t) -> Status {
        // If one writer fails, the others start no further parts.
        try {
          PartMemory ofWriter;
          for (size_t p; (p = next.fetch_add(1)) < parts.size();)
            if (Status status = writeNext(ofWriter, p); !status.ok()) {
              next = parts.size();
              return status;
            }
          return {};
        } catch (...) {
          next = parts.size();
          throw;
        }
      }));
  return written;
}

namespace {

/// Changes of some shards that become one part.
struct ChangedShards : ShardRun {
  RowList found;
  /// Erased keys, without those that have a new row.
  std::vector<int64_t> erased;
  WaitingColumns waiting;
};

} // namespace

/// Adds a shard. `erased`: its keys that were erased since the last save.
static void collectChanges(const EmbeddingTable &table, TableSnapshot *snapshot,
                           int shard, std::span<const int64_t> erased,
                           RowList &ofShard, ChangedShards &changed) {
  if (snapshot)
    snapshot->collectShard(shard, ofShard);
  else
    table.collectSaved(shard, SavedRows::Changed, ofShard);
  for (int64_t key : erased)
    if (!std::ranges::binary_search(ofShard, key, {}, &TableRow::key))
      changed.erased.push_back(key);
  changed.add(shard, int64_t(ofShard.size()));
  changed.found.append(std::move(ofShard));
}

static Expected<CheckpointPart> writeChangedPart(const Model &model,
                                                 const PlannedChanges &planned,
                                                 ChangedShards &changed,
                                                 const std::string &folder) {
  const TraceSpan span("save part", {changed.rows});
  const pdl_symbol &symbol = model.descriptor().symbols[planned.symbol];
  CheckpointPart part;
  part.file = tableFileOf(size_t(planned.symbol), changed.shards.front().first);
  part.kind = PartKind::Table;
  part.symbol = symbol.name;
  part.shards = changed.shards;
  part.isChanges = true;
  SafetensorsWriter tensors;
  const std::vector<RowPart> columns = rowPartsOf(symbol);
  PDLRT_RETURN_IF_ERROR(
      addTableRows(tensors, "keys", columns, changed.found, planned.snapshot));
  if (!changed.erased.empty())
    PDLRT_RETURN_IF_ERROR(tensors.add("erased", TensorType::I64,
                                      {int64_t(changed.erased.size())},
                                      changed.erased.data()));
  PDLRT_RETURN_IF_ERROR(changed.waiting.addTo(tensors));
  PDLRT_RETURN_IF_ERROR(
      tensors.writeStreamed(folder + "/" + part.file, part.digest));
  if (planned.snapshot)
    passShards(changed.shards, *planned.snapshot, changed.found);
  else
    noteSaved(*model.table(planned.symbol), changed.shards, changed.found);
  return part;
}

Expected<std::vector<CheckpointPart>>
pdlrt::writeChanges(const Model &model, const PlannedChanges &planned,
                    const std::string &folder) {
  const EmbeddingTable &table = *model.table(planned.symbol);
  std::vector<CheckpointPart> parts;
  RowList ofShard;
  std::span<const int64_t> erased = planned.erased;
  ChangedShards changed;
  const auto write = [&]() -> Status {
    Expected<CheckpointPart> part =
        writeChangedPart(model, planned, changed, folder);
    if (!part)
      return part.status();
    parts.push_back(std::move(*part));
    changed = {};
    return {};
  };
  for (int s = 0; s < EmbeddingTable::shardCount; ++s) {
    size_t count = 0;
    while (count < erased.size() && EmbeddingTable::shardOf(erased[count]) == s)
      ++count;
    if (model.holdsShard(planned.symbol, s))
      collectChanges(table, planned.snapshot, s, erased.first(count), ofShard,
                     changed);
    if (!planned.waiting.empty())
      changed.waiting.add(planned.waiting[size_t(s)]);
    erased = erased.subspan(count);
    if (fileBytes(table, changed.rows) + changed.waiting.bytes() >=
        planned.bytesInPart)
      PDLRT_RETURN_IF_ERROR(write());
  }
  if (!changed.shards.empty())
    PDLRT_RETURN_IF_ERROR(write());
  return parts;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Number of bytes of a column that are read at a time. In an object store,
/// each read is a request, and is larger than the blocks that are cached.
static constexpr size_t pieceOfRows = size_t(1) << 18;
static constexpr size_t storedPieceOfRows = size_t(5) << 20;
/// Unneeded bytes that are read if needed bytes follow them.
static constexpr size_t maxGapBytes = size_t(1) << 20;

namespace {

/// A value or slot in a file, and its position in a row.
struct FileColumn {
  const TensorView *tensor;
  int64_t width;
  size_t begin;
  /// `bytes`: size of a row in the file. `padding`: number of zeros that follow
  /// it in memory.
  size_t bytes, padding;
  /// Storage to widen from, or PDL_STORE_ELEMENT.
  int32_t storage;
  /// Rows [firstRead, endRead) of the file are in `read`.
  int64_t firstRead = 0, endRead = 0;
  std::vector<std::byte> read = {};

  /// Reads rows from `first` on, but none from `end` on.
  Status readAhead(int64_t first, int64_t end) {
    const bool isStored = isInObjectStore(tensor->file->path());
    const size_t most = isStored ? storedPieceOfRows : pieceOfRows;
    const auto rows = int64_t(std::max<size_t>(1, most / bytes));
    firstRead = endRead = first;
    const int64_t count = std::min(rows, end - first);
    read.resize(size_t(count) * bytes);
    PDLRT_RETURN_IF_ERROR(
        tensor->read(first * width, count * width, read.data()));
    endRead = first + count;
    return {};
  }

  void copy(const std::byte *from, void *row) const {
    auto *to = static_cast<char *>(row) + begin;
    if (storage != PDL_STORE_ELEMENT)
      return widenStored(storage, width, from, reinterpret_cast<float *>(to));
    std::memcpy(to, from, bytes);
    std::memset(to + bytes, 0, padding);
  }
};

} // namespace

/// Copies the elements of the rows of the file from `first` on. Rows of the
/// file before `end` are needed later.
static Status fillRows(std::vector<FileColumn> &columns, int64_t first,
                       int64_t end, const std::vector<void *> &rows) {
  for (FileColumn &column : columns) {
    int64_t next = first;
    for (void *row : rows) {
      if (next < column.firstRead || next >= column.endRead)
        PDLRT_RETURN_IF_ERROR(column.readAhead(next, end));
      column.copy(column.read.data() +
                      size_t(next - column.firstRead) * column.bytes,
                  row);
      ++next;
    }
  }
  return {};
}

namespace {

/// Consecutive rows [begin, end) of a file that belong to one shard.
struct HeldShard {
  int shard;
  int64_t begin, end;
  /// End of the rows that are read together with these.
  int64_t endOfRun = 0;
};

} // namespace

/// Returns the rows of the shards that this process has. Shards with few bytes
/// between them are read together, because a request costs more.
static std::vector<HeldShard> heldShards(const Model &model, int32_t symbol,
                                         const std::vector<int64_t> &keys,
                                         size_t rowBytes) {
  const auto count = int64_t(keys.size());
  std::vector<HeldShard> held;
  for (int64_t begin = 0, end = 0; begin < count; begin = end) {
    const int shard = EmbeddingTable::shardOf(keys[begin]);
    end = begin + 1;
    while (end < count && EmbeddingTable::shardOf(keys[end]) == shard)
      ++end;
    if (model.holdsShard(symbol, shard))
      held.push_back({shard, begin, end, end});
  }
  for (size_t i = held.size(); i-- > 1;)
    if (size_t(held[i].begin - held[i - 1].end) * rowBytes <= maxGapBytes)
      held[i - 1].endOfRun = held[i].endOfRun;
  return held;
}

/// Returns an error if a row has an invalid period.
static Status checkPeriods(const EmbeddingTable &table,
                           const Checkpoint &checkpoint, const int64_t *keys,
                           const std::vector<void *> &rows) {
  if (!table.options().life.hasPeriods())
    return {};
  for (size_t i = 0; i < rows.size(); ++i)
    if (table.options().periodOf(rows[i]) < 0)
      return checkpoint.damaged(
          fmt::format("@{}: key {} had its last update in a period that is "
                      "none",
                      table.options().name, keys[i]));
  return {};
}

/// Removes rows of the part's shards before those of the part are read. If the
/// part contains changes, removes the keys that it erases. If it contains
/// complete shards of a delta, removes all rows of these shards.
static void removeRows(const CheckpointPart &part,
                       const std::vector<int64_t> &erased,
                       EmbeddingTable &table) {
  std::vector<int64_t> keys;
  TableScratch scratch;
  if (!part.isChanges) {
    RowList rows;
    for (const auto &[first, end] : part.shards)
      for (int64_t s = first; s < end; ++s) {
        table.collectShard(int(s), rows);
        for (const TableRow &row : rows)
          keys.push_back(row.key);
      }
  } else {
    keys = erased;
  }
  table.erase(int64_t(keys.size()), keys.data(), scratch);
  if (!table.options().life.notesWaiting())
    return;
  for (int64_t key : keys) {
    const WaitingKey none = {key, WaitingBits()};
    table.restoreWaiting(EmbeddingTable::shardOf(key), {&none, 1});
  }
  if (!part.isChanges)
    for (const auto &[first, end] : part.shards)
      for (int64_t s = first; s < end; ++s) {
        std::vector<WaitingKey> waiting;
        table.collectWaiting(int(s), /*onlyChanged=*/false, /*areSaved=*/false,
                             waiting);
        for (WaitingKey &each : waiting)
          each.bits = WaitingBits();
        table.restoreWaiting(int(s), waiting);
      }
}

/// Restores the waiting keys of the part.
static Status restoreWaiting(const Model &model, int32_t symbol,
                             const Checkpoint &checkpoint, size_t index) {
  EmbeddingTable &table = *model.table(symbol);
  if (!table.options().life.notesWaiting())
    return {};
  const Expected<std::vector<WaitingKey>> waiting =
      waitingKeysOf(checkpoint, index);
  if (!waiting)
    return waiting.status();
  std::span<const WaitingKey> left = *waiting;
  while (!left.empty()) {
    const int shard = EmbeddingTable::shardOf(left.front().key);
    size_t count = 1;
    while (count < left.size() &&
           EmbeddingTable::shardOf(left[count].key) == shard)
      ++count;
    if (model.holdsShard(symbol, shard))
      table.restoreWaiting(shard, left.first(count));
    left = left.subspan(count);
  }
  return {};
}

Status pdlrt::restoreTablePart(
    const Model &model, int32_t symbolIndex, const Checkpoint &checkpoint,
    size_t index, const std::vector<std::pair<int32_t, int32_t>> &columns) {
  const pdl_symbol &symbol = model.descriptor().symbols[symbolIndex];
  EmbeddingTable &table = *model.table(symbolIndex);
  const CheckpointPart &part = checkpoint.manifest().parts[index];
  const SafetensorsFile &file = checkpoint.file(index);
  const Expected<PartKeys> found = keysOf(checkpoint, index);
  if (!found)
    return found.status();
  if (checkpoint.isDelta())
    removeRows(part, found->erased, table);
  const std::vector<int64_t> &keys = found->keys;
  const auto count = int64_t(keys.size());
  std::vector<FileColumn> inFile;
  for (const auto &[p, from] : columns) {
    const int64_t width = partWidth(symbol, p);
    const TensorType type = rowTensorType(symbol, from);
    Expected<const TensorView *> values = checkpoint.tensorOf(
        file, rowPartName(symbol, from), type, {count, width});
    if (!values)
      return values.status();
    const bool isWidened = type != rowTensorType(symbol, p);
    inFile.push_back({*values,
                      width,
                      partBegin(symbol, p),
                      size_t(width) * tensorElementSize(type),
                      p == 0 ? valueBytes(symbol) - partBytes(symbol, p) : 0,
                      isWidened ? storageOf(type) : int32_t(PDL_STORE_ELEMENT),
                      0,
                      0,
                      {}});
  }
  // If the file provides the value and all slots of a row, initial values need
  // not be computed.
  const NewRow content = int32_t(columns.size()) == 1 + symbol.slot_count
                             ? NewRow::Open
                             : NewRow::Initial;
  size_t widest = 1;
  for (const FileColumn &column : inFile)
    widest = std::max(widest, column.bytes);
  std::vector<void *> rows;
  for (const HeldShard &held : heldShards(model, symbolIndex, keys, widest)) {
    const int64_t *const first = keys.data() + held.begin;
    rows.resize(size_t(held.end - held.begin));
    PDLRT_RETURN_IF_ERROR(table.insertShard(held.shard, held.end - held.begin,
                                            first, rows.data(), content));
    PDLRT_RETURN_IF_ERROR(fillRows(inFile, held.begin, held.endOfRun, rows));
    PDLRT_RETURN_IF_ERROR(checkPeriods(table, checkpoint, first, rows));
  }
  PDLRT_RETURN_IF_ERROR(restoreWaiting(model, symbolIndex, checkpoint, index));
  for (const auto &[first, last] : part.shards)
    model.spillRestoredRows(symbolIndex, int(first), int(last));
  return {};
}
