//===- LinkedRows.cpp - Locations of a table's rows in files --------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checkpoint/LinkedRows.h"

#include "Checkpoint/KeyPlaces.h"
#include "pdlrt/Table/EmbeddingTable.h"

#include <algorithm>
#include <tuple>

using namespace pdlrt;

/// Row index of an entry that erases a key: the key's rows in earlier files are
/// obsolete. A row in the same file is newer than the erasure.
static constexpr int64_t noRow = -1;

/// Adds a part of a table. The parts of all predecessors must have been added.
static Status addPart(const Checkpoint &link, size_t index,
                      LinkedRows &linked) {
  const CheckpointPart &part = link.manifest().parts[index];
  const SafetensorsFile &file = link.file(index);
  if (link.isDelta() && !part.isChanges) {
    const size_t before = linked.rows.size();
    for (size_t i = 0; i < before; ++i)
      if (part.holdsShard(EmbeddingTable::shardOf(linked.rows[i].key)))
        linked.rows.push_back({linked.rows[i].key, linked.files.size(), noRow});
  }
  const Expected<PartKeys> found = keysOf(link, index);
  if (!found)
    return found.status();
  for (int64_t key : found->erased)
    linked.rows.push_back({key, linked.files.size(), noRow});
  const std::vector<int64_t> &keys = found->keys;
  for (size_t i = 0; i < keys.size(); ++i)
    linked.rows.push_back({keys[i], linked.files.size(), int64_t(i)});
  linked.files.push_back({&link, &file, int64_t(keys.size())});
  return {};
}

/// Keeps the last row of each key, and removes keys whose last entry is an
/// erasure.
static void keepLast(std::vector<LinkedRows::Row> &rows) {
  std::ranges::sort(rows, [](const auto &a, const auto &b) {
    return std::tie(a.key, a.file, a.index) < std::tie(b.key, b.file, b.index);
  });
  size_t kept = 0;
  for (size_t i = 0; i < rows.size(); ++i)
    if ((i + 1 == rows.size() || rows[i + 1].key != rows[i].key) &&
        rows[i].index != noRow)
      rows[kept++] = rows[i];
  rows.resize(kept);
}

Expected<LinkedRows> pdlrt::linkRows(const Checkpoint &checkpoint,
                                     const std::string &symbol) {
  LinkedRows linked;
  PDLRT_RETURN_IF_ERROR(forEachTablePart(
      checkpoint, symbol, [&](const Checkpoint &link, size_t index) {
        return addPart(link, index, linked);
      }));
  keepLast(linked.rows);
  return linked;
}
