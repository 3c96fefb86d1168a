//===- CheckpointTest.cpp - Whole checkpoints and damaged ones ------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checkpoint/SavedModel.h"
#include "Support/TestFolder.h"

#include "pdlrt/Checkpoint/Checkpoint.h"
#include "pdlrt/Checkpoint/ModelCheckpoint.h"
#include "pdlrt/Checkpoint/ModelFile.h"
#include "pdlrt/Checkpoint/RunningEpoch.h"
#include "pdlrt/Checkpoint/State.h"
#include "pdlrt/State/Model.h"
#include "pdlrt/State/StateDigest.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <sys/stat.h>
#include <unistd.h>

using namespace pdlrt;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
namespace fs = std::filesystem;

static std::string dumpOf(const TestFolder &folder, const Model &model) {
  EXPECT_TRUE(dumpModel(model, folder.file("dump"), true).ok());
  return folder.read("dump");
}

TEST(Checkpoint, RestoresValuesSlotsAndSteps) {
  for (int32_t type : {PDL_F32, PDL_F64}) {
    TestFolder folder;
    auto model = makeModel(3, 500, type);
    save(*model, folder.file("step-000000000012"));
    Expected<Checkpoint> checkpoint =
        Checkpoint::open(folder.file("step-000000000012"));
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
    EXPECT_EQ(checkpoint->manifest().seed, 3u);
    Model restored(*handWrittenProgram({type}), 3);
    Status status =
        restoreModel(restored, *checkpoint, CheckpointUse::Training);
    ASSERT_TRUE(status.ok()) << status.message();
    const std::string dump = dumpOf(folder, *model);
    EXPECT_EQ(dumpOf(folder, restored), dump);
    EXPECT_EQ(restored.stepCount(0), 11);
    EXPECT_EQ(restored.stepCount(1), 12);
    // Get the same bytes by reading the checkpoint.
    Expected<ModelState> state = stateOf(*checkpoint);
    ASSERT_TRUE(state.ok());
    ASSERT_TRUE(writeDump(*state, folder.file("dump")).ok());
    EXPECT_EQ(folder.read("dump"), dump);
  }
}

// Stored bits are those in memory; readers of values get f32.
TEST(Checkpoint, HoldsValuesAsTheyAreStored) {
  for (int32_t storage : {PDL_STORE_BF16, PDL_STORE_F16}) {
    TestFolder folder;
    auto model = makeModel(3, 500, PDL_F32, storage);
    const std::string path = folder.file("step-000000000012");
    save(*model, path);
    Expected<Checkpoint> checkpoint = Checkpoint::open(path);
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
    const CheckpointSymbol &table = checkpoint->manifest().symbols[SymbolTable];
    const TensorType stored =
        storage == PDL_STORE_BF16 ? TensorType::BF16 : TensorType::F16;
    EXPECT_EQ(table.valueType, stored);
    EXPECT_EQ(table.elementType, TensorType::F32);
    size_t tables = 0;
    for (size_t p = 0; p < checkpoint->manifest().parts.size(); ++p)
      if (checkpoint->manifest().parts[p].kind == PartKind::Table) {
        ++tables;
        EXPECT_EQ(checkpoint->file(p).find("values")->type, stored);
        EXPECT_EQ(checkpoint->file(p).find("slot.m")->type, TensorType::F32);
      }
    EXPECT_GT(tables, 0u);
    Model restored(model->descriptor(), 3);
    const Status status =
        restoreModel(restored, *checkpoint, CheckpointUse::Training);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(digestOfState(restored), digestOfState(*model));
    // Dumps of both are in f32, and restoring them gives the same bits.
    const std::string dump = dumpOf(folder, *model);
    Expected<ModelState> state = stateOf(*checkpoint);
    ASSERT_TRUE(state.ok());
    EXPECT_EQ(state->tensors["emb.values"].type, TensorType::F32);
    ASSERT_TRUE(writeDump(*state, folder.file("dump")).ok());
    EXPECT_EQ(folder.read("dump"), dump);
    Model read(model->descriptor(), 3);
    ASSERT_TRUE(
        initializeModel(read, folder.file("dump"), FileCoverage::Parameters)
            .ok());
    EXPECT_EQ(digestOfState(read), digestOfState(*model));
  }
}

