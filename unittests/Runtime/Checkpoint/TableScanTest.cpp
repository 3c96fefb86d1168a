//===- TableScanTest.cpp - Reads all rows of a saved table ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Checkpoint/TableScan.h"

#include "Checkpoint/ChangedModel.h"
#include "Support/TestFolder.h"
#include "pdlrt/Checkpoint/State.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

using namespace pdlrt;

namespace {

/// Elements of a row: of the values and of each slot.
using Elements = std::vector<std::vector<double>>;

/// Returns the rows of the state in memory, by key.
std::map<int64_t, Elements> rowsOf(const ModelState &state,
                                   const CheckpointSymbol &symbol) {
  const StateTensor &keys = state.tensors.at("emb.keys");
  const size_t count = keys.bytes.size() / sizeof(int64_t);
  std::map<int64_t, Elements> rows;
  for (size_t i = 0; i < count; ++i) {
    int64_t key;
    std::memcpy(&key, keys.bytes.data() + i * sizeof(key), sizeof(key));
    for (size_t part = 0; part <= symbol.slots.size(); ++part) {
      const StateTensor &tensor = state.tensors.at(
          part ? "emb.slot." + symbol.slots[part - 1] : "emb.values");
      const size_t width = tensor.bytes.size() / count / sizeof(float);
      std::vector<float> elements(width);
      std::memcpy(elements.data(),
                  tensor.bytes.data() + i * width * sizeof(float),
                  width * sizeof(float));
      rows[key].emplace_back(elements.begin(), elements.end());
    }
  }
  return rows;
}

/// Checks the rows of a checkpoint with little memory and with much.
void expectRows(const std::string &path) {
  const Expected<Checkpoint> checkpoint = Checkpoint::open(path);
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
  const Expected<ModelState> state = stateOf(*checkpoint);
  ASSERT_TRUE(state.ok()) << state.status().message();
  const CheckpointSymbol &symbol = checkpoint->manifest().symbols[SymbolTable];
  const std::map<int64_t, Elements> expected = rowsOf(*state, symbol);
  const Expected<TableScan> scan = TableScan::open(*checkpoint, symbol);
  ASSERT_TRUE(scan.ok()) << scan.status().message();
  for (const size_t memory : {size_t(1), TableScan::defaultMemory}) {
    std::map<int64_t, Elements> found;
    const Status status = scan->forEach(
        [&](const ScannedRow &row) -> Status {
          Elements elements = {row.values};
          for (size_t s = 0; s < symbol.slots.size(); ++s)
            elements.push_back(symbol.isRowSlot(s)
                                   ? row.slots[s]
                                   : expected.at(row.key)[s + 1]);
          EXPECT_TRUE(found.emplace(row.key, std::move(elements)).second);
          EXPECT_TRUE(std::filesystem::exists(row.file));
          return {};
        },
        memory);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(found, expected);
  }
  int checked = 0;
  for (const auto &[key, elements] : expected) {
    if (++checked % 500 != 0)
      continue;
    const Expected<std::optional<ScannedRow>> row = scan->find(key);
    ASSERT_TRUE(row.ok() && row->has_value()) << row.status().message();
    Elements all = {(*row)->values};
    all.insert(all.end(), (*row)->slots.begin(), (*row)->slots.end());
    EXPECT_EQ(all, elements);
    EXPECT_FALSE((*row)->isWaiting);
  }
}

} // namespace

TEST(TableScan, ReadsTheRowsOfTheState) {
  TestFolder folder;
  auto model = makeTrained();
  Changes changes(*model, 1);
  Chain chain(folder);
  for (int64_t steps = 1; steps <= 3; ++steps) {
    SCOPED_TRACE(steps);
    changes.step();
    chain.save(*model, steps, steps > 1, TablePartSizes{size_t(1) << 17});
    expectRows(chain.pathOf(steps));
  }
}

TEST(TableScan, FindsNoErasedRow) {
  TestFolder folder;
  auto model = makeTrained();
  Changes changes(*model, 1);
  Chain chain(folder);
  chain.save(*model, 1, false);
  int64_t erased = 1;
  TableScratch scratch;
  model->table(SymbolTable)->erase(1, &erased, scratch);
  model->table(SymbolTable)->quiesce(0);
  chain.save(*model, 2, true);
  for (int64_t steps = 1; steps <= 2; ++steps) {
    const Expected<Checkpoint> checkpoint =
        Checkpoint::open(chain.pathOf(steps));
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
    const Expected<TableScan> scan = TableScan::open(
        *checkpoint, checkpoint->manifest().symbols[SymbolTable]);
    ASSERT_TRUE(scan.ok()) << scan.status().message();
    const Expected<std::optional<ScannedRow>> row = scan->find(erased);
    ASSERT_TRUE(row.ok()) << row.status().message();
    EXPECT_EQ(row->has_value(), steps == 1);
  }
}

TEST(TableScan, StopsAtAnError) {
  TestFolder folder;
  auto model = makeTrained();
  Chain chain(folder);
  chain.save(*model, 1, false);
  const Expected<Checkpoint> checkpoint = Checkpoint::open(chain.pathOf(1));
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
  const Expected<TableScan> scan =
      TableScan::open(*checkpoint, checkpoint->manifest().symbols[SymbolTable]);
  ASSERT_TRUE(scan.ok()) << scan.status().message();
  int visited = 0;
  const Status status = scan->forEach([&](const ScannedRow &) {
    return ++visited == 3 ? Status::invalidArgument("enough") : Status();
  });
  EXPECT_EQ(status.message(), "enough");
  EXPECT_EQ(visited, 3);
}
