//===- CacheTest.cpp - Rows that are parsed once --------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestRecord.h"

#include "pdlrt/Core/StopSignal.h"
#include "gmock/gmock.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>

using namespace pdlrt;
using namespace pdlrt::test;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

namespace {

/// Rows with a label, two f64 numbers, an id, a bag of numbers, and a text that
/// no field reads.
class CacheTest : public DataTest {
protected:
  void SetUp() override {
    DataTest::SetUp();
    record.dense("label");
    pdl_field &numbers = record.dense("numbers", 2);
    numbers.element_type = PDL_F64;
    numbers.missing_kind = PDL_MISSING_VALUE;
    record.ids("id");
    record.raggedNumbers("bag").separator = ' ';
  }

  static constexpr int64_t rowCount = 9001; // more than two blocks
  static std::string rows(char delimiter, int64_t badEvery, int64_t salt = 0) {
    std::string text;
    for (int64_t i = 0; i < rowCount; ++i) {
      std::string cells[] = {std::to_string(i % 2), std::to_string(i) + ".5",
                             i % 3 ? std::to_string(i) : "",
                             "text" + std::to_string(i % 17 + salt), ""};
      for (int64_t k = 0; k < i % 4; ++k)
        cells[4] += (k ? " " : "") + std::to_string(10 * i + k);
      if (badEvery && i % badEvery == 3)
        cells[1] = "bad";
      for (size_t c = 0; c < std::size(cells); ++c)
        text += (c ? std::string(1, delimiter) : "") + cells[c];
      text += delimiter;
      text += delimiter == ',' && i % 5 == 0 ? "\"a, \"\"b\"\"\""
                                             : "u" + std::to_string(i);
      text += '\n';
    }
    return text;
  }

  DataOptions options(std::vector<std::string> files) {
    DataOptions options;
    options.files = std::move(files);
    options.batchSize = 700;
    options.columns = {"label", "numbers", "id", "bag", "_"};
    options.copyColumns = {"6"};
    return options;
  }
  DataOptions cached(DataOptions options) {
    options.cache = folder / "cache";
    return options;
  }

