//===- UpdaterTest.cpp - Untouched rows, NaN and infinity -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/State/Updater.h"

#include "Support/HandWrittenProgram.h"
#include "Support/ModelBytes.h"

#include "pdlrt/Kernels/Storage.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <memory>
#include <numeric>

using namespace pdlrt;

namespace {

constexpr int tableCount = 3;
constexpr int64_t width = 2;

void once(const pdl_once_arguments *, void *) {}

/// Adds one and its gradient to each row, which shows rows that are visited
/// twice or not at all, or that get another row's gradient.
int32_t countRows(int64_t rowCount, int64_t rowWidth, void *const *rows,
                  const void *const *gradients, const void *) {
  bool finite = true;
  for (int64_t r = 0; r < rowCount; ++r)
    for (int64_t i = 0; i < rowWidth; ++i)
      finite &= std::isfinite(static_cast<double *>(rows[r])[i] +=
                              1 + static_cast<const double *>(gradients[r])[i]);
  return !finite;
}

/// Program with tables of one group with untouched(dense).
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
      symbol.gradient_width = symbol.row_width;
      symbol.initializer = {PDL_INIT_CONSTANT, 10.0 * t, 0};
      symbol.row_kernel = countRows;
      updates[t] = {t, t, 0};
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
    program.objective_count = 1;
    descriptor.symbol_count = tableCount;
    descriptor.symbols = symbols;
    descriptor.group_count = 1;
    descriptor.groups = &group;
    descriptor.program_count = 1;
    descriptor.programs = &program;
  }
};

/// Step with one key of each table.
struct OneKey {
  explicit OneKey(const Model &model) {
    TableScratch scratch;
    merged.present = true;
    for (int t = 0; t < tableCount; ++t) {
      int64_t inserted = 0;
      EXPECT_TRUE(model.table(t)
                      ->findOrInsert(1, &key, &rows[t], scratch, inserted)
                      .ok());
      merged.blocks.push_back({nullptr, 1, &key, &rows[t], gradients});
    }
  }
  OneKey(const OneKey &) = delete;
  OneKey &operator=(const OneKey &) = delete;
  double first(int table) const {
    return static_cast<const double *>(rows[table])[0];
  }

  const int64_t key = 7;
  const std::vector<double> gradient = std::vector<double>(width, 0.5);
  const void *gradients[1] = {gradient.data()};
  void *rows[tableCount] = {};
  PartialSum merged;
};

} // namespace

TEST(Updater, AnObjectiveWithoutWeightLeavesItsGroupsAlone) {
  Tables tables;
  pdl_group groups[] = {tables.group, tables.group};
  groups[1].name = "other";
  tables.descriptor.groups = groups;
  tables.descriptor.group_count = 2;
  tables.symbols[2].group = 1;
  tables.updates[2].objective = 1;
  tables.program.objective_count = 2;
  Model model(tables.descriptor, 1);
  Scheduler scheduler(1);
  Updater updater(model, tables.program, scheduler);

  OneKey step(model);
  PartialSum &merged = step.merged;
  const auto first = [&](int t) { return step.first(t); };

  merged.objectives = {{0, 2}, {0, 0}};
  ASSERT_TRUE(updater.apply(merged).ok());
  EXPECT_EQ(first(0), 1.5);
  EXPECT_EQ(first(1), 11.5);
  EXPECT_EQ(first(2), 20);
  EXPECT_EQ(model.stepCount(0), 1);
  EXPECT_EQ(model.stepCount(1), 0);

  merged.objectives = {{0, 0}, {0, 2}};
  ASSERT_TRUE(updater.apply(merged).ok());
  EXPECT_EQ(first(0), 1.5);
  EXPECT_EQ(first(2), 21.5);
  EXPECT_EQ(model.stepCount(0), 1);
  EXPECT_EQ(model.stepCount(1), 1);
}

