//===- KeyValueExportTest.cpp - Checkpoints for key-value stores ----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Serving/KeyValueExport.h"

#include "Checkpoint/ChangedModel.h"
#include "Support/TestFolder.h"
#include "pdlrt/Checkpoint/State.h"
#include "pdlrt/Kernels/Storage.h"
#include "pdlrt/Serving/ServedExport.h"
#include "pdlrt/Serving/ServedState.h"

#include <gmock/gmock.h>

#include <cstring>
#include <fstream>
#include <sstream>

using namespace pdlrt;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
namespace fs = std::filesystem;

namespace {

const KeyValueFormat *const formats[] = {&tsvFormat(), &recordFormat()};

Checkpoint opened(const std::string &path) {
  Expected<Checkpoint> checkpoint = Checkpoint::open(path);
  EXPECT_TRUE(checkpoint.ok()) << checkpoint.status().message();
  return *std::move(checkpoint);
}

/// Returns the numbers of a table by key, from a checkpoint.
std::map<int64_t, std::vector<double>>
numbersOf(const Checkpoint &checkpoint, const std::string &part = "values") {
  const Expected<ModelState> state = stateOf(checkpoint);
  EXPECT_TRUE(state.ok()) << state.status().message();
  const StateTensor &keys = state->tensors.at("emb.keys");
  const StateTensor &values = state->tensors.at("emb." + part);
  std::map<int64_t, std::vector<double>> rows;
  const std::byte *next = values.bytes.data();
  for (size_t i = 0; i < keys.bytes.size() / sizeof(int64_t); ++i) {
    int64_t key;
    std::memcpy(&key, keys.bytes.data() + i * sizeof(key), sizeof(key));
    for (int64_t j = 0; j < handWrittenWidth; ++j) {
      if (values.type == TensorType::F32) {
        float number;
        std::memcpy(&number, next, sizeof(number));
        rows[key].push_back(number);
      } else {
        double number;
        std::memcpy(&number, next, sizeof(number));
        rows[key].push_back(number);
      }
      next += tensorElementSize(values.type);
    }
  }
  return rows;
}

/// Content of the files of an export, read as users do, and their keys in file
/// order.
struct Found {
  std::map<int64_t, std::vector<double>> rows;
  std::vector<int64_t> keys;
  size_t files = 0;
};

template <typename Number>
Found found(const std::string &path, const KeyValueFormat &format) {
  Found all;
  for (const std::string &name : filesOf(path)) {
    if (!name.starts_with("table-0-"))
      continue;
    ++all.files;
    std::ifstream file(path + "/" + name, std::ios::binary);
    if (&format == &tsvFormat()) {
      std::string line;
      while (std::getline(file, line)) {
        std::istringstream cells(line);
        std::string cell;
        std::getline(cells, cell, '\t');
        const int64_t key = std::stoll(cell);
        all.keys.push_back(key);
        while (std::getline(cells, cell, '\t'))
          all.rows[key].push_back(std::is_same_v<Number, float>
                                      ? std::strtof(cell.c_str(), nullptr)
                                      : std::strtod(cell.c_str(), nullptr));
      }
    } else {
      unsigned char bytes[sizeof(int64_t)];
      while (file.read(reinterpret_cast<char *>(bytes), sizeof(bytes))) {
        uint64_t key = 0;
        for (unsigned char byte : bytes)
          key = key << 8 | byte;
        all.keys.push_back(int64_t(key));
        Number numbers[handWrittenWidth];
        file.read(reinterpret_cast<char *>(numbers), sizeof(numbers));
        all.rows[int64_t(key)] = {std::begin(numbers), std::end(numbers)};
      }
    }
  }
  return all;
}

void expectExported(const Checkpoint &checkpoint, const std::string &path,
                    const KeyValueFormat &format,
                    const std::string &part = "values", bool isWide = false) {
  const Expected<KeyValueManifest> manifest = verifyKeyValues(path, formats);
  ASSERT_TRUE(manifest.ok()) << manifest.status().message();
  EXPECT_EQ(manifest->format, format.name());
  EXPECT_EQ(manifest->steps, checkpoint.manifest().progress.steps);
  const Found all =
      isWide ? found<double>(path, format) : found<float>(path, format);
  EXPECT_EQ(all.rows, numbersOf(checkpoint, part));
  EXPECT_EQ(int64_t(all.keys.size()), manifest->tables.front().rows());
  EXPECT_EQ(all.files, manifest->tables.front().files.size());
  EXPECT_TRUE(std::ranges::is_sorted(all.keys, [&](int64_t a, int64_t b) {
    return format.order() == KeyOrder::Signed ? a < b
                                              : uint64_t(a) < uint64_t(b);
  }));
  EXPECT_TRUE(
      std::ranges::any_of(all.keys, [](int64_t key) { return key < 0; }));
  const Expected<StateDifferences> differences =
      compareKeyValues(path, formats, checkpoint, 10);
  ASSERT_TRUE(differences.ok()) << differences.status().message();
  EXPECT_EQ(differences->count, 0);
  EXPECT_THAT(differences->messages, IsEmpty());
}

} // namespace