// Each changed byte, each truncation and each missing file is refused with the
// checkpoint's name. Without the damage the checkpoint is valid again.
TEST(Checkpoint, EveryDamageIsRefused) {
  TestFolder folder;
  save(*makeModel(3, 5), folder.file("c"));
  const std::string path = folder.file("c");
  const std::vector<std::string> files = filesOf(path);
  EXPECT_THAT(files, ElementsAre("dense.safetensors", "manifest.json",
                                 "table-2-0000.safetensors"));
  for (const std::string &name : files) {
    const std::string file = "c/" + name;
    const std::string whole = folder.read(file);
    auto refuse = [&](const std::string &what) {
      Expected<Checkpoint> checkpoint = Checkpoint::open(path);
      ASSERT_FALSE(checkpoint.ok()) << name << ": " << what;
      EXPECT_THAT(checkpoint.status().message(), HasSubstr(path));
      EXPECT_THAT(checkpoint.status().message(), HasSubstr(name));
      EXPECT_THAT(checkpoint.status().message(), HasSubstr("another"));
    };
    for (size_t i = 0; i < whole.size(); ++i) {
      std::string spoilt = whole;
      spoilt[i] = char(spoilt[i] ^ (1 << i % 8));
      folder.write(file, spoilt);
      refuse("byte " + std::to_string(i));
      folder.write(file, whole.substr(0, i));
      refuse("cut at " + std::to_string(i));
    }
    folder.write(file, whole + " ");
    refuse("a byte more");
    fs::remove(folder.file(file));
    refuse("missing");
    fs::create_directory(folder.file(file));
    refuse("a folder");
    fs::remove(folder.file(file));
    // Opening the pipe would wait for a writer.
    ASSERT_EQ(mkfifo(folder.file(file).c_str(), 0600), 0);
    refuse("a pipe");
    fs::remove(folder.file(file));
    folder.write(file, whole);
    EXPECT_TRUE(Checkpoint::open(path).ok());
  }
}

// A reader that needs only the progress does not read the state. It still
// detects missing and truncated files, and damage in the parts that it reads.
TEST(Checkpoint, ProgressIsReadWithoutTheState) {
  TestFolder folder;
  const std::string path = folder.file("step-000000000012");
  {
    auto model = makeModel(3, 5);
    CheckpointWriter writer(path);
    CheckpointManifest manifest;
    manifest.progress.steps = 12;
    ASSERT_TRUE(saveModel(*model, writer, manifest).ok());
    const pdl_descriptor &descriptor = *handWrittenProgram({});
    ASSERT_TRUE(saveRunningEpoch(descriptor,
                                 {0, 0, MetricSums(descriptor, 1), {}}, 1,
                                 writer)
                    .ok());
    ASSERT_TRUE(writer.commit(std::move(manifest)).ok());
  }
  const auto opens = [&](CheckpointCheck check) {
    std::vector<std::string> refused;
    const Expected<std::optional<Checkpoint>> found =
        findNewestCheckpoint(folder.file(""), refused, check);
    EXPECT_EQ(found.ok(), refused.empty());
    return found && (*found)->manifest().progress.steps == 12;
  };
  for (const std::string &name : filesOf(path)) {
    const std::string file = "step-000000000012/" + name;
    const std::string whole = folder.read(file);
    EXPECT_TRUE(opens(CheckpointCheck::Progress));
    std::string spoilt = whole;
    spoilt.back() = char(spoilt.back() ^ 4);
    folder.write(file, spoilt);
    EXPECT_FALSE(opens(CheckpointCheck::Everything)) << name;
    EXPECT_EQ(opens(CheckpointCheck::Progress),
              name != "manifest.json" && name != "trainer.safetensors")
        << name;
    EXPECT_EQ(opens(CheckpointCheck::Parameters), name.starts_with("table"))
        << name;
    folder.write(file, whole.substr(0, whole.size() - 1));
    EXPECT_FALSE(opens(CheckpointCheck::Progress)) << name;
    fs::remove(folder.file(file));
    EXPECT_FALSE(opens(CheckpointCheck::Progress)) << name;
    folder.write(file, whole);
  }
}