// Symbols without a group are updated by other processes, in any update order.
TEST(Updater, WhatHasNoGroupIsLeftAlone) {
  for (const bool allRows : {false, true}) {
    Tables tables;
    tables.group.untouched = allRows ? PDL_UNTOUCHED_DENSE : PDL_UNTOUCHED_LAZY;
    tables.symbols[1].group = -1;
    Model model(tables.descriptor, 1);
    Scheduler scheduler(1);
    Updater updater(model, tables.program, scheduler);
    OneKey step(model);
    step.merged.objectives = {{0, 2}};
    ASSERT_TRUE(updater.apply(step.merged).ok());
    EXPECT_EQ(step.first(0), 1.5);
    EXPECT_EQ(step.first(1), 10);
    EXPECT_EQ(step.first(2), 21.5);
  }
}

// The headers of rows depend only on merged gradients.
TEST(Updater, HeadersSayWhatWasUsedAndWritten) {
  for (const bool allRows : {false, true}) {
    Tables tables;
    tables.group.untouched = allRows ? PDL_UNTOUCHED_DENSE : PDL_UNTOUCHED_LAZY;
    Model model(tables.descriptor, 1);
    Scheduler scheduler(1);
    Updater updater(model, tables.program, scheduler);
    const std::vector<int64_t> keys = {7, -9, 4};
    const std::vector<double> gradient(width, 0.5);
    const std::vector<const void *> gradients(keys.size(), gradient.data());
    std::vector<std::vector<void *>> rows(tableCount,
                                          std::vector<void *>(keys.size()));
    TableScratch scratch;
    PartialSum merged;
    merged.present = true;
    merged.objectives = {{0, 1}};
    for (int t = 0; t < tableCount; ++t) {
      int64_t inserted = 0;
      ASSERT_TRUE(
          model.table(t)
              ->findOrInsert(3, keys.data(), rows[t].data(), scratch, inserted)
              .ok());
      for (void *row : rows[t])
        model.table(t)->layout().headerOf(row).noteSaved();
      // The third key is in no batch.
      merged.blocks.push_back(
          {nullptr, 2, keys.data(), rows[t].data(), gradients.data()});
    }
    for (int step = 0; step < 3; ++step) {
      ASSERT_TRUE(updater.apply(merged).ok());
      model.quiesce();
    }
    // A restored row is as old as a new one.
    model.restoreStepCount(0, 7 * Model::updatesOfTime);
    model.quiesce();
    EXPECT_EQ(model.table(0)->time(), 0);
    for (int64_t i = 0; i < 5 * Model::updatesOfTime; ++i)
      model.countStep(0);
    ASSERT_TRUE(updater.apply(merged).ok());
    model.quiesce();
    merged.blocks[0].keyCount = 1;
    ASSERT_TRUE(updater.apply(merged).ok());
    const RowLayout &layout = model.table(0)->layout();
    EXPECT_EQ(layout.headerOf(rows[0][0]).uses(), 5u);
    EXPECT_EQ(layout.headerOf(rows[0][0]).lastUse(), 5);
    EXPECT_EQ(layout.headerOf(rows[0][1]).uses(), 4u);
    EXPECT_EQ(layout.headerOf(rows[0][1]).lastUse(), 0);
    EXPECT_TRUE(layout.headerOf(rows[0][1]).isDirty());
    EXPECT_EQ(layout.headerOf(rows[0][2]).uses(), 0u);
    EXPECT_EQ(layout.headerOf(rows[0][2]).isDirty(), allRows);
  }
}

// The tables' shards are updated concurrently without disturbing each other.
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
  PartialSum merged;
  merged.present = true;
  merged.objectives[0].weight = 1;
  for (int t = 0; t < tableCount; ++t) {
    rows[t].resize(keyCount);
    int64_t inserted = 0;
    ASSERT_TRUE(model.table(t)
                    ->findOrInsert(keyCount, keys.data(), rows[t].data(),
                                   scratch, inserted)
                    .ok());
    ASSERT_EQ(inserted, keyCount);
    // Table t uses the keys from 1000 t on.
    merged.blocks.push_back({nullptr, touchedCount, keys.data() + 1000 * t,
                             rows[t].data() + 1000 * t, gradients.data()});
  }
  for (int step = 0; step < steps; ++step)
    ASSERT_TRUE(updater.apply(merged).ok());

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

