//===- StateSnapshotTest.cpp - Snapshots during updates -------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checkpoint/SavedModel.h"
#include "Support/BlockProgram.h"
#include "Support/TestFolder.h"

#include "pdlrt/Checkpoint/ModelFile.h"
#include "pdlrt/Checkpoint/State.h"
#include "pdlrt/State/PreparedRows.h"
#include "pdlrt/State/StateDigest.h"
#include "pdlrt/State/Updater.h"
#include "pdlrt/Table/TableSnapshot.h"

#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <thread>
#include <utility>

using namespace pdlrt;
namespace fs = std::filesystem;

namespace {

constexpr int64_t keysOfLargeTable = 30'000;

/// Returns `makeModel` with slots that a rule may have produced.
std::unique_ptr<Model> makeTrained(int64_t keys) {
  auto model = makeModel(3, keys);
  const EmbeddingTable &table = *model->table(SymbolTable);
  RowList rows;
  for (int s = 0; s < EmbeddingTable::shardCount; ++s) {
    table.collectShard(s, rows);
    for (const TableRow &row : rows)
      for (int64_t i = 0; i < 3 * handWrittenWidth; ++i)
        static_cast<float *>(row.row)[i] =
            std::abs(static_cast<float *>(row.row)[i]) + 1;
  }
  return model;
}

/// Updates a model of `makeTrained` with gradients from a seed: parameters,
/// many rows, and some new ones.
class Training {
public:
  Training(Model &model, int64_t keys, int threads)
      : model(model), keys(keys), scheduler(threads),
        updater(model, model.descriptor().programs[0], scheduler) {}

  void step() {
    constexpr int64_t touched = 400, fresh = 20;
    std::vector<int64_t> some;
    for (int64_t i = 0; i < touched; ++i) {
      const int64_t key = int64_t(random() % uint64_t(keys));
      some.push_back(key % 2 ? key : -key * 977);
    }
    for (int64_t i = 0; i < fresh; ++i)
      some.push_back(10'000'000 + next++);
    std::sort(some.begin(), some.end());
    some.erase(std::unique(some.begin(), some.end()), some.end());
    std::vector<void *> rows(some.size());
    int64_t inserted = 0;
    ASSERT_TRUE(model.table(SymbolTable)
                    ->findOrInsert(int64_t(some.size()), some.data(),
                                   rows.data(), scratch, inserted)
                    .ok());
    std::vector<float> gradient(std::max(handWrittenWidth, handWrittenDense));
    for (float &element : gradient)
      element = float(random() % 1000) / 1000;
    const std::vector<const void *> gradients(some.size(), gradient.data());
    PartialSum merged;
    merged.present = true;
    merged.objectives[0].weight = 2;
    merged.blocks.push_back({gradient.data()});
    merged.blocks.push_back({gradient.data()});
    merged.blocks.push_back({nullptr, int64_t(some.size()), some.data(),
                             rows.data(), gradients.data()});
    const Status status = updater.apply(merged);
    ASSERT_TRUE(status.ok()) << status.message();
  }

private:
  Model &model;
  const int64_t keys;
  Scheduler scheduler;
  Updater updater;
  std::mt19937_64 random{7};
  int64_t next = 0;
  TableScratch scratch;
};

/// Expects two checkpoints to have equal parts, byte for byte.
void expectEqual(const TestFolder &folder, const std::string &a,
                 const std::string &b) {
  ASSERT_EQ(filesOf(folder.file(a)), filesOf(folder.file(b)));
  for (const std::string &name : filesOf(folder.file(a)))
    EXPECT_EQ(folder.read(a + "/" + name), folder.read(b + "/" + name)) << name;
}

} // namespace