TEST(Checkpoint, AnotherVersionIsNamed) {
  TestFolder folder;
  save(*makeModel(3, 5), folder.file("c"));
  std::string text = folder.read("c/manifest.json");
  const std::string begin = "{\"version\": 3,";
  ASSERT_EQ(text.compare(0, begin.size(), begin), 0);
  for (const std::string version : {"2", "27"}) {
    folder.write("c/manifest.json",
                 "{\"version\": " + version + "," + text.substr(begin.size()));
    EXPECT_THAT(Checkpoint::open(folder.file("c")).status().message(),
                testing::AllOf(HasSubstr("format version " + version),
                               HasSubstr("reads version 3 and deltas of "
                                         "version 4;")));
  }
  // A complete checkpoint is not a delta.
  folder.write("c/manifest.json",
               "{\"version\": 4," + text.substr(begin.size()));
  EXPECT_THAT(Checkpoint::open(folder.file("c")).status().message(),
              HasSubstr("its version is not that of its content"));
}

TEST(Checkpoint, ShapesWithoutElementsOrWithTooManyAreRefused) {
  TestFolder folder;
  const std::unique_ptr<Model> model = makeModel(3, 5);
  int number = 0;
  for (const std::vector<int64_t> &shape :
       {std::vector<int64_t>{0, 4}, {-1}, {int64_t(1) << 40, 1 << 20}}) {
    const std::string path = folder.file(std::to_string(number++));
    CheckpointWriter writer(path);
    CheckpointManifest manifest;
    describeModel(*model, manifest);
    ASSERT_TRUE(saveParts(*model, "dense.safetensors", writer, nullptr).ok());
    for (CheckpointSymbol &symbol : manifest.symbols)
      if (!symbol.isTable)
        symbol.shape = shape;
    ASSERT_TRUE(writer.commit(std::move(manifest)).ok());
    EXPECT_THAT(Checkpoint::open(path).status().message(),
                testing::AllOf(HasSubstr("a symbol has the shape ["),
                               HasSubstr("damaged")));
  }
}

TEST(Checkpoint, AnotherModelIsRefused) {
  TestFolder folder;
  save(*makeModel(3, 5), folder.file("c"));
  Expected<Checkpoint> checkpoint = Checkpoint::open(folder.file("c"));
  ASSERT_TRUE(checkpoint.ok());
  Model wider(*handWrittenProgram({PDL_F64}), 3);
  for (CheckpointUse use : {CheckpointUse::Values, CheckpointUse::Training})
    EXPECT_THAT(restoreModel(wider, *checkpoint, use).message(),
                HasSubstr("for the rows of @emb the checkpoint has f32 [4], "
                          "this program f64 [4]"));
}

// With another learning rate it is another training, but the values are valid
// for all other uses.
TEST(Checkpoint, AnotherTrainingMayUseTheValues) {
  TestFolder folder;
  auto model = makeModel(3, 50);
  save(*model, folder.file("c"));
  Expected<Checkpoint> checkpoint = Checkpoint::open(folder.file("c"));
  ASSERT_TRUE(checkpoint.ok());
  pdl_descriptor other = *handWrittenProgram({});
  std::vector<pdl_part> parts(other.parts, other.parts + other.part_count);
  parts.back().value = "0.2";
  other.parts = parts.data();
  EXPECT_THAT(
      checkSameModel(other, *checkpoint, CheckpointUse::Training).message(),
      testing::AllOf(HasSubstr("for the rate of group @dense the checkpoint "
                               "has 0.1, this program 0.2"),
                     HasSubstr("--init-from")));
  Model restored(other, 3);
  const Status status =
      restoreModel(restored, *checkpoint, CheckpointUse::Values);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(restored.stepCount(0), 0);
  EXPECT_TRUE(dumpModel(*model, folder.file("before"), false).ok());
  EXPECT_TRUE(dumpModel(restored, folder.file("after"), false).ok());
  EXPECT_EQ(folder.read("before"), folder.read("after"));
}

