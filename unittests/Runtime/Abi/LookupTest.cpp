//===- LookupTest.cpp - Deduplication and pulls of generated code ---------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlabi/abi/calls.h"
#include "pdlrt/Abi/Worker.h"
#include "pdlrt/Table/KeyIndex.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

using namespace pdlrt;

/// Checks every array of a lookup against its ids.
static void checkLookup(const std::vector<std::vector<int64_t>> &inputs,
                        const pdl_lookup &lookup) {
  std::vector<int64_t> all;
  for (const std::vector<int64_t> &input : inputs)
    all.insert(all.end(), input.begin(), input.end());
  std::map<int64_t, std::vector<int32_t>> places;
  std::vector<int64_t> order;
  for (size_t o = 0; o < all.size(); ++o) {
    if (!places.count(all[o]))
      order.push_back(all[o]);
    places[all[o]].push_back(int32_t(o));
  }
  ASSERT_EQ(lookup.occurrence_count, int64_t(all.size()));
  ASSERT_EQ(std::vector<int64_t>(lookup.keys, lookup.keys + lookup.key_count),
            order);
  EXPECT_EQ(lookup.key_splits[0], 0);
  for (int64_t u = 0; u < lookup.key_count; ++u) {
    std::vector<int32_t> group(lookup.occurrences + lookup.key_splits[u],
                               lookup.occurrences + lookup.key_splits[u + 1]);
    EXPECT_EQ(group, places[order[u]]);
    for (int32_t o : group)
      EXPECT_EQ(lookup.inverse[o], u);
  }
  EXPECT_EQ(lookup.key_splits[lookup.key_count], lookup.occurrence_count);
}

static int32_t unique(Worker &worker,
                      const std::vector<std::vector<int64_t>> &inputs,
                      pdl_lookup &lookup) {
  std::vector<const int64_t *> ids;
  std::vector<int64_t> counts;
  for (const std::vector<int64_t> &input : inputs) {
    ids.push_back(input.data());
    counts.push_back(int64_t(input.size()));
  }
  return pdlrt_unique(&worker, int32_t(ids.size()), ids.data(), counts.data(),
                      &lookup);
}

TEST(Unique, KeysInOrderOfFirstOccurrence) {
  Worker worker;
  std::vector<std::vector<std::vector<int64_t>>> cases = {
      {{}},
      {{}, {}},
      {{0}},
      {{3, 1, 3, 0, -1, 1}},
      {{5, 5, 5}, {}, {5, 4}, {4, 5, 9}},
  };
  for (const auto &inputs : cases) {
    worker.beginStep();
    pdl_lookup lookup;
    ASSERT_EQ(unique(worker, inputs, lookup), PDL_OK);
    checkLookup(inputs, lookup);
  }
}

TEST(Unique, ReusedForLargerAndSmallerBatches) {
  Worker worker;
  uint64_t state = 1;
  for (int round = 0; round < 60; ++round) {
    worker.beginStep();
    std::vector<std::vector<int64_t>> inputs(3);
    const int64_t size = round % 5 == 0 ? 4000 : 10 + round;
    for (auto &input : inputs)
      for (int64_t i = 0; i < size; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        input.push_back(int64_t(state >> 40) % (size / 2 + 1) - 5);
      }
    pdl_lookup lookup;
    ASSERT_EQ(unique(worker, inputs, lookup), PDL_OK);
    checkLookup(inputs, lookup);
  }
}

TEST(Unique, LookupsOfOneStepDoNotDisturbEachOther) {
  Worker worker;
  worker.beginStep();
  std::vector<std::vector<int64_t>> a = {{1, 2, 1}}, b = {{7, 7, 1, 9}};
  pdl_lookup first, second;
  ASSERT_EQ(unique(worker, a, first), PDL_OK);
  ASSERT_EQ(unique(worker, b, second), PDL_OK);
  checkLookup(a, first);
  checkLookup(b, second);
}