// This holds for any amount of memory, and for all ways of updating rows.
TEST(StateSnapshot, IsWhatAStoppingSaveWouldHaveWritten) {
  constexpr int64_t keys = 30'000;
  // The parts of the stopping save are written whole, or piece by piece like
  // those of a snapshot. Parameters are copied, or written at once. There is
  // memory for all rows, or for few.
  const TablePartSizes cases[] = {
      {size_t(1) << 18, size_t(1) << 20},
      {size_t(1) << 18, size_t(1) << 20, /*copyLimit=*/1},
      {size_t(1) << 18, /*memory=*/1},
      {size_t(1) << 18, size_t(1) << 20, size_t(1) << 20, /*copied=*/0,
       /*maxCopied=*/0}};
  for (const int32_t untouched : {PDL_UNTOUCHED_LAZY, PDL_UNTOUCHED_DENSE})
    for (const TablePartSizes &sizes : cases) {
      SCOPED_TRACE(testing::Message()
                   << "untouched " << untouched << ", case " << &sizes - cases);
      TestFolder folder;
      Model model(*handWrittenProgram({PDL_F32, untouched}), 3);
      {
        auto filled = makeTrained(keys);
        // Fill a model that has this rule with the same numbers.
        save(*filled, folder.file("first"));
      }
      Expected<Checkpoint> first = Checkpoint::open(folder.file("first"));
      ASSERT_TRUE(first.status().ok());
      const Status restored =
          restoreModel(model, *first, CheckpointUse::Values);
      ASSERT_TRUE(restored.ok()) << restored.message();
      Training training(model, keys, 2);
      for (int round = 0; round < 2; ++round) {
        fs::create_directory(folder.file("beside"));
        fs::create_directory(folder.file("stopping"));
        training.step();
        CheckpointWriter stopping =
            CheckpointWriter::into(folder.file("stopping"));
        ASSERT_TRUE(saveParts(model, "dense", stopping, nullptr, sizes).ok());
        CheckpointWriter background =
            CheckpointWriter::into(folder.file("beside"));
        auto snapshot = StateSnapshot::take(model, "dense", background, sizes);
        ASSERT_TRUE(snapshot.status().ok());
        const uint64_t digest = digestOfState(model);
        std::atomic<bool> isWritten{false};
        Status status;
        std::thread writer([&] {
          status = (*snapshot)->write(background);
          isWritten = true;
        });
        int steps = 0;
        while (!HasFatalFailure() && (!isWritten || steps < 5)) {
          training.step();
          ++steps;
        }
        writer.join();
        ASSERT_TRUE(status.ok()) << status.message();
        snapshot->reset();
        EXPECT_NE(digestOfState(model), digest);
        EXPECT_EQ(model.table(SymbolTable)->snapshot(), nullptr);
        expectEqual(folder, "beside", "stopping");
        ASSERT_EQ(background.addedParts().size(), stopping.addedParts().size());
        for (size_t p = 0; p < background.addedParts().size(); ++p) {
          EXPECT_EQ(background.addedParts()[p].file,
                    stopping.addedParts()[p].file);
          EXPECT_EQ(background.addedParts()[p].digest,
                    stopping.addedParts()[p].digest);
        }
        fs::remove_all(folder.file("beside"));
        fs::remove_all(folder.file("stopping"));
      }
    }
}

namespace {

/// Reports all rows of a list as created for future steps.
class Listed : public PreparedRows {
public:
  explicit Listed(std::vector<TableRow> rows) : rows(std::move(rows)) {}
  void listPrepared(const Visit &visit) const override {
    for (const TableRow &row : rows)
      visit(SymbolTable, row);
  }

private:
  std::vector<TableRow> rows;
};

/// Returns the keys of the table in a checkpoint of parts.
std::vector<int64_t> keysIn(const TestFolder &folder, const std::string &name) {
  std::vector<int64_t> keys;
  for (const std::string &file : filesOf(folder.file(name))) {
    if (!file.starts_with("table-"))
      continue;
    const auto opened = SafetensorsFile::open(folder.file(name + "/" + file));
    const TensorView *of = opened ? opened->find("keys") : nullptr;
    EXPECT_NE(of, nullptr) << file;
    std::vector<int64_t> part(of ? size_t(of->elementCount) : 0);
    EXPECT_TRUE(of && of->copyTo(part.data()).ok());
    keys.insert(keys.end(), part.begin(), part.end());
  }
  std::ranges::sort(keys);
  return keys;
}

} // namespace