  /// Returns everything in a batch.
  static std::string bytesOf(const Batch &batch) {
    std::string all = batch.file() + " " + std::to_string(batch.index()) + " ";
    const auto add = [&](const void *bytes, int64_t size) {
      all.append(static_cast<const char *>(bytes), size_t(size));
    };
    add(batch.sampleNumbers(), 8 * batch.size());
    for (int64_t i = 0; i < batch.size(); ++i)
      all += std::to_string(batch.row(i)) + std::string(batch.copiedCell(i));
    constexpr int64_t sizes[] = {4, 8, 8, 4};
    for (size_t f = 0; f < batch.fieldCount(); ++f) {
      const pdl_field_data &data = batch.fields()[f];
      add(data.values, data.value_count * sizes[f]);
      if (data.splits)
        add(data.splits, 4 * (batch.size() + 1));
    }
    return all;
  }
  /// Returns the rest of an epoch: batches, and the values reported with them.
  static std::vector<std::string> rest(BatchSource &source) {
    std::vector<std::string> all;
    Batch batch;
    while (true) {
      auto more = source.next(0, batch);
      EXPECT_TRUE(more.ok()) << more.status().message();
      if (!more.ok() || !*more)
        break;
      all.push_back(bytesOf(batch));
      all.push_back(std::to_string(source.position().digest));
    }
    all.push_back(std::to_string(source.badRowCount()));
    for (const std::string &message : source.badRowMessages())
      all.push_back(message);
    all.push_back(std::to_string(source.settledRows()));
    for (const auto &[row, cell] : source.takeCopiedCellsOfBadRows())
      all.push_back(std::to_string(row) + " " + cell);
    return all;
  }
  std::vector<std::string> all(const DataOptions &options, int32_t groups = 1,
                               int32_t group = 0) {
    auto source = open(options, nullptr, groups, group);
    return source ? rest(*source) : std::vector<std::string>();
  }
  /// Returns the files in the folder of caches.
  std::vector<std::filesystem::path> caches() {
    std::vector<std::filesystem::path> found;
    if (std::filesystem::exists(folder / "cache"))
      for (const auto &entry :
           std::filesystem::directory_iterator(folder / "cache"))
        found.push_back(entry.path());
    return found;
  }
  static std::string load(const std::filesystem::path &path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void store(const std::filesystem::path &path,
                    const std::string &bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }
};

TEST_F(CacheTest, BatchesAreThoseOfTheTextToTheBit) {
  const std::string first = put("a.csv", rows(',', 0)),
                    packed = put("b.csv.gz", rows(',', 7)),
                    tabs = put("c.tsv.zst", rows('\t', 5000));
  for (int64_t window : {0, 2500})
    for (int32_t groups : {1, 2, 5})
      for (const char *range : {":", "1000:12000", "10%:55%"}) {
        auto text = options({first, packed, tabs});
        text.shuffleWindow = window;
        text.maxBadRows = 5000;
        text.rows = *RowRange::parse(range);
        std::filesystem::remove_all(folder / "cache");
        for (int32_t group = 0; group < groups; ++group) {
          auto plain = open(text, nullptr, groups, group);
          auto source = open(cached(text), nullptr, groups, group);
          for (int64_t epoch : {0, 1}) {
            ASSERT_TRUE(plain->beginEpoch(epoch).ok());
            ASSERT_TRUE(source->beginEpoch(epoch).ok());
            ASSERT_EQ(rest(*source), rest(*plain))
                << range << ", window " << window << ", group " << group
                << " of " << groups << ", epoch " << epoch;
          }
        }
        EXPECT_THAT(caches(), SizeIs(3));
      }
}

// The text is not read if there is a cache: a change that keeps size and time
// is not noticed.
TEST_F(CacheTest, LaterPassesReadNoText) {
  const std::string text = rows(',', 0), path = put("a.csv", text);
  const auto before = all(cached(options({path})));
  EXPECT_THAT(caches(), SizeIs(1));
  const auto time = std::filesystem::last_write_time(path);
  put("a.csv", std::string(text.size(), '\n'));
  std::filesystem::last_write_time(path, time);
  EXPECT_EQ(all(cached(options({path}))), before);
}

TEST_F(CacheTest, AFileThatChangesIsParsedAgain) {
  const std::string path = put("a.csv", rows(',', 0));
  all(cached(options({path})));
  const auto time = std::filesystem::last_write_time(path);
  // The same size, but a later time.
  put("a.csv", rows(',', 0, 20));
  std::filesystem::last_write_time(path, time + std::chrono::seconds(1));
  EXPECT_EQ(all(cached(options({path}))), all(options({path})));
  // Another size, but the same time.
  put("a.csv", rows(',', 0).substr(0, 100000) + "\n");
  std::filesystem::last_write_time(path, time + std::chrono::seconds(1));
  auto few = options({path});
  few.maxBadRows = 1;
  EXPECT_EQ(all(cached(few)), all(few));
  EXPECT_THAT(caches(), SizeIs(1));
}

TEST_F(CacheTest, WhatSaysHowRowsAreReadHasACacheOfItsOwn) {
  const std::string path = put("a.csv", rows(',', 0));
  auto data = options({path});
  all(cached(data));
  const auto expectAnother = [&](size_t count) {
    EXPECT_EQ(all(cached(data)), all(data));
    EXPECT_THAT(caches(), SizeIs(count));
  };
  data.copyColumns = {"4"};
  expectAnother(2);
  data.columns = {"label", "numbers", "_", "bag", "id"};
  expectAnother(3);
  TestRecord other;
  other.dense("label");
  auto &numbers = other.dense("numbers", 2);
  numbers.element_type = PDL_F64;
  numbers.missing_kind = PDL_MISSING_VALUE;
  numbers.missing_value = 2;
  other.ids("id").salt = 7;
  other.raggedNumbers("bag").separator = ' ';
  record = other;
  expectAnother(4);
}

TEST_F(CacheTest, HeadersAreDigestedToo) {
  auto data = options(
      {put("a.csv", "label,numbers.0,numbers.1,id,bag,text\n" + rows(',', 0))});
  data.header = true;
  data.columns.clear();
  const auto plain = all(data);
  for (int pass : {0, 1})
    EXPECT_EQ(all(cached(data)), plain) << pass;
}

TEST_F(CacheTest, ResumeGoesOnFromEither) {
  auto text = options({put("a.csv", rows(',', 0)), put("b.csv", rows(',', 9))});
  text.maxBadRows = 5000;
  text.shuffleWindow = 5000;
  auto source = open(text);
  Batch batch;
  for (int i = 0; i < 9; ++i)
    ASSERT_TRUE(*source->next(0, batch));
  const DataPosition position = source->position();
  const auto expected = [&] {
    auto from = open(text);
    EXPECT_TRUE(from->restore(position).ok());
    return rest(*from);
  }();
  // With a cache that does not exist yet, and with one that does.
  for (int pass : {0, 1}) {
    auto from = open(cached(text));
    ASSERT_TRUE(from->restore(position).ok());
    EXPECT_EQ(from->position(), position);
    EXPECT_EQ(rest(*from), expected) << pass;
    EXPECT_THAT(caches(), SizeIs(2));
  }
}

TEST_F(CacheTest, DamageIsAnErrorOrMended) {
  const auto data = cached(options({put("a.csv", rows(',', 0))}));
  const auto expected = all(data);
  const auto path = caches().at(0);
  const std::string whole = load(path);
  for (size_t at : {size_t(40), whole.size() / 3, whole.size() / 2}) {
    std::string damaged = whole;
    damaged[at] ^= 1;
    store(path, damaged);
    EXPECT_THAT(errorOf(data), HasSubstr(path.string() + ": is damaged"));
  }
  // A file that is not a cache is replaced.
  for (size_t size : {size_t(0), size_t(8), whole.size() - 8}) {
    store(path, whole.substr(0, size));
    EXPECT_EQ(all(data), expected);
    EXPECT_EQ(load(path), whole);
  }
  for (size_t back : {1, 60, 150}) {
    std::string damaged = whole;
    damaged[whole.size() - back] ^= 1;
    store(path, damaged);
    EXPECT_EQ(all(data), expected) << back;
    EXPECT_EQ(load(path), whole) << back;
  }
}

TEST_F(CacheTest, APassThatDoesNotEndLeavesNothing) {
  const auto data = cached(options({put("a.csv", rows(',', 0))}));
  {
    auto source = open(data);
    Batch batch;
    ASSERT_TRUE(*source->next(0, batch));
    // Another reader reads the text meanwhile.
    EXPECT_EQ(all(data), all(options(data.files)));
    EXPECT_THAT(caches(), SizeIs(2)) << "a lock and what is not finished";
  }
  EXPECT_THAT(caches(), IsEmpty());
  // Files of a killed process are removed by the next pass.
  all(data);
  const auto path = caches().at(0);
  std::filesystem::rename(path, path.string() + ".tmp.1");
  all(data);
  EXPECT_THAT(caches(), testing::ElementsAre(path));
}

// Rows that a pass skips are in the cache, too.
TEST_F(CacheTest, FewRowsMakeAWholeCache) {
  auto data = options({put("a.csv", rows(',', 0))});
  data.rows = *RowRange::parse("100:200");
  all(cached(data));
  ASSERT_THAT(caches(), SizeIs(1));
  const auto time = std::filesystem::last_write_time(caches()[0]);
  data.rows = {};
  EXPECT_EQ(all(cached(data)), all(data));
  EXPECT_EQ(std::filesystem::last_write_time(caches()[0]), time);
}

// The first block starts with rows that are skipped, and the last one ends
// after the wanted rows.
TEST_F(CacheTest, DefectsAfterTheWantedRowsAreHarmless) {
  std::string text = rows(',', 0);
  size_t line = 0;
  for (int i = 0; i < 4096; ++i)
    line = text.find('\n', line) + 1;
  text.replace(line, text.find('\n', line) - line, "1,2");
  auto data = options({put("a.csv", text)});
  data.rows = *RowRange::parse("100:200");
  const auto wanted = all(data);
  ASSERT_FALSE(wanted.empty());
  EXPECT_EQ(all(cached(data)), wanted);
}

// A stop does not wait for rows that are read only for the cache.
TEST_F(CacheTest, AStopSignalEndsWhatIsReadForTheCacheAlone) {
  auto data = cached(options({put("a.csv", rows(',', 0))}));
  data.rows = *RowRange::parse("0:100");
  const auto readAndExit = [&] {
    noteStopSignal(SIGINT);
    all(data);
    std::exit(caches().empty() ? 0 : 1);
  };
  EXPECT_EXIT(readAndExit(), testing::ExitedWithCode(0), "");
}

TEST_F(CacheTest, WithoutAFolderTheTextIsRead) {
  auto data = options({put("a.csv", rows(',', 0))});
  const auto expected = all(data);
  data.cache = put("file", "");
  testing::internal::CaptureStderr();
  EXPECT_EQ(all(data), expected);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("going on without a cache of"));
}

TEST_F(CacheTest, BadRowsAreHeldAgainstTheLimitOfEachPass) {
  auto data = options({put("a.csv", rows(',', 4000))});
  const std::string wanted = errorOf(data);
  EXPECT_THAT(wanted, HasSubstr("a.csv:4:2"));
  EXPECT_EQ(errorOf(cached(data)), wanted);
  auto lenient = cached(data);
  lenient.maxBadRows = 3;
  EXPECT_EQ(errorOf(lenient), "");
  EXPECT_THAT(caches(), SizeIs(1));
  EXPECT_EQ(errorOf(cached(data)), wanted);
}

} // namespace
