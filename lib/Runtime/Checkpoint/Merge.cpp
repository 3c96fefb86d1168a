//===- Merge.cpp - A whole checkpoint of a delta --------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Checkpoint/Merge.h"

#include "Checkpoint/LinkedRows.h"
#include "Checkpoint/SymbolTensors.h"
#include "Checkpoint/TableParts.h"
#include "Files/TemporaryFile.h"
#include "pdlrt/Kernels/Storage.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <span>
#include <utility>

using namespace pdlrt;

/// Copies a file of the checkpoint as it is.
static Status copyPart(const Checkpoint &checkpoint, size_t index,
                       CheckpointWriter &writer) {
  constexpr size_t atOnce = size_t(1) << 20;
  CheckpointPart part = checkpoint.manifest().parts[index];
  Expected<std::string> folder = writer.folder();
  if (!folder)
    return folder.status();
  const Expected<FileBytes> from =
      FileBytes::open(checkpoint.path() + "/" + part.file, "");
  if (!from)
    return from.status();
  TemporaryFile to(*folder + "/" + part.file);
  PDLRT_RETURN_IF_ERROR(to.create());
  std::vector<std::byte> piece(atOnce);
  for (uint64_t begin = 0; begin < from->size(); begin += atOnce) {
    const auto count = size_t(std::min<uint64_t>(atOnce, from->size() - begin));
    PDLRT_RETURN_IF_ERROR(from->readAt(begin, count, piece.data()));
    PDLRT_RETURN_IF_ERROR(to.write(piece.data(), count));
  }
  PDLRT_RETURN_IF_ERROR(to.commit());
  part.owner = 0;
  writer.addWritten(std::move(part));
  return {};
}

static int64_t elementsOf(const std::vector<int64_t> &shape) {
  int64_t count = 1;
  for (int64_t dimension : shape)
    count *= dimension;
  return count;
}

/// Bytes of a row with its key, as its process counted them.
static size_t bytesOfRow(const CheckpointSymbol &symbol) {
  const auto width = elementsOf(symbol.shape);
  const int32_t type =
      symbol.elementType == TensorType::F32 ? PDL_F32 : PDL_F64;
  const size_t element = tensorElementSize(symbol.elementType);
  return sizeof(int64_t) +
         storedValueBytes(storageOf(symbol.partType(0)), type, width) +
         element *
             (size_t(width) * (symbol.slots.size() - size_t(symbol.rowSlots)) +
              size_t(symbol.rowSlots));
}

namespace {

/// What one process held of a table.
struct OwnedTable {
  size_t symbol = 0;
  LinkedRows linked;
  /// Of its shards, which ascend: how many rows each has.
  std::vector<std::pair<int64_t, int64_t>> shards;
  /// By (shard, key).
  std::vector<LinkedRows::Row> rows;
  std::vector<WaitingKey> waiting;
  /// By shard.
  std::array<int64_t, EmbeddingTable::shardCount> waitingCounts = {};
};

/// Reads a value or slot of some rows, each from the file that has it.
class ColumnReader {
public:
  ColumnReader(const std::vector<const TensorView *> &tensors, int64_t width)
      : width(width) {
    for (const TensorView *tensor : tensors)
      windows.emplace_back(*tensor);
    bytes = size_t(width) * tensorElementSize(tensors.front()->type);
  }

  Status read(std::span<const LinkedRows::Row> rows, std::byte *out) {
    for (const LinkedRows::Row &row : rows) {
      Expected<const std::byte *> from =
          windows[row.file].at(row.index * width, width);
      if (!from)
        return from.status();
      std::memcpy(out, *from, bytes);
      out += bytes;
    }
    return {};
  }

private:
  const int64_t width;
  size_t bytes = 0;
  /// By file.
  std::vector<TensorWindow> windows;
};

} // namespace

static Expected<OwnedTable> findTable(const Checkpoint &checkpoint,
                                      int64_t owner, size_t index) {
  const CheckpointManifest &manifest = checkpoint.manifest();
  const CheckpointSymbol &symbol = manifest.symbols[index];
  OwnedTable table;
  table.symbol = index;
  std::array<bool, EmbeddingTable::shardCount> isOwn = {};
  for (const CheckpointPart &part : manifest.parts)
    if (part.kind == PartKind::Table && part.owner == owner &&
        part.symbol == symbol.name)
      for (const auto &[first, end] : part.shards)
        std::fill(isOwn.begin() + first, isOwn.begin() + end, true);
  Expected<LinkedRows> linked = linkRows(checkpoint, symbol.name);
  if (!linked)
    return linked.status();
  table.linked = std::move(*linked);
  std::array<int64_t, EmbeddingTable::shardCount> counts = {};
  for (const LinkedRows::Row &row : std::exchange(table.linked.rows, {})) {
    const int shard = EmbeddingTable::shardOf(row.key);
    if (!isOwn[size_t(shard)])
      continue;
    ++counts[size_t(shard)];
    table.rows.push_back(row);
  }
  std::ranges::sort(table.rows, {}, [](const LinkedRows::Row &row) {
    return std::pair(EmbeddingTable::shardOf(row.key), row.key);
  });
  Expected<std::vector<WaitingKey>> waiting =
      linkWaiting(checkpoint, symbol.name);
  if (!waiting)
    return waiting.status();
  for (const WaitingKey &each : *waiting)
    if (const auto shard = size_t(EmbeddingTable::shardOf(each.key));
        isOwn[shard]) {
      table.waiting.push_back(each);
      ++table.waitingCounts[shard];
    }
  for (size_t s = 0; s < isOwn.size(); ++s)
    if (isOwn[s])
      table.shards.emplace_back(s, counts[s]);
  return table;
}

