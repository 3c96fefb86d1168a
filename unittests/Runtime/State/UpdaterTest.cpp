//===- UpdaterTest.cpp - Rows that no sample touched ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/State/Updater.h"

#include <cmath>
#include <gtest/gtest.h>
#include <numeric>

using namespace pdlrt;

namespace {

constexpr int tableCount = 3;
constexpr int64_t width = 2;

void once(const pdl_once_arguments *, void *) {}

/// Each row rises by one and its gradient: a row that is met twice, not at all,
/// or with another row's gradient shows it.
void countRows(int64_t rowCount, int64_t rowWidth, void *const *rows,
               const void *const *gradients, const void *) {
  for (int64_t r = 0; r < rowCount; ++r)
    for (int64_t i = 0; i < rowWidth; ++i)
      static_cast<double *>(rows[r])[i] +=
          1 + static_cast<const double *>(gradients[r])[i];
}

/// Tables of one group under untouched(dense), in one program.
struct Tables {
  pdl_symbol symbols[tableCount] = {};
  pdl_group group = {};
  pdl_update_descriptor updates[tableCount];
  pdl_lookup_descriptor lookups[tableCount];
  pdl_program program = {};
  pdl_descriptor descriptor = {};

  Tables() {
    static const char *const names[tableCount] = {"a", "b", "c"};
    static const int64_t shape[] = {width};
    for (int32_t t = 0; t < tableCount; ++t) {
      pdl_symbol &symbol = symbols[t];
      symbol.struct_size = sizeof(symbol);
      symbol.name = names[t];
      symbol.id = uint64_t(t) + 1;
      symbol.kind = PDL_SYMBOL_TABLE;
      symbol.element_type = PDL_F64;
      symbol.rank = 1;
      symbol.shape = shape;
      symbol.row_count = 1;
      symbol.row_width = width;
      symbol.initializer = {PDL_INIT_CONSTANT, 10.0 * t, 0};
      symbol.row_kernel = countRows;
      updates[t] = {t, t};
      lookups[t] = {t};
    }
    group.struct_size = sizeof(group);
    group.name = "all";
    group.untouched = PDL_UNTOUCHED_DENSE;
    group.clip = -1;
    group.element_type = PDL_F64;
    group.once = once;
    program.struct_size = sizeof(program);
    program.name = "train";
    program.lookup_count = program.update_count = tableCount;
    program.lookups = lookups;
    program.updates = updates;
    program.has_loss = 1;
    descriptor.symbol_count = tableCount;
    descriptor.symbols = symbols;
    descriptor.group_count = 1;
    descriptor.groups = &group;
    descriptor.program_count = 1;
    descriptor.programs = &program;
  }
};

} // namespace

// The tables' shards are updated side by side; none may disturb another's.
TEST(Updater, EachRowOfSeveralDenseTablesIsUpdatedOnce) {
  constexpr int64_t keyCount = 20000, touchedCount = 500;
  constexpr int steps = 5;
  Tables tables;
  Model model(tables.descriptor, 1);
  Scheduler scheduler(4);
  Updater updater(model, tables.program, scheduler);

  std::vector<int64_t> keys(keyCount);
  std::iota(keys.begin(), keys.end(), -keyCount / 2);
  std::vector<void *> rows[tableCount];
  TableScratch scratch;
  std::vector<double> gradient(touchedCount * width);
  std::iota(gradient.begin(), gradient.end(), 0.5);
  std::vector<const void *> gradients(touchedCount);
  for (int64_t i = 0; i < touchedCount; ++i)
    gradients[i] = gradient.data() + i * width;
  Contribution merged;
  merged.present = true;
  merged.weightSum = 1;
  for (int t = 0; t < tableCount; ++t) {
    rows[t].resize(keyCount);
    int64_t inserted = 0;
    ASSERT_TRUE(model.table(t)
                    ->findOrInsert(keyCount, keys.data(), rows[t].data(),
                                   scratch, inserted)
                    .ok());
    ASSERT_EQ(inserted, keyCount);
    // Table t touches the keys from 1000 t on.
    merged.blocks.push_back({nullptr, touchedCount, keys.data() + 1000 * t,
                             rows[t].data() + 1000 * t, gradients.data()});
  }
  for (int step = 0; step < steps; ++step)
    updater.apply(merged);

  EXPECT_EQ(model.stepCount(0), steps);
  for (int t = 0; t < tableCount; ++t)
    for (int64_t k = 0; k < keyCount; ++k) {
      const int64_t place = k - 1000 * t;
      const bool touched = place >= 0 && place < touchedCount;
      for (int64_t i = 0; i < width; ++i)
        ASSERT_EQ(static_cast<double *>(rows[t][k])[i],
                  10.0 * t +
                      steps * (1 + (touched ? gradient[place * width + i] : 0)))
            << "table " << t << ", key " << keys[k];
    }
}
