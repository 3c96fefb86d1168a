//===- ShardRows.cpp - The rows of a table, shard by shard ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checkpoint/ShardRows.h"

#include "Checkpoint/KeyPlaces.h"
#include "Checkpoint/WaitingTensors.h"
#include "pdlrt/Table/EmbeddingTable.h"

#include <algorithm>
#include <tuple>

using namespace pdlrt;

void ShardRows::Runs::add(int shard, int64_t at) {
  if (runs.empty() || runs.back().shard != shard)
    runs.push_back({shard, at, at});
  runs.back().end = at + 1;
}

std::pair<int64_t, int64_t> ShardRows::Runs::of(int shard) const {
  const auto found = std::ranges::lower_bound(runs, shard, {}, &Run::shard);
  if (found == runs.end() || found->shard != shard)
    return {0, 0};
  return {found->first, found->end};
}

Expected<ShardRows> ShardRows::open(const Checkpoint &checkpoint,
                                    const std::string &symbol) {
  ShardRows table;
  const auto addPart = [&](const Checkpoint &link, size_t index) -> Status {
    Part part = {index, {}, {}, {}};
    const Expected<PartKeys> found = keysOf(link, index);
    if (!found)
      return found.status();
    const auto addTo = [](Runs &runs, const std::vector<int64_t> &keys) {
      for (size_t i = 0; i < keys.size(); ++i)
        runs.add(EmbeddingTable::shardOf(keys[i]), int64_t(i));
    };
    addTo(part.rows, found->keys);
    addTo(part.erased, found->erased);
    const Expected<std::vector<WaitingKey>> waiting =
        waitingKeysOf(link, index);
    if (!waiting)
      return waiting.status();
    for (size_t i = 0; i < waiting->size(); ++i)
      part.waiting.add(EmbeddingTable::shardOf((*waiting)[i].key), int64_t(i));
    table.all.push_back(
        {&link, &link.file(index), int64_t(found->keys.size())});
    table.parts.push_back(std::move(part));
    return {};
  };
  PDLRT_RETURN_IF_ERROR(forEachTablePart(checkpoint, symbol, addPart));
  return table;
}

int64_t ShardRows::writtenRows() const {
  int64_t rows = 0;
  for (const LinkedRows::File &file : all)
    rows += file.rows;
  return rows;
}

std::pair<int64_t, int64_t> ShardRows::rowsOf(size_t file, int shard) const {
  return parts[file].rows.of(shard);
}

/// Reads elements [range.first, range.second) of a tensor. The tensor must
/// exist, unless the range is empty.
template <typename T>
static Expected<std::vector<T>> readSome(const LinkedRows::File &file,
                                         const char *name,
                                         std::pair<int64_t, int64_t> range) {
  std::vector<T> some(size_t(range.second - range.first));
  if (!some.empty())
    PDLRT_RETURN_IF_ERROR(file.content->find(name)->read(
        range.first, int64_t(some.size()), some.data()));
  return some;
}

namespace {

/// State of a waiting key according to one file. If no bit is set, the key does
/// not wait.
struct Note {
  int64_t key;
  size_t order;
  WaitingBits bits;
};

} // namespace

Expected<ShardRows::Shard> ShardRows::read(int shard) const {
  // Index of a deletion: the key has no row in this and earlier files.
  constexpr int64_t noRow = -1;
  std::vector<LinkedRows::Row> rows;
  std::vector<Note> notes;
  for (size_t f = 0; f < all.size(); ++f) {
    const LinkedRows::File &file = all[f];
    const Part &part = parts[f];
    const CheckpointPart &entry = file.of->manifest().parts[part.index];
    // A part with complete shards replaces all earlier rows of these shards.
    if (!entry.isChanges && entry.holdsShard(shard)) {
      rows.clear();
      notes.clear();
    }
    const auto erased =
        readSome<int64_t>(file, "erased", part.erased.of(shard));
    if (!erased)
      return erased.status();
    for (int64_t key : *erased) {
      rows.push_back({key, f, noRow});
      notes.push_back({key, 2 * f, WaitingBits()});
    }
    const std::pair<int64_t, int64_t> range = part.rows.of(shard);
    const auto keys = readSome<int64_t>(file, "keys", range);
    if (!keys)
      return keys.status();
    for (size_t i = 0; i < keys->size(); ++i) {
      rows.push_back({(*keys)[i], f, range.first + int64_t(i)});
      // A key with a row does not wait. Complete parts need no such note,
      // because they have cleared `notes`.
      if (entry.isChanges)
        notes.push_back({(*keys)[i], 2 * f, WaitingBits()});
    }
    const auto names = readSome<int64_t>(file, WaitingColumns::keysName,
                                         part.waiting.of(shard));
    if (!names)
      return names.status();
    const auto bits = readSome<int32_t>(file, WaitingColumns::notesName,
                                        part.waiting.of(shard));
    if (!bits)
      return bits.status();
    for (size_t i = 0; i < names->size(); ++i)
      notes.push_back(
          {(*names)[i], 2 * f + 1, WaitingBits(uint32_t((*bits)[i]))});
  }
  std::ranges::sort(rows, [](const auto &a, const auto &b) {
    return std::tie(a.key, a.file) < std::tie(b.key, b.file);
  });
  std::ranges::sort(notes, [](const auto &a, const auto &b) {
    return std::tie(a.key, a.order) < std::tie(b.key, b.order);
  });
  // The last entry of each key is valid.
  const auto isLast = [](const auto &list, size_t i) {
    return i + 1 == list.size() || list[i + 1].key != list[i].key;
  };
  Shard found;
  for (size_t i = 0; i < rows.size(); ++i)
    if (isLast(rows, i) && rows[i].index != noRow)
      found.rows.push_back(rows[i]);
  for (size_t i = 0; i < notes.size(); ++i)
    if (isLast(notes, i) && notes[i].bits.bits() != 0)
      found.waiting.push_back({notes[i].key, notes[i].bits});
  return found;
}