//===----------------------------------------------------------------------===//
// 16-bit values
//===----------------------------------------------------------------------===//

/// Expects the updater to give the same rows as the rule's kernel on each row
/// alone: in f32, rounded with the bits of its key and of the update.
template <typename Stored>
static void expectRoundedUpdates(ProgramVariant variant, int threads) {
  constexpr int64_t keyCount = 3000, touchedCount = 1100;
  constexpr int64_t elements = 3 * handWrittenWidth;
  const pdl_descriptor &descriptor = *handWrittenProgram(variant);
  const pdl_symbol &symbol = descriptor.symbols[SymbolTable];
  Model model(descriptor, 21);
  EmbeddingTable &table = *model.table(SymbolTable);
  Scheduler scheduler(threads);
  Updater updater(model, descriptor.programs[0], scheduler);
  model.restoreStepCount(symbol.group, 4);

  std::vector<int64_t> keys(keyCount);
  std::iota(keys.begin(), keys.end(), -100);
  std::vector<void *> rows(keyCount);
  TableScratch scratch;
  int64_t inserted = 0;
  ASSERT_TRUE(
      table.findOrInsert(keyCount, keys.data(), rows.data(), scratch, inserted)
          .ok());
  std::vector<float> gradient(touchedCount * handWrittenWidth);
  for (size_t i = 0; i < gradient.size(); ++i)
    gradient[i] = 0.001f * std::sin(float(i));
  std::vector<const void *> gradients;
  for (int64_t i = 0; i < touchedCount; ++i)
    gradients.push_back(gradient.data() + i * handWrittenWidth);
  const std::vector<float> zeros(handWrittenDense);
  const float untouched[handWrittenWidth] = {};
  PartialSum merged;
  merged.present = true;
  merged.objectives[0].weight = 2;
  merged.blocks.resize(2);
  merged.blocks[0].dense = merged.blocks[1].dense = zeros.data();
  merged.blocks.push_back(
      {nullptr, touchedCount, keys.data(), rows.data(), gradients.data()});

  // Like the model, but in f32.
  std::vector<float> wide(keyCount * elements);
  const size_t slotsAt = table.valueBytes();
  for (int64_t k = 0; k < keyCount; ++k) {
    widenStored(variant.storage, handWrittenWidth, rows[k],
                &wide[k * elements]);
    std::memcpy(&wide[k * elements + handWrittenWidth],
                static_cast<const char *>(rows[k]) + slotsAt,
                table.rowBytes() - slotsAt);
  }
  const bool allRows = variant.untouched == PDL_UNTOUCHED_DENSE;
  const pdl_group &group = descriptor.groups[symbol.group];
  alignas(16) char scalars[256];
  for (int64_t update = 5; update < 8; ++update) {
    pdl_once_arguments arguments = {double(update), 2, 0, 1};
    if (variant.clipped) {
      std::vector<double> norms;
      ASSERT_TRUE(updater.begin(merged).ok());
      for (double norm : updater.partialNorms(2, merged))
        arguments.squared_norm += norm;
      norms.assign(1, arguments.squared_norm);
      ASSERT_TRUE(updater.finish(merged, norms).ok());
    } else {
      ASSERT_TRUE(updater.apply(merged).ok());
    }
    group.once(&arguments, scalars);
    for (int64_t k = 0; k < (allRows ? keyCount : touchedCount); ++k) {
      float *row = &wide[k * elements];
      void *place = row;
      const void *own = k < touchedCount ? gradients[k] : untouched;
      ASSERT_EQ(symbol.row_kernel(1, handWrittenWidth, &place, &own, scalars),
                0);
      Stored rounded[handWrittenWidth];
      place = rounded;
      pdlabi::roundRows<Stored>({21, symbol.id, update}, 1, handWrittenWidth,
                                handWrittenWidth, &keys[k], row, &place);
      std::copy(std::begin(rounded), std::end(rounded), row);
    }
    for (int64_t k = 0; k < keyCount; ++k) {
      const auto *stored = static_cast<const Stored *>(rows[k]);
      for (int64_t i = 0; i < handWrittenWidth; ++i)
        ASSERT_EQ(float(stored[i]), wide[k * elements + i]) << keys[k];
      ASSERT_EQ(std::memcmp(static_cast<const char *>(rows[k]) + slotsAt,
                            &wide[k * elements + handWrittenWidth],
                            table.rowBytes() - slotsAt),
                0)
          << keys[k];
    }
  }
}