/// Writes the part of `run`, whose rows are `rows`.
static Status writePart(const Checkpoint &checkpoint, const OwnedTable &table,
                        const ShardRun &run,
                        std::span<const LinkedRows::Row> rows,
                        CheckpointWriter &writer) {
  const CheckpointSymbol &symbol = checkpoint.manifest().symbols[table.symbol];
  const auto count = int64_t(rows.size());
  // The first error of a source, which cannot return one.
  Status failed;
  SafetensorsWriter tensors;
  PDLRT_RETURN_IF_ERROR(tensors.addRows(
      "keys", TensorType::I64, {count},
      [rows](int64_t first, int64_t some, std::byte *out) {
        for (int64_t i = first; i < first + some; ++i) {
          std::memcpy(out, &rows[size_t(i)].key, sizeof(int64_t));
          out += sizeof(int64_t);
        }
      }));
  for (size_t p = 0; p <= symbol.slots.size(); ++p) {
    const std::string name =
        p > 0 ? "slot." + symbol.slots[p - 1] : std::string("values");
    const int64_t width =
        p > 0 && symbol.isRowSlot(p - 1) ? 1 : elementsOf(symbol.shape);
    std::vector<const TensorView *> columns;
    for (const LinkedRows::File &file : table.linked.files) {
      Expected<const TensorView *> column = file.of->tensorOf(
          *file.content, name, symbol.partType(p), {file.rows, width});
      if (!column)
        return column.status();
      columns.push_back(*column);
    }
    PDLRT_RETURN_IF_ERROR(tensors.addRows(
        name, symbol.partType(p), {count, width},
        [rows, &failed,
         reader = std::make_shared<ColumnReader>(columns, width)](
            int64_t first, int64_t some, std::byte *out) {
          if (failed.ok())
            failed =
                reader->read(rows.subspan(size_t(first), size_t(some)), out);
        }));
  }
  WaitingColumns waiting;
  for (const WaitingKey &each : table.waiting)
    if (run.holds(EmbeddingTable::shardOf(each.key)))
      waiting.add(each);
  PDLRT_RETURN_IF_ERROR(waiting.addTo(tensors));
  Expected<std::string> folder = writer.folder();
  if (!folder)
    return folder.status();
  CheckpointPart part;
  part.file = tableFileOf(table.symbol, run.shards.front().first);
  part.kind = PartKind::Table;
  part.symbol = symbol.name;
  part.shards = run.shards;
  PDLRT_RETURN_IF_ERROR(
      tensors.writeStreamed(*folder + "/" + part.file, part.digest));
  PDLRT_RETURN_IF_ERROR(std::move(failed));
  writer.addWritten(std::move(part));
  return {};
}

/// Writes all tables of a process.
static Status mergeTables(const Checkpoint &checkpoint, int64_t owner,
                          const TablePartSizes &sizes,
                          CheckpointWriter &writer) {
  const CheckpointManifest &manifest = checkpoint.manifest();
  std::vector<OwnedTable> tables;
  size_t allBytes = 0;
  for (size_t i = 0; i < manifest.symbols.size(); ++i) {
    if (!manifest.symbols[i].isTable)
      continue;
    Expected<OwnedTable> table = findTable(checkpoint, owner, i);
    if (!table)
      return table.status();
    allBytes += table->rows.size() * bytesOfRow(manifest.symbols[i]);
    tables.push_back(std::move(*table));
  }
  const size_t bytesInPart = bytesOfPart(sizes.bytesInPart, allBytes);
  for (const OwnedTable &table : tables) {
    const size_t rowBytes = bytesOfRow(manifest.symbols[table.symbol]);
    std::span<const LinkedRows::Row> rows = table.rows;
    ShardRun run;
    int64_t waiting = 0;
    const auto write = [&]() -> Status {
      const auto count = size_t(run.rows);
      Status status =
          writePart(checkpoint, table, run, rows.first(count), writer);
      rows = rows.subspan(count);
      run = {};
      waiting = 0;
      return status;
    };
    for (const auto &[shard, count] : table.shards) {
      run.add(shard, count);
      waiting += table.waitingCounts[size_t(shard)];
      if (size_t(run.rows) * rowBytes +
              size_t(waiting) * WaitingColumns::bytesOfKey >=
          bytesInPart)
        PDLRT_RETURN_IF_ERROR(write());
    }
    if (!run.shards.empty())
      PDLRT_RETURN_IF_ERROR(write());
  }
  return {};
}

Status pdlrt::mergeCheckpoint(const Checkpoint &checkpoint,
                              const std::string &path,
                              const TablePartSizes &sizes) {
  CheckpointWriter writer(path);
  CheckpointManifest manifest = checkpoint.manifest();
  std::set<int64_t> merged;
  for (size_t p = 0; p < manifest.parts.size(); ++p) {
    const CheckpointPart &part = manifest.parts[p];
    if (part.kind != PartKind::Table || !checkpoint.isDelta())
      PDLRT_RETURN_IF_ERROR(copyPart(checkpoint, p, writer));
    else if (merged.insert(part.owner).second)
      PDLRT_RETURN_IF_ERROR(mergeTables(checkpoint, part.owner, sizes, writer));
  }
  Expected<std::string> folder = writer.folder();
  if (!folder)
    return folder.status();
  PDLRT_RETURN_IF_ERROR(flushFolder(*folder));
  manifest.after.reset();
  return writer.commit(std::move(manifest));
}