TEST(Checkpoint, DifferencesOfModelsAreNamed) {
  const std::vector<ModelPart> before = {
      {PDL_PART_STATE, "shape of @w", "f32 [4]"},
      {PDL_PART_STATE, "shape of @more", "f32 [1]"},
      {PDL_PART_OPTIMIZER, "slots of @w", "m"},
      {PDL_PART_TRAINING, "rate of group @g", "0.1"}};
  const auto text = [&](const std::vector<ModelPart> &program,
                        CheckpointUse use) {
    return differencesOf(program, before, use);
  };
  EXPECT_EQ(text(before, CheckpointUse::Training), "");
  // A reader of values needs only its own parts.
  const std::vector<ModelPart> fewer(before.begin(), before.begin() + 1);
  EXPECT_EQ(text(fewer, CheckpointUse::Values), "");
  EXPECT_EQ(text(fewer, CheckpointUse::Training),
            "this program has no shape of @more, the checkpoint f32 [1]; this "
            "program has no slots of @w, the checkpoint m; this program has no "
            "rate of group @g, the checkpoint 0.1");
  std::vector<ModelPart> other = before;
  for (ModelPart &part : other)
    part.value = "0.2";
  EXPECT_EQ(text(other, CheckpointUse::Values),
            "for the shape of @w the checkpoint has f32 [4], this program 0.2; "
            "for the shape of @more the checkpoint has f32 [1], this program "
            "0.2");
  EXPECT_THAT(text(other, CheckpointUse::Training), HasSubstr("; and 1 more"));
  other = before;
  other.push_back({PDL_PART_TRAINING, "regularizer of group @g", "l2"});
  EXPECT_EQ(text(other, CheckpointUse::Training),
            "the checkpoint has no regularizer of group @g, this program l2");
  // The group of turns of a cycle does not belong to the model.
  const auto cycle = [](const char *value) {
    return std::vector<ModelPart>{
        {PDL_PART_TRAINING, "rule of group @train.turns", value}};
  };
  EXPECT_EQ(
      differencesOf(cycle("{length = 4} slots {}, 0a"),
                    cycle("{length = 6} slots {}, 0a"),
                    CheckpointUse::Training),
      "for the cycle of @train the checkpoint has 6 steps, this program 4 "
      "steps");
  EXPECT_EQ(differencesOf(cycle("{length = 4}, 0a"), cycle("{length = 4}, 0b"),
                          CheckpointUse::Training),
            "for the rule of group @train.turns the checkpoint has {length = "
            "4}, 0b, this program {length = 4}, 0a");
}

TEST(Checkpoint, DifferencesOfKeysAreTexts) {
  const auto keys = [](const char *name, const char *value) {
    return std::vector<ModelPart>{{PDL_PART_STATE, name, value}};
  };
  const std::vector<ModelPart> saved =
      keys("keys of @emb", "text by xxh64 salt 3\ninteger");
  for (CheckpointUse use : {CheckpointUse::Values, CheckpointUse::Training})
    EXPECT_EQ(
        differencesOf(keys("keys of @emb", "integer\ntext by xxh64 salt 4"),
                      saved, use),
        "the keys of @emb come from fields in another way: the "
        "checkpoint makes some of `text by xxh64 salt 3`, this program "
        "of `text by xxh64 salt 4`");
  EXPECT_EQ(differencesOf(keys("keys of @emb", "integer"), saved,
                          CheckpointUse::Values),
            "the keys of @emb come from fields in another way: only the "
            "checkpoint makes some of `text by xxh64 salt 3`");
  // A program that does not train may read fewer of them, but no others.
  EXPECT_EQ(differencesOf(keys("keys read of @emb", "integer"), saved,
                          CheckpointUse::Values),
            "");
  EXPECT_EQ(differencesOf(keys("keys read of @emb", "integer missing 1"), saved,
                          CheckpointUse::Values),
            "the keys of @emb come from fields in another way: the checkpoint "
            "makes some of `integer`, `text by xxh64 salt 3`, this program of "
            "`integer missing 1`");
  EXPECT_EQ(differencesOf(keys("keys read of @more", "integer"), saved,
                          CheckpointUse::Values),
            "");
}