TEST(Updater, ValuesOfSixteenBitsAreRoundedAtRandom) {
  for (int32_t untouched : {PDL_UNTOUCHED_LAZY, PDL_UNTOUCHED_DENSE})
    for (bool clipped : {false, true})
      for (int threads : {1, 3}) {
        ProgramVariant variant;
        variant.untouched = untouched;
        variant.clipped = clipped;
        variant.storage = PDL_STORE_BF16;
        expectRoundedUpdates<pdlabi::BFloat16>(variant, threads);
        variant.storage = PDL_STORE_F16;
        expectRoundedUpdates<pdlabi::Float16>(variant, threads);
      }
}

/// A schedule that ends after the second step.
static void onceEnding(const pdl_once_arguments *arguments, void *scalars) {
  auto *out = static_cast<double *>(scalars);
  out[0] = arguments->weight;
  out[1] = arguments->step > 2 ? 0 : 0.5;
}

TEST(Updater, WarnsOnceOfARateOfZero) {
  static const pdl_scalar scalars[] = {{"sum of weights", 1}, {"rate", 0}};
  Tables tables;
  tables.group.name = "ending";
  tables.group.once = onceEnding;
  tables.group.scalar_count = 2;
  tables.group.scalars = scalars;
  Model model(tables.descriptor, 1);
  Scheduler scheduler(1);
  Updater updater(model, tables.program, scheduler),
      other(model, tables.program, scheduler);
  OneKey step(model);
  step.merged.objectives[0].weight = 1;
  const auto logOf = [&](Updater &one) {
    testing::internal::CaptureStderr();
    const Status status = one.apply(step.merged);
    EXPECT_TRUE(status.ok()) << status.message();
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(logOf(updater), "");
  EXPECT_EQ(logOf(updater), "");
  const std::string log = logOf(updater);
  EXPECT_THAT(log, testing::HasSubstr("group @ending: the learning rate is 0"));
  EXPECT_THAT(log, testing::HasSubstr("--init-values-only"));
  EXPECT_EQ(logOf(updater), "");
  // Another worker of the model does not repeat the warning.
  EXPECT_EQ(logOf(other), "");
}

/// Rises to 1 at step 50, and falls by step 101 to the default end of
/// @one_cycle.
static void onceCycle(const pdl_once_arguments *arguments, void *scalars) {
  auto *out = static_cast<double *>(scalars);
  const double step = arguments->step;
  out[0] = arguments->weight;
  out[1] = step <= 50    ? step / 50
           : step <= 100 ? std::max((100 - step) / 50, 8e-6)
                         : 4e-6;
}
/// Falls in each step, but never ends.
static void onceHalving(const pdl_once_arguments *arguments, void *scalars) {
  auto *out = static_cast<double *>(scalars);
  out[0] = arguments->weight;
  out[1] = std::pow(0.5, arguments->step);
}
/// Ends at a floor with which training continues.
static void onceFloor(const pdl_once_arguments *arguments, void *scalars) {
  auto *out = static_cast<double *>(scalars);
  out[0] = arguments->weight;
  out[1] = arguments->step > 10 ? 1e-3 : 1;
}

TEST(Updater, WarnsOnceOfAScheduleThatIsOver) {
  static const pdl_scalar scalars[] = {{"sum of weights", 1}, {"rate", 0}};
  const auto logOf = [&](const char *name, decltype(&onceCycle) once,
                         int64_t before, int64_t steps) {
    Tables tables;
    tables.group.name = name;
    tables.group.once = once;
    tables.group.scalar_count = 2;
    tables.group.scalars = scalars;
    Model model(tables.descriptor, 1);
    model.restoreStepCount(0, before);
    Scheduler scheduler(1);
    Updater updater(model, tables.program, scheduler);
    OneKey step(model);
    step.merged.objectives[0].weight = 1;
    testing::internal::CaptureStderr();
    for (int64_t i = 0; i < steps; ++i)
      EXPECT_TRUE(updater.apply(step.merged).ok());
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(logOf("planned", onceCycle, 0, 100), "");
  const std::string log = logOf("cycle", onceCycle, 0, 103);
  EXPECT_THAT(log, testing::HasSubstr("group @cycle: the learning rate is "
                                      "4e-06 from here on, after 1 before"));
  EXPECT_THAT(log, testing::HasSubstr("--init-values-only"));
  EXPECT_EQ(std::ranges::count(log, '\n'), 1);
  // A run that resumes later has not seen the larger rates.
  EXPECT_THAT(logOf("later", onceCycle, 200, 1),
              testing::HasSubstr("group @later: the learning rate is 4e-06"));
  EXPECT_EQ(logOf("halving", onceHalving, 0, 100), "");
  EXPECT_EQ(logOf("floor", onceFloor, 0, 100), "");
}

//===----------------------------------------------------------------------===//
// NaN and infinity
//===----------------------------------------------------------------------===//

namespace {

/// The weight, and a learning rate that starts at 2 and falls by 1 with each
/// step; a weight of 1000 makes it infinite.
void onceFalling(const pdl_once_arguments *arguments, void *scalars) {
  auto *out = static_cast<float *>(scalars);
  out[0] = float(arguments->weight);
  out[1] = arguments->weight == 1000 ? std::numeric_limits<float>::infinity()
                                     : float(3 - arguments->step);
}

/// value += gradient / rate; slot += 1.
int32_t divideByRate(int64_t count, float *value, float *slot,
                     const float *gradient, const void *scalars) {
  const float rate = static_cast<const float *>(scalars)[1];
  bool finite = true;
  for (int64_t i = 0; i < count; ++i) {
    value[i] += gradient[i] / rate;
    slot[i] += 1;
    finite &= std::isfinite(value[i]) && std::isfinite(slot[i]);
  }
  return !finite;
}

int32_t divideElements(int64_t count, void *const *state, const void *gradient,
                       const void *scalars) {
  return divideByRate(count, static_cast<float *>(state[0]),
                      static_cast<float *>(state[1]),
                      static_cast<const float *>(gradient), scalars);
}

int32_t divideRows(int64_t rowCount, int64_t rowWidth, void *const *rows,
                   const void *const *gradients, const void *scalars) {
  int32_t found = 0;
  for (int64_t r = 0; r < rowCount; ++r) {
    auto *value = static_cast<float *>(rows[r]);
    found |= divideByRate(rowWidth, value, value + rowWidth,
                          static_cast<const float *>(gradients[r]), scalars);
  }
  return found;
}

/// A parameter of four elements and a table, in one group.
class NotFiniteTest : public testing::TestWithParam<pdl_untouched_kind> {
protected:
  static constexpr int64_t largeCount = 40;

  NotFiniteTest() {
    static const int64_t shapes[][1] = {{4}, {width}};
    static const char *const slotNames[] = {"count"};
    static const double slotValues[] = {0};
    static const pdl_scalar scalars[] = {{"sum of weights", 1}, {"rate", 1}};
    static const pdl_update_descriptor updates[] = {{0, -1, 0}, {1, 0, 0}};
    static const pdl_lookup_descriptor lookups[] = {{1}};
    for (int32_t s = 0; s < 2; ++s) {
      pdl_symbol &symbol = symbols[s];
      symbol.struct_size = sizeof(symbol);
      symbol.name = s == 0 ? "w" : "emb";
      symbol.id = uint64_t(s) + 1;
      symbol.kind = s == 0 ? PDL_SYMBOL_PARAMETER : PDL_SYMBOL_TABLE;
      symbol.rank = 1;
      symbol.shape = shapes[s];
      symbol.row_count = 1;
      symbol.row_width = shapes[s][0];
      symbol.gradient_width = symbol.row_width;
      symbol.slot_count = 1;
      symbol.slot_names = slotNames;
      symbol.slot_initial_values = slotValues;
    }
    symbols[0].dense_kernel = divideElements;
    symbols[1].row_kernel = divideRows;
    group.struct_size = sizeof(group);
    group.name = "all";
    group.untouched = GetParam();
    group.clip = -1;
    group.scalar_count = 2;
    group.scalars = scalars;
    group.once = onceFalling;
    program.struct_size = sizeof(program);
    program.name = "train";
    program.lookup_count = 1;
    program.lookups = lookups;
    program.update_count = 2;
    program.updates = updates;
    program.objective_count = 1;
    descriptor.symbol_count = 2;
    descriptor.symbols = symbols;
    descriptor.group_count = 1;
    descriptor.groups = &group;
    descriptor.program_count = 1;
    descriptor.programs = &program;
    model = std::make_unique<Model>(descriptor, 1);
    updater = std::make_unique<Updater>(*model, program, scheduler);

    std::iota(std::begin(keys), std::end(keys), 100);
    TableScratch scratch;
    int64_t inserted = 0;
    EXPECT_TRUE(model->table(1)
                    ->findOrInsert(largeCount, keys, rows, scratch, inserted)
                    .ok());
    for (int64_t i = 0; i < largeCount; ++i)
      rowPointers[i] = rowGradients[i];
    merged.present = true;
    merged.objectives[0].weight = 1;
    merged.blocks = {{gradient, 0, nullptr, nullptr, nullptr},
                     {nullptr, largeCount, keys, rows, rowPointers}};
  }

  pdl_symbol symbols[2] = {};
  pdl_group group = {};
  pdl_program program = {};
  pdl_descriptor descriptor = {};
  Scheduler scheduler{2};
  std::unique_ptr<Model> model;
  std::unique_ptr<Updater> updater;
  float gradient[4] = {1, 1, 1, 1};
  float rowGradients[largeCount][width] = {};
  int64_t keys[largeCount];
  void *rows[largeCount];
  const void *rowPointers[largeCount];
  PartialSum merged;
};

} // namespace

TEST_P(NotFiniteTest, ScalarsAreTestedBeforeAnythingIsWritten) {
  auto refuses = [&](const char *message) {
    const std::vector<char> before = stateOf(*model);
    const int64_t steps = model->stepCount(0);
    const Status status = updater->apply(merged);
    EXPECT_THAT(status.message(), testing::HasSubstr(message));
    EXPECT_THAT(status.message(), testing::HasSubstr("nothing of this step"));
    EXPECT_EQ(stateOf(*model), before);
    EXPECT_EQ(model->stepCount(0), steps);
  };
  ASSERT_TRUE(updater->apply(merged).ok());
  merged.objectives[0].weight = 1000;
  refuses("group @all cannot be updated at its step 2: its rate is inf;");
  merged.objectives[0].weight = std::numeric_limits<double>::infinity();
  refuses("at its step 2: the sum of weights is inf;");
  // Rounded to the group's type.
  merged.objectives[0].weight = 1e40;
  refuses("at its step 2: its sum of weights is inf;");
  merged.objectives[0].weight = 1e-50;
  refuses("its sum of weights is 0, by which its rule divides;");
  merged.objectives[0].weight = 1;
  ASSERT_TRUE(updater->apply(merged).ok());
  refuses("at its step 3: its rate is 0, by which its rule divides;");
}

TEST_P(NotFiniteTest, NewValuesOfParametersAreTested) {
  gradient[2] = std::numeric_limits<float>::infinity();
  EXPECT_THAT(
      updater->apply(merged).message(),
      testing::HasSubstr("the rule of group @all gave @w a value or slot "
                         "that is not finite at the group's step 1;"));
}

TEST_P(NotFiniteTest, NewValuesOfRowsAreTestedByKey) {
  rowGradients[17][1] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(updater->apply(merged).message(),
              testing::HasSubstr("gave key 117 of @emb a value or slot"));
}

TEST_P(NotFiniteTest, SlotsAreTestedToo) {
  static_cast<float *>(rows[5])[width] = std::numeric_limits<float>::infinity();
  EXPECT_THAT(updater->apply(merged).message(),
              testing::HasSubstr("key 105 of @emb"));
}

INSTANTIATE_TEST_SUITE_P(Updater, NotFiniteTest,
                         testing::Values(PDL_UNTOUCHED_LAZY,
                                         PDL_UNTOUCHED_DENSE));

//===----------------------------------------------------------------------===//
// Rules that reduce over rows
//===----------------------------------------------------------------------===//

static constexpr int64_t longRows = 5000, longWidth = 7;

/// Sets the value to the row's first gradient; the row slot counts.
static int32_t countWholeRows(int64_t count, void *const *state,
                              const void *gradient, const void *) {
  // Accepts only whole rows.
  if (count % longWidth)
    return 1;
  auto *value = static_cast<float *>(state[0]);
  auto *touched = static_cast<float *>(state[1]);
  auto *sums = static_cast<const float *>(gradient);
  for (int64_t row = 0; row < count / longWidth; ++row) {
    for (int64_t i = 0; i < longWidth; ++i)
      value[row * longWidth + i] = sums[row * longWidth];
    touched[row] += 1;
  }
  return 0;
}

TEST(Updater, CutsParametersIntoWholeRows) {
  static const int64_t shape[] = {longRows, longWidth};
  static const char *const slotNames[] = {"touched"};
  static const double slotValues[] = {0};
  static const pdl_scalar scalars[] = {{"sum of weights", 1}, {"rate", 1}};
  static const pdl_update_descriptor updates[] = {{0, -1, 0}};
  pdl_symbol symbol = {};
  symbol.struct_size = sizeof(symbol);
  symbol.name = "w";
  symbol.kind = PDL_SYMBOL_PARAMETER;
  symbol.rank = 2;
  symbol.shape = shape;
  symbol.row_count = longRows;
  symbol.row_width = longWidth;
  symbol.gradient_width = symbol.row_width;
  symbol.slot_count = 1;
  symbol.slot_names = slotNames;
  symbol.slot_initial_values = slotValues;
  symbol.row_slot_count = 1;
  symbol.kernel_unit = PDL_UNIT_ROW;
  symbol.dense_kernel = countWholeRows;
  pdl_group group = {};
  group.struct_size = sizeof(group);
  group.name = "all";
  group.clip = -1;
  group.scalar_count = 2;
  group.scalars = scalars;
  group.once = onceFalling;
  pdl_program program = {};
  program.struct_size = sizeof(program);
  program.update_count = 1;
  program.updates = updates;
  pdl_descriptor descriptor = {};
  descriptor.symbol_count = 1;
  descriptor.symbols = &symbol;
  descriptor.group_count = 1;
  descriptor.groups = &group;
  descriptor.program_count = 1;
  descriptor.programs = &program;
  Model model(descriptor, 1);
  EXPECT_EQ(model.heldElements(0), longRows * longWidth);
  EXPECT_EQ(model.heldElements(0, 1), longRows);
  Scheduler scheduler(2);
  Updater updater(model, program, scheduler);

  std::vector<float> gradient(longRows * longWidth);
  std::iota(gradient.begin(), gradient.end(), 0.0f);
  PartialSum merged;
  merged.present = true;
  merged.objectives[0].weight = 1;
  merged.blocks = {{gradient.data(), 0, nullptr, nullptr, nullptr}};
  const Status status = updater.apply(merged);
  ASSERT_TRUE(status.ok()) << status.message();
  const auto *value = static_cast<const float *>(model.value(0));
  const auto *touched = static_cast<const float *>(model.slot(0, 0));
  for (int64_t row = 0; row < longRows; ++row) {
    ASSERT_EQ(touched[row], 1) << row;
    for (int64_t i = 0; i < longWidth; ++i)
      ASSERT_EQ(value[row * longWidth + i], float(row * longWidth)) << row;
  }
}