TEST(KeyValueExport, HasTheBitsOfTheCheckpoint) {
  for (const KeyValueFormat *format : formats) {
    SCOPED_TRACE(format->name());
    TestFolder folder;
    auto model = makeTrained();
    Changes changes(*model, 1);
    Chain chain(folder);
    for (int64_t steps = 1; steps <= 3; ++steps) {
      changes.step();
      chain.save(*model, steps, steps > 1);
      const Checkpoint checkpoint = opened(chain.pathOf(steps));
      const std::string path = folder.file(std::to_string(steps));
      KeyValueOptions options;
      options.bytesInFile = steps == 1 ? 100'000 : UINT64_MAX;
      // Use as little memory as possible.
      options.memory = steps == 2 ? 1 : options.memory;
      const Status status =
          exportKeyValues(checkpoint, *format, options, path + "/");
      ASSERT_TRUE(status.ok()) << status.message();
      expectExported(checkpoint, path, *format);
      const size_t files = found<float>(path, *format).files;
      EXPECT_EQ(files > 1, steps == 1);
      EXPECT_LT(files, 20U);
    }
  }
}

TEST(KeyValueExport, HasSlotsAndTypes) {
  for (const int32_t type : {PDL_F32, PDL_F64})
    for (const int32_t storage :
         {PDL_STORE_ELEMENT, PDL_STORE_BF16, PDL_STORE_F16}) {
      if (type == PDL_F64 && storage != PDL_STORE_ELEMENT)
        continue;
      TestFolder folder;
      auto model = makeModel(3, 500, type, storage);
      save(*model, folder.file("c"));
      const Checkpoint checkpoint = opened(folder.file("c"));
      const std::string slot =
          checkpoint.manifest().symbols[SymbolTable].slots.front();
      for (const KeyValueFormat *format : formats)
        for (const std::string &exported : {std::string(), slot}) {
          SCOPED_TRACE(exported);
          const std::string path = folder.file("out");
          fs::remove_all(path);
          KeyValueOptions options;
          options.slot = exported;
          const Status status =
              exportKeyValues(checkpoint, *format, options, path);
          ASSERT_TRUE(status.ok()) << status.message();
          expectExported(checkpoint, path, *format,
                         exported.empty() ? "values" : "slot." + exported,
                         type == PDL_F64);
        }
    }
}

TEST(KeyValueExport, OfAnEmptyTableHasNoFiles) {
  TestFolder folder;
  save(Model(*handWrittenProgram({}), 3), folder.file("c"));
  const Checkpoint checkpoint = opened(folder.file("c"));
  ASSERT_TRUE(
      exportKeyValues(checkpoint, tsvFormat(), {}, folder.file("out")).ok());
  EXPECT_THAT(filesOf(folder.file("out")),
              ElementsAre("dense.safetensors", "key-values.json"));
  EXPECT_THAT(ServedState::load(*handWrittenProgram({}), folder.file("out"))
                  .status()
                  .message(),
              HasSubstr("out: is an export for key-value stores"));
  const Expected<StateDifferences> differences =
      compareKeyValues(folder.file("out"), formats, checkpoint, 10);
  ASSERT_TRUE(differences.ok()) << differences.status().message();
  EXPECT_EQ(differences->count, 0);
}

