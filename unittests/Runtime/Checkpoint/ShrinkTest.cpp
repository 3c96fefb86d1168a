//===- ShrinkTest.cpp - Checkpoints without expired rows ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Checkpoint/Shrink.h"

#include "Checkpoint/ChangedModel.h"
#include "Support/TestFolder.h"

#include "pdlabi/admission.h"
#include "pdlrt/Checkpoint/State.h"

#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <cstring>
#include <set>

using namespace pdlrt;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

constexpr int64_t every = 10, unseen = 2, admission = 3;
constexpr double decay = 0.3, least = 0.2;
constexpr std::array<double, 3> weights = {0.25, 0.5, 0};

/// Hand-written program with a table that has feature admission and eviction.
/// Its row slots show, click and period follow the slots of the program.
struct LivingProgram {
  LivingProgram(int32_t type, bool byScore)
      : descriptor(*handWrittenProgram({type})) {
    symbols.assign(descriptor.symbols,
                   descriptor.symbols + descriptor.symbol_count);
    pdl_symbol &table = symbols[SymbolTable];
    table.slot_count = 5;
    table.slot_names = names;
    table.slot_initial_values = zeros;
    table.row_slot_count = 3;
    table.admission = byScore ? PDL_ADMIT_SCORE : PDL_ADMIT_COUNT;
    table.admission_count = admission;
    table.admission_score = admission;
    if (byScore)
      parts.push_back(
          {PDL_PART_TRAINING, "admission of @emb", "by score 3 of show * 1"});
    table.shrink_every = every;
    table.shrink_unseen = unseen;
    table.score_weights = weights.data();
    table.shrink_decay = decay;
    table.shrink_least = least;
    descriptor.symbols = symbols.data();
    parts.insert(parts.begin(), descriptor.parts,
                 descriptor.parts + descriptor.part_count);
    group = std::string("@") + descriptor.groups[table.group].name;
    parts.push_back({PDL_PART_TRAINING, "group of @emb", group.c_str()});
    parts.push_back({PDL_PART_TRAINING, "shrinking of @emb",
                     "every 10 unseen 2 decay 0.3"});
    descriptor.parts = parts.data();
    descriptor.part_count = int32_t(parts.size());
  }
  LivingProgram(const LivingProgram &) = delete;

  static constexpr const char *names[] = {"m", "v", "show", "click", "period"};
  static constexpr double zeros[5] = {};
  pdl_descriptor descriptor;
  std::vector<pdl_symbol> symbols;
  std::vector<pdl_part> parts;
  std::string group;
};

/// Returns options that equal the clause of the program.
ShrinkOptions asTheClause() {
  ShrinkOptions options;
  options.unseen = unseen;
  options.score = {{"click", weights[1]}, {"show", weights[0]}};
  options.decay = decay;
  options.least = least;
  return options;
}

/// Model with a table in which no period ends by itself.
class Life {
public:
  explicit Life(int32_t type, bool byScore = false)
      : program(type, byScore), byScore(byScore), model(program.descriptor, 3),
        table(*model.table(SymbolTable)) {
    table.trackErased(true);
  }

  /// Runs up to `end` steps in total.
  void liveUntil(int64_t end) {
    for (; steps < end; model.restoreStepCount(1, ++steps))
      step();
  }

  LivingProgram program;
  /// If true, keys are admitted by score. Each occurrence has a third of the
  /// required score.
  const bool byScore;
  Model model;
  EmbeddingTable &table;

private:
  void step() {
    // Some keys occur in every step, but most only for some time.
    std::set<int64_t> drawn;
    for (int i = 0; i < 200; ++i) {
      const auto number = int64_t(random() % 300);
      drawn.insert(number < 20 ? -number : 100 * (steps / 7) + number);
    }
    const std::vector<int64_t> keys(drawn.begin(), drawn.end());
    std::vector<int64_t> occurrences;
    for (size_t i = 0; i < keys.size(); ++i)
      occurrences.push_back((1 + int64_t(random() % 2)) *
                            (byScore ? pdlabi::scoreUnits(1, admission) : 1));
    std::vector<void *> rows(keys.size());
    TableScratch scratch;
    int64_t inserted = 0;
    ASSERT_TRUE(table
                    .admit(int64_t(keys.size()), keys.data(),
                           occurrences.data(), rows.data(), scratch, inserted)
                    .ok());
    for (size_t i = 0; i < keys.size(); ++i) {
      if (!rows[i])
        continue;
      addToSlot(rows[i], 0, double(occurrences[i]));
      addToSlot(rows[i], 1, double(random() % 3) / 7);
      table.options().setPeriod(rows[i], steps / every);
      table.layout().headerOf(rows[i]).noteWrite();
    }
  }