TEST(Checkpoint, OldLayoutsAreOpenedOnRequest) {
  const std::vector<ModelPart> old = {
      {PDL_PART_STATE, "keys of @emb in @train", "0123456789abcdef"},
      {PDL_PART_STATE, "rows of @emb", "f32 [4]"},
      {PDL_PART_OPTIMIZER, "slots of @emb", "m, v"},
      {PDL_PART_TRAINING, "field @ids", "tensor<?x1xi64>"},
      {PDL_PART_TRAINING, "losses of @train", "0123456789abcdef"},
      {PDL_PART_TRAINING, "rate of group @dense", "0.1"}};
  CheckpointManifest manifest;
  manifest.model = "m";
  manifest.layoutVersion = 1;
  manifest.modelParts = old;
  const Expected<CheckpointManifest> again =
      decodeManifest(encodeManifest(manifest));
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(again->layoutVersion, 1);
  pdl_descriptor program = *handWrittenProgram({});
  std::vector<pdl_part> parts(program.parts,
                              program.parts + program.part_count);
  // Without keys there is nothing to check.
  EXPECT_TRUE(checkSameModel(program, *again, "c", CheckpointUse::Values).ok());
  parts.insert(parts.begin(),
               {PDL_PART_STATE, "keys of @emb", "text by xxh64 salt 3"});
  program.parts = parts.data();
  program.part_count = int32_t(parts.size());
  const std::string keys =
      "the keys of @emb, which this program makes of `text by xxh64 salt 3`";
  OldLayout refused;
  for (OldLayout *none : {static_cast<OldLayout *>(nullptr), &refused})
    EXPECT_THAT(
        checkSameModel(program, *again, "c", CheckpointUse::Values, none)
            .message(),
        testing::AllOf(HasSubstr("c: is of an older layout"), HasSubstr(keys),
                       HasSubstr("--accept-old-layout")));
  OldLayout accepted = {.accepted = true, .unchecked = {}};
  EXPECT_TRUE(
      checkSameModel(program, *again, "c", CheckpointUse::Values, &accepted)
          .ok());
  EXPECT_EQ(accepted.unchecked, keys);
  EXPECT_TRUE(
      checkSameModel(program, *again, "c", CheckpointUse::Training, &accepted)
          .ok());
  EXPECT_EQ(accepted.unchecked,
            keys + "; the fields and the losses of the training");
  // Everything else is still checked.
  parts.back().value = "0.2";
  EXPECT_THAT(
      checkSameModel(program, *again, "c", CheckpointUse::Training, &accepted)
          .message(),
      HasSubstr("for the rate of group @dense"));
}

namespace {

/// Writes the rows of a dump as parts of given ranges of shards, as servers do.
struct PartedCheckpoint {
  std::vector<std::pair<int64_t, int64_t>> ranges;
  /// Changes the rows of a part and its description.
  std::function<void(CheckpointPart &, std::vector<int64_t> &)> spoil;