TEST(Unique, TheSameIdsAgain) {
  using Inputs = std::vector<std::vector<int64_t>>;
  const Inputs first = {{5, 4, 5}, {}, {5, 9}};
  // Inputs that are the same with other boundaries; then inputs with the same
  // start only.
  const std::vector<Inputs> cases = {
      first,    {{5, 4, 5, 5, 9}},   {{5, 4, 5}, {5, 9, 9}}, {{5, 4, 5}},
      {{}, {}}, {{5, 4, 5}, {5, 4}}, {{5, 4, 5}, {5, 7}},    {{4, 5, 5, 5, 9}}};
  Worker worker;
  for (const Inputs &inputs : cases) {
    worker.beginStep();
    pdl_lookup before, again, last;
    ASSERT_EQ(unique(worker, first, before), PDL_OK);
    ASSERT_EQ(unique(worker, inputs, again), PDL_OK);
    ASSERT_EQ(unique(worker, inputs, last), PDL_OK);
    EXPECT_NE(before.keys, again.keys);
    EXPECT_NE(last.keys, again.keys);
    checkLookup(first, before);
    checkLookup(inputs, again);
    checkLookup(inputs, last);
  }
}

TEST(Unique, WhatHasFailedIsNotCopied) {
  Worker worker;
  worker.beginStep();
  const int64_t *ids[1] = {nullptr};
  const int64_t counts[1] = {-1};
  pdl_lookup failed, lookup;
  EXPECT_NE(pdlrt_unique(&worker, 1, ids, counts, &failed), PDL_OK);
  ASSERT_EQ(unique(worker, {{}}, lookup), PDL_OK);
  checkLookup({{}}, lookup);
}

TEST(Unique, TooManyIdsAreAnError) {
  Worker worker;
  const int64_t *ids[2] = {nullptr, nullptr};
  const int64_t counts[2] = {int64_t(1) << 30, int64_t(1) << 30};
  pdl_lookup lookup;
  EXPECT_EQ(pdlrt_unique(&worker, 2, ids, counts, &lookup),
            PDL_INVALID_ARGUMENT);
  EXPECT_NE(std::strstr(pdlrt_last_error(),
                        "use smaller batches (a trainer's --batch-size)"),
            nullptr)
      << pdlrt_last_error();
}

namespace {

/// A table used by a worker.
struct Pulls {
  explicit Pulls(int32_t unknown) {
    TableOptions options;
    options.width = 2;
    options.initializer = {PDL_INIT_UNIFORM, 1, 2};
    options.slotInitialValues = {0};
    table = createHashTable(options);
    tables[1] = table.get();
    symbols[1].kind = PDL_SYMBOL_TABLE;
    symbols[1].unknown = unknown;
  }
  /// Deduplicates and pulls one list of ids in its own step.
  pdl_lookup pull(bool frozen, const std::vector<int64_t> &ids) {
    worker.bind(symbols, tables, 2, frozen);
    worker.beginStep();
    pdl_lookup lookup;
    EXPECT_EQ(unique(worker, {ids}, lookup), PDL_OK);
    EXPECT_EQ(pdlrt_pull(&worker, 1, &lookup), PDL_OK);
    worker.findRows();
    return lookup;
  }

  pdl_symbol symbols[2] = {};
  EmbeddingTable *tables[2] = {};
  std::unique_ptr<EmbeddingTable> table;
  Worker worker;
};

const float *values(const pdl_lookup &lookup, int64_t key) {
  return static_cast<const float *>(lookup.rows[key]);
}

} // namespace