TEST(KeyValueExport, NothingIsLeftWhereItFails) {
  TestFolder folder;
  save(*makeModel(3, 50), folder.file("c"));
  const Checkpoint checkpoint = opened(folder.file("c"));
  KeyValueOptions options;
  options.slot = "nothing";
  EXPECT_THAT(
      exportKeyValues(checkpoint, tsvFormat(), options, folder.file("out"))
          .message(),
      HasSubstr("no symbol has a slot 'nothing'"));
  EXPECT_THAT(
      exportKeyValues(checkpoint, tsvFormat(), {}, folder.file("c")).message(),
      HasSubstr("is there already; name another folder"));
  // No link is followed, wherever it leads.
  fs::create_symlink("nowhere", folder.file("link"));
  EXPECT_THAT(exportKeyValues(checkpoint, tsvFormat(), {}, folder.file("link"))
                  .message(),
              HasSubstr("is there already"));
  EXPECT_THAT(
      exportKeyValues(checkpoint, tsvFormat(), {}, folder.file("no/such/out"))
          .message(),
      HasSubstr("cannot be written"));
  EXPECT_THAT(filesOf(folder.file("")), ElementsAre("c", "link"));
}

TEST(KeyValueExport, ItsFirstWrongKeyIsNamed) {
  for (const KeyValueFormat *format : formats) {
    TestFolder folder;
    auto model = makeTrained();
    Chain chain(folder);
    chain.save(*model, 1, false);
    const Checkpoint before = opened(chain.pathOf(1));
    const std::string path = folder.file("out");
    ASSERT_TRUE(exportKeyValues(before, *format, {}, path).ok());
    // Two rows change, one is created, one is erased.
    Changes(*model, 1).update({5, 1001, 70'000'001});
    TableScratch scratch;
    const int64_t gone = 9;
    model->table(SymbolTable)->erase(1, &gone, scratch);
    chain.save(*model, 2, true);
    const Expected<StateDifferences> found =
        compareKeyValues(path, formats, opened(chain.pathOf(2)), 100);
    ASSERT_TRUE(found.ok()) << found.status().message();
    ASSERT_EQ(found->tables.size(), 1U);
    EXPECT_EQ(found->tables[0].changed, 2);
    EXPECT_EQ(found->tables[0].onlyFirst, 1);
    EXPECT_EQ(found->tables[0].onlySecond, 1);
    EXPECT_EQ(found->tables[0].rowsOfFirst, keyCount);
    EXPECT_EQ(found->tables[0].rowsOfSecond, keyCount);
    std::vector<std::string> ofTable;
    for (const std::string &message : found->messages)
      if (message.starts_with("emb"))
        ofTable.push_back(message);
    ASSERT_EQ(int64_t(ofTable.size()), 2 * handWrittenWidth + 2);
    EXPECT_THAT(ofTable[0], AllOf(StartsWith("emb.values, key 5, element 0: "),
                                  HasSubstr(" in " + path + ", "),
                                  HasSubstr(" in " + chain.pathOf(2))));
    EXPECT_EQ(ofTable[handWrittenWidth], "emb, key 9: only in " + path);
    EXPECT_EQ(ofTable.back(), "emb, key 70000001: only in " + chain.pathOf(2));
    // Those of parameters as well, and no more than requested.
    const Expected<StateDifferences> few =
        compareKeyValues(path, formats, opened(chain.pathOf(2)), 1);
    ASSERT_TRUE(few.ok());
    EXPECT_EQ(few->messages.size(), 1U);
    EXPECT_EQ(few->count, found->count);
    EXPECT_GT(found->count, int64_t(ofTable.size()));
  }
}