  void write(const Model &model, const std::string &path) const {
    CheckpointWriter writer(path);
    CheckpointManifest manifest;
    ASSERT_TRUE(saveModel(model, writer, manifest).ok());
    ASSERT_TRUE(writer.commit(manifest).ok());
    CheckpointWriter parted(path);
    Expected<SafetensorsFile> dense =
        SafetensorsFile::open(path + "/dense.safetensors");
    SafetensorsWriter tensors;
    for (const TensorView &tensor : dense->tensors()) {
      std::vector<std::byte> bytes(tensor.byteSize());
      ASSERT_TRUE(tensor.copyTo(bytes.data()).ok());
      ASSERT_TRUE(
          tensors.addCopy(tensor.name, tensor.type, tensor.shape, bytes.data())
              .ok());
    }
    CheckpointPart densePart;
    densePart.file = "dense.safetensors";
    ASSERT_TRUE(parted.addPart(densePart, tensors).ok());
    const EmbeddingTable &table = *model.table(SymbolTable);
    for (const auto &[first, end] : ranges) {
      std::vector<int64_t> keys;
      std::vector<float> columns[3];
      for (int64_t shard = first; shard < end; ++shard) {
        RowList rows;
        table.collectShard(int(shard), rows);
        for (const TableRow &row : rows) {
          keys.push_back(row.key);
          auto *values = static_cast<const float *>(row.row);
          for (auto &column : columns) {
            column.insert(column.end(), values, values + handWrittenWidth);
            values += handWrittenWidth;
          }
        }
      }
      CheckpointPart part;
      part.file = "rows-" + std::to_string(first);
      part.kind = PartKind::Table;
      part.symbol = "emb";
      part.shards = {{first, end}};
      const auto count = int64_t(keys.size());
      if (spoil)
        spoil(part, keys);
      SafetensorsWriter rows;
      ASSERT_TRUE(rows.add("keys", TensorType::I64, {count}, keys.data()).ok());
      const char *names[] = {"values", "slot.m", "slot.v"};
      for (int i = 0; i < 3; ++i)
        ASSERT_TRUE(rows.add(names[i], TensorType::F32,
                             {count, handWrittenWidth}, columns[i].data())
                        .ok());
      ASSERT_TRUE(parted.addPart(part, rows).ok());
    }
    ASSERT_TRUE(parted.commit(std::move(manifest)).ok());
  }
};

} // namespace

TEST(Checkpoint, PartsOfAnyNumberOfWritersAreOneState) {
  TestFolder folder;
  auto model = makeModel(3, 500);
  const std::string dump = dumpOf(folder, *model);
  using Ranges = std::vector<std::pair<int64_t, int64_t>>;
  for (const Ranges &ranges :
       {Ranges{{0, 512}, {512, 1024}}, Ranges{{700, 1024}, {0, 1}, {1, 700}}}) {
    PartedCheckpoint{ranges, {}}.write(*model, folder.file("c"));
    Expected<Checkpoint> checkpoint = Checkpoint::open(folder.file("c"));
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
    Model restored(*handWrittenProgram({}), 3);
    Status status =
        restoreModel(restored, *checkpoint, CheckpointUse::Training);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(dumpOf(folder, restored), dump);
    Expected<ModelState> state = stateOf(*checkpoint);
    ASSERT_TRUE(state.ok());
    ASSERT_TRUE(writeDump(*state, folder.file("dump")).ok());
    EXPECT_EQ(folder.read("dump"), dump);
  }
}

// The table is written like one that does not fit into one part.
TEST(Checkpoint, ATableInManyPartsIsOneTable) {
  TestFolder folder;
  auto model = makeModel(3, 500);
  const std::string path = folder.file("c");
  CheckpointWriter writer(path);
  CheckpointManifest manifest;
  describeModel(*model, manifest);
  constexpr size_t bytesInPart = 4096;
  Scheduler three(3);
  ASSERT_TRUE(
      saveParts(*model, "dense.safetensors", writer, &three, {bytesInPart})
          .ok());
  ASSERT_TRUE(writer.commit(std::move(manifest)).ok());
  const size_t bytes = 500 * model->table(SymbolTable)->rowBytes();
  // There is a dense part, and at least half of the parts of a table divided
  // evenly.
  Expected<Checkpoint> checkpoint = Checkpoint::open(path);
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
  EXPECT_GT(checkpoint->manifest().parts.size(), 1 + bytes / bytesInPart / 2);
  EXPECT_GT(checkpoint->manifest().parts.size(), size_t(4));
  for (Scheduler *scheduler : {static_cast<Scheduler *>(nullptr), &three}) {
    Expected<Checkpoint> again =
        Checkpoint::open(path, CheckpointCheck::Everything, scheduler);
    ASSERT_TRUE(again.ok()) << again.status().message();
    Model restored(*handWrittenProgram({}), 3);
    Status status =
        restoreModel(restored, *again, CheckpointUse::Training, scheduler);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(dumpOf(folder, restored), dumpOf(folder, *model));
  }
  // With one part less, the table is incomplete.
  fs::remove(path + "/" + checkpoint->manifest().parts.back().file);
  EXPECT_FALSE(Checkpoint::open(path).ok());
}

