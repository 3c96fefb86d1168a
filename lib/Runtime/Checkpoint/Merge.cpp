//===- Merge.cpp - Merges a delta and its predecessors --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Checkpoint/Merge.h"

#include "Checkpoint/LinkedRows.h"
#include "Checkpoint/RewrittenPart.h"
#include "Files/TemporaryFile.h"

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <utility>

using namespace pdlrt;

namespace {

/// The part of a table that one process held.
struct OwnedTable {
  size_t symbol = 0;
  LinkedRows linked;
  /// The shards that the process held, ascending, and the number of rows in
  /// each.
  std::vector<std::pair<int64_t, int64_t>> shards;
  /// Ordered by (shard, key).
  std::vector<LinkedRows::Row> rows;
  std::vector<WaitingKey> waiting;
  /// Number of waiting keys, by shard.
  std::array<int64_t, EmbeddingTable::shardCount> waitingCounts = {};
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
      RewrittenPart part = {
          table.symbol, run, table.linked.files, rows.first(count), {}};
      for (const WaitingKey &each : table.waiting)
        if (run.holds(EmbeddingTable::shardOf(each.key)))
          part.waiting.add(each);
      Status status = writeRewritten(checkpoint, part, writer);
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
  return writer.commitNew(std::move(manifest));
}