TEST(KeyValueExport, MappedTablesAreComparedTheSameWay) {
  for (const int32_t storage : {PDL_STORE_ELEMENT, PDL_STORE_BF16}) {
    TestFolder folder;
    auto model = makeModel(3, 500, PDL_F32, storage);
    save(*model, folder.file("a"));
    const Checkpoint before = opened(folder.file("a"));
    const std::string path = folder.file("out");
    ASSERT_TRUE(exportCheckpoint(before, "", path).ok());
    Expected<StateDifferences> found = compareExport(path, before, 10);
    ASSERT_TRUE(found.ok()) << found.status().message();
    EXPECT_EQ(found->count, 0);
    ASSERT_EQ(found->tables.size(), 1U);
    EXPECT_EQ(found->tables[0].rowsOfFirst, 500);
    TableScratch scratch;
    const int64_t keys[] = {7, 101, 8'000'001};
    void *rows[3];
    int64_t inserted = 0;
    ASSERT_TRUE(model->table(SymbolTable)
                    ->findOrInsert(3, keys, rows, scratch, inserted)
                    .ok());
    ASSERT_EQ(inserted, 1);
    std::memset(rows[1], 1, 2);
    model->table(SymbolTable)->erase(1, keys, scratch);
    save(*model, folder.file("b"));
    const Checkpoint after = opened(folder.file("b"));
    found = compareExport(path, after, 10);
    ASSERT_TRUE(found.ok()) << found.status().message();
    EXPECT_EQ(found->count, 3);
    EXPECT_THAT(
        found->messages,
        ElementsAre(AllOf(StartsWith("emb.values, key 101, element 0: "),
                          HasSubstr(" in " + path)),
                    "emb, key 8000001: only in " + after.path(),
                    "emb, key 7: only in " + path));
    EXPECT_EQ(found->tables[0].onlyFirst, 1);
    // If no message is requested, all are still counted.
    EXPECT_EQ(compareExport(path, after, 0)->count, 3);
    // Exports of slots.
    const std::string slot =
        before.manifest().symbols[SymbolTable].slots.front();
    ASSERT_TRUE(exportCheckpoint(before, slot, folder.file("slot")).ok());
    found = compareExport(folder.file("slot"), before, 10);
    ASSERT_TRUE(found.ok()) << found.status().message();
    EXPECT_EQ(found->count, 0) << found->messages.front();
  }
}

TEST(KeyValueExport, WhatIsDamagedIsSaid) {
  TestFolder folder;
  save(*makeModel(3, 500), folder.file("c"));
  const Checkpoint checkpoint = opened(folder.file("c"));
  for (const KeyValueFormat *format : formats) {
    const std::string path = folder.file(std::string(format->name()));
    ASSERT_TRUE(exportKeyValues(checkpoint, *format, {}, path).ok());
    const std::string name = std::string(format->name()) + "/table-0-00000." +
                             std::string(format->name());
    const std::string content = folder.read(name);
    const auto messages = [&](const std::string &bytes) {
      folder.write(name, bytes);
      const Status verified = verifyKeyValues(path, formats).status();
      const Expected<StateDifferences> compared =
          compareKeyValues(path, formats, checkpoint, 10);
      folder.write(name, content);
      std::string all = verified.message() + "\n" + compared.status().message();
      if (compared && compared->count > 0)
        all += compared->messages.front();
      return all;
    };
    const bool isText = format == &tsvFormat();
    // The first key is another one, so the checksum differs; a readable file
    // has wrong keys.
    std::string other = content;
    other[isText ? content.find('\t') + 1 : sizeof(int64_t)] ^= 1;
    EXPECT_THAT(messages(other),
                AllOf(HasSubstr("is not what its manifest says"),
                      HasSubstr("emb.values, key "), HasSubstr("element 0")));
    const size_t row = isText
                           ? content.find('\n') + 1
                           : sizeof(int64_t) + handWrittenWidth * sizeof(float);
    EXPECT_THAT(messages(content.substr(row)),
                HasSubstr("is not in its place"));
    EXPECT_THAT(messages(content.substr(0, row) + content),
                HasSubstr("is not in its place"));
    EXPECT_THAT(messages(content.substr(0, row)),
                HasSubstr("has 1 rows up to key"));
    EXPECT_THAT(messages(content.substr(0, content.size() - 1)),
                HasSubstr(isText ? "is no key with 4 numbers after tabs"
                                 : "ends within a record of 24 bytes"));
    EXPECT_THAT(messages(""), HasSubstr("has 0 rows"));
    if (isText)
      for (const char *line :
           {"5\t1\t2\t3\n", "5\t1\t2\t3\t4\t5\n", "x\t1\t2\t3\t4\n",
            "5 1 2 3 4\n", "\n", "5\t1\t2\t3\t4 \n", "5\t1\t2\t3\t1e99\n"})
        EXPECT_THAT(messages(line), HasSubstr("line 1 is no key with"));
    EXPECT_TRUE(verifyKeyValues(path, formats).ok());
    fs::rename(folder.file(name), folder.file("aside"));
    EXPECT_THAT(verifyKeyValues(path, formats).status().message(),
                HasSubstr("cannot be opened"));
    fs::rename(folder.file("aside"), folder.file(name));
    // Only known formats are accepted.
    EXPECT_THAT(
        verifyKeyValues(path, {}).status().message(),
        AllOf(HasSubstr("are of format '" + std::string(format->name()) + "'"),
              HasSubstr("built without")));
    const std::string dense =
        std::string(format->name()) + "/" + "dense.safetensors";
    const std::string parameters = folder.read(dense);
    std::string changed = parameters;
    changed.back() ^= 1;
    folder.write(dense, changed);
    for (const std::string &message :
         {verifyKeyValues(path, formats).status().message(),
          compareKeyValues(path, formats, checkpoint, 10).status().message()})
      EXPECT_THAT(message, HasSubstr("is not what its manifest says"));
  }
}