TEST(Checkpoint, PartsThatDoNotFitTogetherAreRefused) {
  TestFolder folder;
  auto model = makeModel(3, 500);
  auto messageOf = [&](const PartedCheckpoint &parted) -> std::string {
    parted.write(*model, folder.file("c"));
    Expected<Checkpoint> checkpoint = Checkpoint::open(folder.file("c"));
    if (!checkpoint)
      return checkpoint.status().message();
    Model restored(*handWrittenProgram({}), 3);
    return restoreModel(restored, *checkpoint, CheckpointUse::Training)
        .message();
  };
  EXPECT_THAT(messageOf({{{0, 512}, {513, 1024}}, {}}), HasSubstr("missing"));
  EXPECT_THAT(messageOf({{{0, 512}, {511, 1024}}, {}}), HasSubstr("twice"));
  EXPECT_THAT(messageOf({{{0, 1000}}, {}}), HasSubstr("missing"));
  EXPECT_THAT(messageOf({{}, {}}), HasSubstr("missing"));
  EXPECT_THAT(
      messageOf(
          {{{0, 1024}}, [](auto &part, auto &) { part.shards = {{0, 2000}}; }}),
      HasSubstr("missing"));
  EXPECT_THAT(
      messageOf({{{0, 1024}},
                 [](auto &, auto &keys) { std::swap(keys[0], keys[100]); }}),
      HasSubstr("not in its place"));
  EXPECT_THAT(
      messageOf({{{0, 1024}}, [](auto &, auto &keys) { keys[1] = keys[0]; }}),
      HasSubstr("not in its place"));
  EXPECT_THAT(messageOf({{{0, 1024}},
                         [](auto &part, auto &) { part.symbol = "other"; }}),
              HasSubstr("@other"));
}

TEST(CompareStates, SaysWhereTheyDiffer) {
  TestFolder folder;
  auto stateFrom = [&](const Model &model) {
    dumpOf(folder, model);
    return *readDump(folder.file("dump"));
  };
  auto model = makeModel(3, 20);
  const ModelState a = stateFrom(*model);
  EXPECT_EQ(compareStates(a, stateFrom(*model), "A", "B", 9).count, 0);

  // The sign of a zero counts as a difference, and so does the last bit of a
  // number.
  auto *weights = static_cast<float *>(model->value(SymbolWeights));
  weights[1] = std::nextafter(weights[1], 2.0f);
  int64_t key = 7;
  void *row = nullptr;
  TableScratch scratch;
  ASSERT_EQ(model->table(SymbolTable)->find(1, &key, &row, scratch), 0);
  static_cast<float *>(row)[handWrittenWidth + 2] = -0.0f;
  ModelState b = stateFrom(*model);
  StateDifferences found = compareStates(a, b, "A", "B", 9);
  EXPECT_EQ(found.count, 2);
  EXPECT_THAT(found.messages,
              ElementsAre(HasSubstr("emb.slot.m, key 7, element 2"),
                          HasSubstr("w, element 1")));
  EXPECT_THAT(found.messages[0], HasSubstr("-0 in B"));
  EXPECT_EQ(compareStates(a, b, "A", "B", 1).messages.size(), 1u);

  // There is an additional key in the middle. Other rows are still compared
  // with the rows of the same key.
  auto larger = makeModel(3, 21);
  found = compareStates(a, stateFrom(*larger), "A", "B", 9);
  EXPECT_EQ(found.count, 1);
  EXPECT_THAT(found.messages, ElementsAre("emb, key -19540: only in B"));

  b = a;
  b.tensors["w"].shape = {1, 3};
  b.tensors.erase("b");
  EXPECT_THAT(compareStates(a, b, "A", "B", 9).messages,
              ElementsAre("b: only in A", "w is F32 [3, 1] in A, F32 [1, 3] "
                                          "in B"));
}