// Unused rows are in no kind of save, and are in the next save after their
// first use.
TEST(StateSnapshot, LeavesOutRowsOfStepsToCome) {
  for (const bool isConcurrent : {false, true}) {
    SCOPED_TRACE(isConcurrent);
    Model model(*handWrittenProgram({PDL_F32, PDL_UNTOUCHED_LAZY}), 3);
    EmbeddingTable &table = *model.table(SymbolTable);
    const std::vector<int64_t> keys = {-7, 1, 2, 3, 4, 5};
    std::vector<void *> rows(keys.size());
    TableScratch scratch;
    std::vector<TableRow> made;
    scratch.newRows = &made;
    int64_t inserted = 0;
    ASSERT_TRUE(
        table.findOrInsert(6, keys.data(), rows.data(), scratch, inserted)
            .ok());
    ASSERT_EQ(made.size(), 6u);
    // Of the prepared rows, 4 was used by another step and 5 was written. Row 3
    // is found by its key, like one on a device.
    const auto headerOf = [&](size_t i) -> RowHeader & {
      return table.layout().headerOf(rows[i]);
    };
    for (const size_t used : {0, 1, 4})
      headerOf(used).noteUpdate(1);
    static_cast<float *>(rows[5])[0] += 1;
    const Listed prepared({{2, rows[2]},
                           {3, nullptr},
                           {4, rows[4]},
                           {5, rows[5]},
                           {99, nullptr}});
    model.setPrepared(&prepared);
    EXPECT_EQ(model.tableSize(SymbolTable)->rows, 4);
    TestFolder folder;
    const auto keysOfSave = [&](SavedRows saved) {
      fs::remove_all(folder.file("c"));
      fs::create_directory(folder.file("c"));
      CheckpointWriter writer = CheckpointWriter::into(folder.file("c"));
      if (isConcurrent) {
        auto snapshot = StateSnapshot::take(model, "dense", writer, {}, saved);
        EXPECT_TRUE(snapshot && (*snapshot)->write(writer).ok());
      } else {
        EXPECT_TRUE(saveParts(model, "dense", writer, nullptr, {}, saved).ok());
      }
      return keysIn(folder, "c");
    };
    using Keys = std::vector<int64_t>;
    EXPECT_EQ(keysOfSave(SavedRows::All), (Keys{-7, 1, 4, 5}));
    EXPECT_EQ(keysOfSave(SavedRows::Base), (Keys{-7, 1, 4, 5}));
    // Rows that were left out must still be saved later.
    headerOf(2).noteUpdate(2);
    EXPECT_EQ(keysOfSave(SavedRows::Changed), Keys{2});
    model.setPrepared(nullptr);
    EXPECT_EQ(keysOfSave(SavedRows::Changed), Keys{3});
    EXPECT_EQ(keysOfSave(SavedRows::Changed), Keys{});
    // The same holds for a dump.
    model.setPrepared(&prepared);
    ASSERT_TRUE(dumpModel(model, folder.file("dump"), false).ok());
    const auto dump = readDump(folder.file("dump"));
    ASSERT_TRUE(dump.status().ok());
    for (const auto &[name, tensor] : dump->tensors)
      if (name.ends_with(".keys"))
        EXPECT_EQ(tensor.shape, Keys{5});
    model.setPrepared(nullptr);
  }
}

/// Changes a model while a snapshot with as little memory as possible waits to
/// be written, so that the change has to wait too. `more` is the number of
/// bytes that need not wait.
static void expectToWaitForRoom(size_t more,
                                const std::function<void(Model &)> &change) {
  TestFolder folder;
  auto model = makeTrained(keysOfLargeTable);
  fs::create_directory(folder.file("c"));
  CheckpointWriter writer = CheckpointWriter::into(folder.file("c"));
  TablePartSizes sizes;
  sizes.copyLimit = 1;
  auto snapshot = StateSnapshot::take(*model, "dense", writer, sizes);
  ASSERT_TRUE(snapshot.status().ok());
  const EmbeddingTable &table = *model->table(SymbolTable);
  // The copies need at most the limit, or a 32nd of the table.
  const size_t most =
      size_t(table.size()) * (table.rowBytes() + sizeof(int64_t)) / 32;
  std::atomic<bool> isChanged{false};
  std::thread trainer([&] {
    change(*model);
    isChanged = true;
  });
  // The change waits until a part of the snapshot is read.
  while (!testing::Test::HasFatalFailure() &&
         (*snapshot)->maxCopiedBytes() < most / 4 * 3)
    std::this_thread::yield();
  EXPECT_FALSE(isChanged);
  EXPECT_TRUE((*snapshot)->write(writer).ok());
  trainer.join();
  EXPECT_LE((*snapshot)->maxCopiedBytes(), most + more);
}