TEST(KeyValueExport, ManifestsAreWholeOrRefused) {
  KeyValueManifest manifest;
  manifest.format = "tsv";
  manifest.model = "m";
  manifest.steps = 7;
  manifest.slot = "average";
  KeyValueTable table;
  table.name = "emb";
  table.part = "values";
  table.elements = {TensorType::F64, 3};
  table.files = {{"table-0-00000.tsv", 2, INT64_MIN, INT64_MAX, {9, 10}}};
  manifest.tables = {table};
  manifest.parameters = FileDigest{11, 12};
  const std::string text = encodeKeyValues(manifest);
  const Expected<KeyValueManifest> again = decodeKeyValues(text, "here");
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(encodeKeyValues(*again), text);
  const auto messageOfText = [](const std::string &changed) {
    return decodeKeyValues(changed, "here").status().message();
  };
  EXPECT_THAT(messageOfText(""), HasSubstr("here: is no manifest"));
  EXPECT_THAT(messageOfText("{\"version\": 2" + text.substr(13)),
              HasSubstr("has format version 2"));
  for (size_t i = 14; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] ^= 1;
    EXPECT_NE(messageOfText(changed), "") << i;
  }
  // The checksums are correct.
  const auto messageOf = [&](auto change) {
    KeyValueManifest other = manifest;
    change(other);
    return messageOfText(encodeKeyValues(other));
  };
  EXPECT_EQ(messageOf([](auto &) {}), "");
  for (const char *name : {"", "../x", "a/b", ".x"})
    EXPECT_THAT(messageOf([&](auto &m) { m.tables[0].files[0].file = name; }),
                HasSubstr("outside of its folder"));
  EXPECT_THAT(messageOf([](auto &m) { m.tables.push_back(m.tables[0]); }),
              HasSubstr("twice"));
  EXPECT_THAT(messageOf([](auto &m) { m.tables[0].elements.width = 0; }),
              HasSubstr("width is no count"));
  EXPECT_THAT(
      messageOf([](auto &m) { m.tables[0].elements.width = INT64_MAX; }),
      HasSubstr("width is too large"));
  EXPECT_THAT(
      messageOf([](auto &m) { m.tables[0].elements.type = TensorType::I64; }),
      HasSubstr("elements are of type 'I64'"));
  EXPECT_THAT(messageOf([](auto &m) { m.tables[0].files[0].rows = 0; }),
              HasSubstr("rows is no count"));
  EXPECT_THAT(messageOf([](auto &m) { m.steps = -1; }),
              HasSubstr("steps is no count"));
}