  void addToSlot(void *row, size_t slot, double more) {
    const TableOptions &options = table.options();
    if (options.elementType == PDL_F64)
      addTo<double>(row, slot, more);
    else
      addTo<float>(row, slot, more);
  }
  template <typename T> void addTo(void *row, size_t slot, double more) {
    char *at = static_cast<char *>(row) + table.rowBytes() -
               (weights.size() - slot) * sizeof(T);
    T value;
    std::memcpy(&value, at, sizeof(T));
    value += T(more);
    std::memcpy(at, &value, sizeof(T));
  }

  std::mt19937_64 random{5};
  int64_t steps = 0;
};

void expectSameFiles(const TestFolder &folder, const std::string &one,
                     const std::string &other) {
  ASSERT_EQ(filesOf(folder.file(one)), filesOf(folder.file(other)));
  // Compare without printing the bytes on a failure.
  for (const std::string &name : filesOf(folder.file(one)))
    EXPECT_TRUE(folder.read(one + "/" + name) ==
                folder.read(other + "/" + name))
        << name;
}

void saveAs(const Model &model, const std::string &path, int64_t steps,
            const TablePartSizes &sizes) {
  CheckpointWriter writer(path);
  CheckpointManifest manifest;
  manifest.progress.steps = steps;
  manifest.settings = {{"--rows", "0:100%"}};
  describeModel(model, manifest);
  ASSERT_TRUE(
      saveParts(model, "dense.safetensors", writer, nullptr, sizes).ok());
  ASSERT_TRUE(writer.commit(std::move(manifest)).ok());
}

Expected<std::vector<ShrunkTable>> shrinkAs(const std::string &from,
                                            const std::string &to,
                                            const ShrinkOptions &options,
                                            const TablePartSizes &sizes = {}) {
  const Expected<Checkpoint> checkpoint = Checkpoint::open(from);
  EXPECT_TRUE(checkpoint.ok()) << checkpoint.status().message();
  return shrinkCheckpoint(*checkpoint, to, options, sizes);
}

/// Returns the table's keys in a checkpoint: of rows, or of waiting keys.
std::vector<int64_t> keysOf(const std::string &path, const char *name) {
  const Expected<ModelState> state = stateOf(*Checkpoint::open(path));
  EXPECT_TRUE(state.ok()) << state.status().message();
  const StateTensor &tensor = state->tensors.at(name);
  std::vector<int64_t> keys(tensor.bytes.size() / sizeof(int64_t));
  std::memcpy(keys.data(), tensor.bytes.data(), tensor.bytes.size());
  std::ranges::sort(keys);
  return keys;
}

/// Rewrites a checkpoint with changed bytes of one tensor and correct
/// checksums. The table must have one part.
void writeOther(const std::string &path, const std::string &name,
                const std::function<void(std::vector<std::byte> &)> &change) {
  std::map<std::string, SafetensorsWriter> files;
  CheckpointManifest manifest;
  {
    const Expected<Checkpoint> checkpoint = Checkpoint::openAlone(path);
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
    manifest = checkpoint->manifest();
    for (size_t p = 0; p < manifest.parts.size(); ++p)
      for (const TensorView &tensor : checkpoint->file(p).tensors()) {
        std::vector<std::byte> bytes(tensor.byteSize());
        ASSERT_TRUE(tensor.copyTo(bytes.data()).ok());
        if (tensor.name == name)
          change(bytes);
        ASSERT_TRUE(
            files[manifest.parts[p].file]
                .addCopy(tensor.name, tensor.type, tensor.shape, bytes.data())
                .ok());
      }
  }
  CheckpointWriter writer(path);
  for (const CheckpointPart &part : std::exchange(manifest.parts, {}))
    ASSERT_TRUE(writer.addPart(part, files[part.file]).ok());
  ASSERT_TRUE(writer.commit(std::move(manifest)).ok());
}

} // namespace