TEST(StateSnapshot, KeepsToItsMemory) {
  // New keys of a step need not wait.
  constexpr size_t ofNew = size_t(20) * 2048;
  expectToWaitForRoom(ofNew, [](Model &model) {
    Training training(model, keysOfLargeTable, 1);
    for (int step = 0; step < 50; ++step)
      training.step();
  });
}

TEST(StateSnapshot, RowsThatAreEvictedWaitForRoom) {
  const size_t rowBytes = makeTrained(1)->table(SymbolTable)->rowBytes();
  expectToWaitForRoom(rowBytes, [](Model &model) {
    EmbeddingTable &table = *model.table(SymbolTable);
    const int64_t evicted = table.size() / 2;
    EXPECT_EQ(table.evict(evicted, Eviction::LeastRecent), evicted);
  });
}

// Parameters are copied if they are small compared with the tables, up to a
// limit. Otherwise they are written at once.
TEST(StateSnapshot, CopiesWhatIsNotTooLarge) {
  TestFolder folder;
  auto model = makeTrained(5000);
  TablePartSizes copied, written;
  copied.copied = written.copied = 0;
  written.maxCopied = 0;
  for (const auto &[name, sizes] :
       {std::pair("copied", copied), std::pair("written", written)}) {
    fs::create_directory(folder.file(name));
    CheckpointWriter writer = CheckpointWriter::into(folder.file(name));
    auto snapshot = StateSnapshot::take(*model, "dense", writer, sizes);
    ASSERT_TRUE(snapshot.status().ok());
    EXPECT_EQ(filesOf(folder.file(name)).size(), sizes.maxCopied == 0 ? 1 : 0);
    EXPECT_TRUE((*snapshot)->write(writer).ok());
    EXPECT_THAT(filesOf(folder.file(name)), testing::Contains("dense"));
  }
}

// One table may use the memory of all.
TEST(StateSnapshot, TablesShareTheirMemory) {
  TestFolder folder;
  const BlockProgram program{{}};
  Model model(program.descriptor(), 3);
  std::vector<int64_t> keys(20'000);
  std::iota(keys.begin(), keys.end(), 1);
  std::vector<void *> rows(keys.size());
  TableScratch scratch;
  int64_t inserted = 0;
  for (const int32_t t : {BlockLazy, BlockAll})
    ASSERT_TRUE(model.table(t)
                    ->findOrInsert(int64_t(keys.size()), keys.data(),
                                   rows.data(), scratch, inserted)
                    .ok());
  fs::create_directory(folder.file("c"));
  CheckpointWriter writer = CheckpointWriter::into(folder.file("c"));
  TablePartSizes sizes;
  sizes.copyLimit = size_t(1) << 18;
  auto snapshot = StateSnapshot::take(model, "dense", writer, sizes);
  ASSERT_TRUE(snapshot.status().ok());
  std::thread trainer([&] {
    model.table(BlockAll)->snapshot()->preserve(int64_t(keys.size()),
                                                keys.data(), rows.data());
  });
  while ((*snapshot)->maxCopiedBytes() < sizes.copyLimit / 4 * 3)
    std::this_thread::yield();
  EXPECT_TRUE((*snapshot)->write(writer).ok());
  trainer.join();
  EXPECT_LE((*snapshot)->maxCopiedBytes(), sizes.copyLimit);
}

// If the writer fails, training continues.
TEST(StateSnapshot, AFailureDelaysNone) {
  TestFolder folder;
  auto model = makeTrained(5000);
  TablePartSizes sizes;
  sizes.copyLimit = 1;
  CheckpointWriter writer(folder.file("nowhere/step-000000000001"));
  auto snapshot = StateSnapshot::take(*model, "dense", writer, sizes);
  ASSERT_TRUE(snapshot.status().ok());
  std::thread trainer([&] {
    Training training(*model, 5000, 1);
    for (int step = 0; step < 50; ++step)
      training.step();
  });
  EXPECT_THAT((*snapshot)->write(writer).message(),
              testing::HasSubstr("cannot be written"));
  snapshot->reset();
  trainer.join();
  EXPECT_EQ(model->stepCount(0), 61);
}
