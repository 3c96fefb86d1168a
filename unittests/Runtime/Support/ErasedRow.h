//===- ErasedRow.h - Detects quiescent points of steps ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_UNITTESTS_RUNTIME_SUPPORT_ERASEDROW_H
#define PDL_UNITTESTS_RUNTIME_SUPPORT_ERASEDROW_H

#include "pdlrt/Table/EmbeddingTable.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace pdlrt::test {

/// Creates and erases rows of a key that no test uses. No other thread may use
/// the table meanwhile.
class ErasedRow {
public:
  explicit ErasedRow(EmbeddingTable &table) : table(table) { erase(insert()); }
  /// Returns true if some key gets a row that was erased in an earlier call,
  /// which requires two quiescent points.
  bool isUsedAgain() {
    void *made = insert();
    RowList rows;
    bool found = false;
    for (int shard = 0; shard < EmbeddingTable::shardCount; ++shard) {
      table.collectShard(shard, rows);
      for (const TableRow &each : rows)
        found |= erased.contains(each.row);
    }
    erase(made);
    return found;
  }

private:
  void erase(void *row) {
    EXPECT_EQ(table.erase(1, &key, scratch), 1);
    erased.insert(row);
  }
  void *insert() {
    void *made = nullptr;
    int64_t inserted = 0;
    EXPECT_TRUE(table.findOrInsert(1, &key, &made, scratch, inserted).ok());
    return made;
  }

  EmbeddingTable &table;
  const int64_t key = -987654321987654321;
  TableScratch scratch;
  std::set<void *> erased;
};

} // namespace pdlrt::test

#endif // PDL_UNITTESTS_RUNTIME_SUPPORT_ERASEDROW_H
