//===- SortedRowsTest.cpp - Rows of a table by key ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Checkpoint/SortedRows.h"

#include "Checkpoint/ChangedModel.h"
#include "Support/TestFolder.h"
#include "pdlrt/Checkpoint/Merge.h"
#include "pdlrt/Checkpoint/State.h"

#include <gmock/gmock.h>

#include <cstring>

using namespace pdlrt;
using testing::HasSubstr;

namespace {

/// Keys and the bytes of their rows.
using Rows = std::vector<std::pair<int64_t, std::string>>;

/// Returns the rows of a part of the table in a checkpoint, or an error message
/// as the only row.
Rows rowsOf(const Checkpoint &checkpoint, size_t part, KeyOrder order,
            size_t memory) {
  const CheckpointSymbol &symbol = checkpoint.manifest().symbols[SymbolTable];
  Expected<SortedRows> rows =
      SortedRows::open(checkpoint, symbol, part, order, memory);
  Rows found;
  if (!rows)
    return {{0, rows.status().message()}};
  for (;;) {
    const Expected<bool> more = rows->next();
    if (!more)
      return {{0, more.status().message()}};
    if (!*more)
      return found;
    found.emplace_back(
        rows->key(), std::string(reinterpret_cast<const char *>(rows->values()),
                                 rows->elements().bytes()));
  }
}

/// Returns the rows of the state in memory, in the same form.
Rows rowsOf(const ModelState &state, const std::string &part) {
  const StateTensor &keys = state.tensors.at("emb.keys");
  const StateTensor &values = state.tensors.at("emb." + part);
  Rows rows;
  const size_t count = keys.bytes.size() / sizeof(int64_t);
  for (size_t i = 0; i < count; ++i) {
    int64_t key;
    std::memcpy(&key, keys.bytes.data() + i * sizeof(key), sizeof(key));
    const size_t bytes = values.bytes.size() / count;
    rows.emplace_back(
        key, std::string(reinterpret_cast<const char *>(values.bytes.data()) +
                             i * bytes,
                         bytes));
  }
  return rows;
}

/// Checks with little memory and with much.
void expectRows(const std::string &path, size_t little = size_t(1) << 18) {
  const Expected<Checkpoint> checkpoint = Checkpoint::open(path);
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
  const Expected<ModelState> state = stateOf(*checkpoint);
  ASSERT_TRUE(state.ok()) << state.status().message();
  const CheckpointSymbol &symbol = checkpoint->manifest().symbols[SymbolTable];
  for (size_t part = 0; part <= symbol.slots.size(); ++part)
    for (const size_t memory : {little, size_t(1) << 28}) {
      Rows expected =
          rowsOf(*state, part ? "slot." + symbol.slots[part - 1] : "values");
      EXPECT_EQ(rowsOf(*checkpoint, part, KeyOrder::Signed, memory), expected);
      std::ranges::sort(expected, {},
                        [](const auto &row) { return uint64_t(row.first); });
      EXPECT_EQ(rowsOf(*checkpoint, part, KeyOrder::Unsigned, memory),
                expected);
    }
}

} // namespace

TEST(SortedRows, AreThoseOfTheState) {
  for (const TablePartSizes &sizes :
       {TablePartSizes(), TablePartSizes{size_t(1) << 17}}) {
    TestFolder folder;
    auto model = makeTrained();
    Changes changes(*model, 1);
    Chain chain(folder);
    for (int64_t steps = 1; steps <= 4; ++steps) {
      SCOPED_TRACE(steps);
      changes.step();
      chain.save(*model, steps, steps > 1, sizes);
      expectRows(chain.pathOf(steps));
    }
    // Rows of a process that has written all its rows again hide the earlier
    // ones.
    changes.step();
    CheckpointWriter writer(chain.pathOf(5));
    CheckpointManifest manifest = chain.manifestOf(5, true);
    ASSERT_TRUE(
        saveModel(*model, writer, manifest, nullptr, SavedRows::Base).ok());
    chain.commit(writer, std::move(manifest));
    expectRows(chain.pathOf(5));
    changes.step();
    chain.save(*model, 6, true, sizes);
    expectRows(chain.pathOf(6), 1);
  }
}

TEST(SortedRows, OfNoneAreNone) {
  TestFolder folder;
  const Model model(*handWrittenProgram({}), 3);
  save(model, folder.file("c"));
  const Expected<Checkpoint> checkpoint = Checkpoint::open(folder.file("c"));
  ASSERT_TRUE(checkpoint.ok());
  EXPECT_TRUE(rowsOf(*checkpoint, 0, KeyOrder::Signed, 1).empty());
}

TEST(SortedRows, RefuseKeysThatAreNotInTheirPlace) {
  const auto messageOf = [](const ChangeKeys &change) {
    TestFolder folder;
    const Chain chain = makeBaseAndDelta(folder);
    writeOtherKeys(chain.pathOf(2), change);
    const Expected<Checkpoint> checkpoint = Checkpoint::open(chain.pathOf(2));
    EXPECT_TRUE(checkpoint.ok()) << checkpoint.status().message();
    const Rows rows = rowsOf(*checkpoint, 0, KeyOrder::Signed, 1 << 20);
    return rows.front().second;
  };
  EXPECT_THAT(
      messageOf([](auto &keys, auto &) { std::swap(keys[0], keys[100]); }),
      HasSubstr("is not in its place; the checkpoint is damaged"));
  EXPECT_THAT(messageOf([](auto &keys, auto &) { keys[1] = keys[0]; }),
              HasSubstr("is not in its place"));
  EXPECT_THAT(
      messageOf([](auto &, auto &erased) { erased.push_back(erased[0]); }),
      HasSubstr("is not in its place"));
  EXPECT_THAT(messageOf([](auto &keys, auto &erased) {
                erased = {keys[keys.size() / 2]};
              }),
              HasSubstr("has a row, and is erased"));
}