// The result equals, byte for byte, the checkpoint that is saved after the end
// of the period.
TEST(Shrink, IsWhatTheClauseDoes) {
  for (const auto &[type, byScore] :
       {std::pair(PDL_F32, false), std::pair(PDL_F64, false),
        std::pair(PDL_F32, true)})
    for (const TablePartSizes &sizes :
         {TablePartSizes(), TablePartSizes{size_t(1) << 14}}) {
      SCOPED_TRACE(type);
      TestFolder folder;
      Life life(type, byScore);
      life.liveUntil(50);
      saveAs(life.model, folder.file("before"), 50, sizes);
      const int64_t rows = life.table.size(),
                    waiting = life.table.waitingCount();
      const int64_t gone = life.table.beginPeriod(5);
      saveAs(life.model, folder.file("clause"), 50, sizes);
      const auto shrunk = shrinkAs(
          folder.file("before"), folder.file("command"), asTheClause(), sizes);
      ASSERT_TRUE(shrunk.ok()) << shrunk.status().message();
      expectSameFiles(folder, "command", "clause");
      EXPECT_GT(filesOf(folder.file("command")).size(),
                size_t(sizes.bytesInPart > 1 << 20 ? 2 : 4));
      ASSERT_EQ(shrunk->size(), size_t(1));
      EXPECT_EQ(shrunk->front().table, "emb");
      EXPECT_EQ(shrunk->front().rows, rows);
      EXPECT_EQ(shrunk->front().rowsLeft, rows - gone);
      EXPECT_EQ(shrunk->front().waiting, waiting);
      EXPECT_EQ(shrunk->front().waitingLeft, life.table.waitingCount());
      EXPECT_GT(gone, 100);
      EXPECT_GT(rows - gone, 100);
      EXPECT_LT(shrunk->front().waitingLeft, waiting);
      EXPECT_GT(shrunk->front().waitingLeft, 0);
      // A training can resume from the result.
      Model restored(life.program.descriptor, 3);
      ASSERT_TRUE(restoreModel(restored,
                               *Checkpoint::open(folder.file("command")),
                               CheckpointUse::Training)
                      .ok());
      EXPECT_EQ(restored.table(SymbolTable)->size(), rows - gone);
      EXPECT_EQ(restored.table(SymbolTable)->waitingCount(),
                life.table.waitingCount());
      EXPECT_EQ(restored.table(SymbolTable)->period(), 5);
    }
}

TEST(Shrink, TakesDeltasWithAllBeforeThem) {
  TestFolder folder;
  Life life(PDL_F32);
  Chain chain(folder);
  int64_t now = 0;
  for (const bool isDelta : {false, true, true, false, true, true}) {
    life.liveUntil(now += 8);
    TableScratch scratch;
    RowList rows;
    for (int s = 0; rows.empty(); ++s)
      life.table.collectShard(s, rows);
    life.table.erase(1, &rows.front().key, scratch);
    life.table.quiesce(0);
    chain.save(life.model, now, isDelta, {size_t(1) << 14});
    fs::remove_all(folder.file("now"));
    saveAs(life.model, folder.file("now"), now, {size_t(1) << 14});
    // A whole save ends the tracking of erased keys.
    life.table.trackErased(true);
    for (const auto &[from, to] : {std::pair(folder.file("now"), "whole"),
                                   std::pair(chain.pathOf(now), "delta")}) {
      fs::remove_all(folder.file(to));
      const auto shrunk =
          shrinkAs(from, folder.file(to), asTheClause(), {size_t(1) << 14});
      ASSERT_TRUE(shrunk.ok()) << shrunk.status().message();
    }
    expectSameFiles(folder, "whole", "delta");
  }
}