TEST(Pull, TrainingInsertsAndReturnsTheSameRows) {
  Pulls pulls(PDL_UNKNOWN_INITIAL);
  pdl_lookup first = pulls.pull(false, {4, 0, 4});
  ASSERT_EQ(first.key_count, 2);
  void *row = first.rows[0];
  float expected[2];
  pulls.table->initialValue(4, expected);
  EXPECT_EQ(values(first, 0)[1], expected[1]);
  pdl_lookup second = pulls.pull(false, {9, 4});
  EXPECT_EQ(second.rows[1], row);
  EXPECT_EQ(pulls.worker.pullCounts().inserted, 3);
  EXPECT_EQ(pulls.worker.pullCounts().ids, 5);
  EXPECT_EQ(pulls.worker.pullCounts().keys, 4);
}

TEST(Pull, FrozenSeesInitialValuesAndInsertsNothing) {
  Pulls pulls(PDL_UNKNOWN_INITIAL);
  pdl_lookup trained = pulls.pull(false, {4});
  static_cast<float *>(trained.rows[0])[0] = 77;
  pdl_lookup lookup = pulls.pull(true, {5, 4, 5, 6});
  EXPECT_EQ(values(lookup, 1)[0], 77);
  for (int64_t u : {0, 2}) {
    float expected[2];
    pulls.table->initialValue(lookup.keys[u], expected);
    EXPECT_EQ(values(lookup, u)[0], expected[0]);
    EXPECT_EQ(values(lookup, u)[1], expected[1]);
  }
  EXPECT_EQ(pulls.table->size(), 1);
  EXPECT_EQ(pulls.worker.pullCounts().unknownInitial, 3);
  EXPECT_EQ(pulls.worker.pullCounts().unknownZero, 0);
}

TEST(Pull, FrozenSeesZerosWhereTheTableSaysSo) {
  Pulls pulls(PDL_UNKNOWN_ZERO);
  pdl_lookup lookup = pulls.pull(true, {5, 4, 5});
  for (int64_t u : {0, 1})
    for (int j : {0, 1})
      EXPECT_EQ(values(lookup, u)[j], 0);
  EXPECT_EQ(pulls.worker.pullCounts().unknownZero, 3);
  EXPECT_EQ(pulls.worker.pullCounts().unknownInitial, 0);
}

TEST(Pull, WrongSymbolOrLookupIsAnError) {
  Pulls pulls(PDL_UNKNOWN_INITIAL);
  pdl_lookup lookup = pulls.pull(false, {1});
  EXPECT_EQ(pdlrt_pull(&pulls.worker, 0, &lookup), PDL_INTERNAL);
  EXPECT_EQ(pdlrt_pull(&pulls.worker, 2, &lookup), PDL_INTERNAL);
  pulls.worker.beginStep();
  EXPECT_EQ(pdlrt_pull(&pulls.worker, 1, &lookup), PDL_INTERNAL);
}

// A table on servers has no rows here, so a pull only reserves memory for
// pointers.
TEST(Pull, OfATableOnServersOnlyNotesTheLookup) {
  pdl_symbol symbols[2] = {};
  symbols[0].kind = PDL_SYMBOL_TABLE;
  symbols[1].kind = PDL_SYMBOL_PARAMETER;
  EmbeddingTable *const tables[2] = {};
  for (bool frozen : {false, true}) {
    Worker worker;
    worker.bind(symbols, tables, 2, frozen);
    worker.beginStep();
    pdl_lookup lookup;
    ASSERT_EQ(unique(worker, {{7, 8, 7}}, lookup), PDL_OK);
    ASSERT_EQ(pdlrt_pull(&worker, 0, &lookup), PDL_OK);
    ASSERT_NE(lookup.rows, nullptr);
    EXPECT_EQ(lookup.rows[0], nullptr);
    EXPECT_EQ(lookup.rows[1], nullptr);
    EXPECT_EQ(worker.findLookup(lookup)->rows.data(), lookup.rows);
    EXPECT_EQ(worker.pullCounts().ids, 3);
    EXPECT_EQ(worker.pullCounts().keys, 2);
    EXPECT_EQ(worker.pullCounts().unknownInitial, 0);
    EXPECT_NE(pdlrt_pull(&worker, 1, &lookup), PDL_OK);
  }
}
