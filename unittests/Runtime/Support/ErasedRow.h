//===- ErasedRow.h - Whether steps end at quiescent points ------*- C++ -*-===//
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

namespace pdlrt::test {

/// Makes a row of a key that no test uses and erases it. No thread uses the
/// table meanwhile.
class ErasedRow {
public:
  explicit ErasedRow(EmbeddingTable &table) : table(table) {
    row = insert();
    EXPECT_EQ(table.erase(1, &key, scratch), 1);
  }
  /// Whether some key has that row now, which two quiescent points allow.
  bool isUsedAgain() {
    (void)insert();
    std::vector<TableRow> rows;
    bool found = false;
    for (int shard = 0; shard < EmbeddingTable::shardCount; ++shard) {
      table.collectShard(shard, rows);
      for (const TableRow &each : rows)
        found |= each.row == row;
    }
    EXPECT_EQ(table.erase(1, &key, scratch), 1);
    return found;
  }

private:
  void *insert() {
    void *made = nullptr;
    int64_t inserted = 0;
    EXPECT_TRUE(table.findOrInsert(1, &key, &made, scratch, inserted).ok());
    return made;
  }

  EmbeddingTable &table;
  const int64_t key = -987654321987654321;
  TableScratch scratch;
  void *row;
};

} // namespace pdlrt::test

#endif // PDL_UNITTESTS_RUNTIME_SUPPORT_ERASEDROW_H