// A key that occurred in the current period is not unseen.
TEST(Shrink, CountsWholePeriods) {
  TestFolder folder;
  Life life(PDL_F32);
  life.liveUntil(47);
  saveAs(life.model, folder.file("before"), 47, {});
  std::vector<int64_t> rows, waiting;
  for (int s = 0; s < EmbeddingTable::shardCount; ++s) {
    RowList ofShard;
    life.table.collectShard(s, ofShard);
    for (const TableRow &row : ofShard)
      if (3 - life.table.options().periodOf(row.row) < 2)
        rows.push_back(row.key);
    std::vector<WaitingKey> notes;
    life.table.collectWaiting(s, false, false, notes);
    for (const WaitingKey &each : notes)
      if (each.bits.age(4) < 3)
        waiting.push_back(each.key);
  }
  std::ranges::sort(rows);
  std::ranges::sort(waiting);
  ShrinkOptions options;
  options.unseen = 2;
  ASSERT_TRUE(
      shrinkAs(folder.file("before"), folder.file("after"), options).ok());
  EXPECT_EQ(keysOf(folder.file("after"), "emb.keys"), rows);
  EXPECT_EQ(keysOf(folder.file("after"), "emb.waiting.keys"), waiting);
  EXPECT_LT(rows.size(), keysOf(folder.file("before"), "emb.keys").size());
  // In the first period all keys are young.
  Life young(PDL_F32);
  young.liveUntil(9);
  saveAs(young.model, folder.file("young"), 9, {});
  options.unseen = 1;
  ASSERT_TRUE(
      shrinkAs(folder.file("young"), folder.file("same"), options).ok());
  expectSameFiles(folder, "young", "same");
}

TEST(Shrink, RefusesWhatNoTableHas) {
  TestFolder folder;
  save(*makeModel(3, 100), folder.file("plain"));
  ShrinkOptions options;
  options.unseen = 2;
  EXPECT_THAT(shrinkAs(folder.file("plain"), folder.file("new"), options)
                  .status()
                  .message(),
              AllOf(HasSubstr("plain: no table has periods"),
                    HasSubstr("leave --unseen out")));
  Life life(PDL_F32);
  life.liveUntil(5);
  saveAs(life.model, folder.file("life"), 5, {});
  for (const char *name : {"period", "m", "sale"}) {
    ShrinkOptions ofName;
    ofName.score = {{"show", 1}, {name, 1}};
    ofName.least = 1;
    EXPECT_THAT(
        shrinkAs(folder.file("life"), folder.file("new"), ofName)
            .status()
            .message(),
        HasSubstr(
            std::string("life: no table has row slots show, ") + name +
            ", of which a score is asked; name some of these (a period "
            "is none of a score): @emb: show, @emb: click, @emb: period"));
  }
  EXPECT_THAT(filesOf(folder.file("")), ElementsAre("life", "plain"));
}

// Each way of reading detects the wrong periods, although the checksums are
// correct.
TEST(Shrink, RefusesPeriodsThatAreNone) {
  for (const float period :
       {std::nanf(""), -1.f, 1e30f, -std::numeric_limits<float>::infinity()}) {
    TestFolder folder;
    Life life(PDL_F32);
    life.liveUntil(12);
    saveAs(life.model, folder.file("life"), 12, {});
    writeOther(folder.file("life"), "slot.period",
               [&](std::vector<std::byte> &bytes) {
                 std::memcpy(bytes.data() + 40, &period, sizeof(period));
               });
    const Expected<Checkpoint> checkpoint =
        Checkpoint::open(folder.file("life"));
    Model restored(life.program.descriptor, 3);
    for (const std::string &message :
         {restoreModel(restored, *checkpoint, CheckpointUse::Training)
              .message(),
          shrinkAs(folder.file("life"), folder.file("new"), asTheClause())
              .status()
              .message()})
      EXPECT_THAT(message, AllOf(HasSubstr("life: "), HasSubstr("@emb: key "),
                                 HasSubstr("last update in a period that is "
                                           "none; the checkpoint is damaged")));
    EXPECT_FALSE(fs::exists(folder.file("new")));
  }
}

// An index stores 30 bits of a note.
TEST(Shrink, RefusesNotesThatAreTooLong) {
  for (const int bit : {29, 30, 31}) {
    TestFolder folder;
    Life life(PDL_F32);
    life.liveUntil(12);
    saveAs(life.model, folder.file("life"), 12, {});
    writeOther(folder.file("life"), "waiting.notes",
               [&](std::vector<std::byte> &bytes) {
                 bytes[7] |= std::byte(1 << (bit - 24));
               });
    const Expected<Checkpoint> checkpoint =
        Checkpoint::open(folder.file("life"));
    Model restored(life.program.descriptor, 3);
    for (const std::string &message :
         {restoreModel(restored, *checkpoint, CheckpointUse::Training)
              .message(),
          stateOf(*checkpoint).status().message(),
          shrinkAs(folder.file("life"), folder.file("new"), asTheClause())
              .status()
              .message()})
      EXPECT_THAT(message, HasSubstr("which waits for a row, is not in its "
                                     "place, or without a count"))
          << bit;
  }
}
