//===- InputFileTest.cpp - Archives and pipes as data ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestRecord.h"

#include "gmock/gmock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <thread>

using namespace pdlrt;
using namespace pdlrt::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

namespace {

class InputFileTest : public DataTest {
protected:
  void SetUp() override {
    DataTest::SetUp();
    record.dense("x");
    options.batchSize = 1000;
  }
  std::string bytesOf(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string packed(const std::string &text) {
    return bytesOf(put("packed.gz", text));
  }
  std::string putBytes(const std::string &name, const std::string &bytes) {
    const std::string path = folder / name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  /// Returns all values; on an error reports the error instead.
  std::vector<float> readAll() {
    auto source = open(options);
    Batch batch;
    if (!source)
      return {};
    auto more = source->next(0, batch);
    EXPECT_TRUE(more.ok()) << more.status().message();
    return values<float>(batch, 0);
  }
  /// Creates a named pipe, and a thread that writes `text` to it once.
  std::string pipe(const char *name, const std::string &text) {
    const std::string path = folder / name;
    EXPECT_EQ(mkfifo(path.c_str(), 0600), 0);
    writers.emplace_back([path, text] {
      std::ofstream stream(path, std::ios::binary);
      stream << text;
    });
    return path;
  }
  void TearDown() override {
    for (std::thread &writer : writers)
      writer.join();
    DataTest::TearDown();
  }
  /// Lets the writer of an unread pipe finish.
  static void drain(const std::string &path) {
    std::ifstream stream(path);
    std::string all{std::istreambuf_iterator<char>(stream), {}};
  }

  DataOptions options;
  std::vector<std::thread> writers;
};

TEST_F(InputFileTest, AllMembersOfAnArchive) {
  options.files = {
      putBytes("a.csv.gz", packed("1\n2\n") + packed("") + packed("3\n"))};
  EXPECT_THAT(readAll(), ElementsAre(1.f, 2.f, 3.f));
  // Tapes are padded with zeros, more than one buffer of them.
  putBytes("a.csv.gz",
           packed("1\n") + packed("2\n") + std::string(600'000, '\0'));
  EXPECT_THAT(readAll(), ElementsAre(1.f, 2.f));
}

TEST_F(InputFileTest, DamageInALaterMemberIsAnError) {
  std::string rows;
  for (int i = 0; i < 1000; ++i)
    rows += std::to_string(i * 7919 % 10007) + "\n";
  const std::string good = packed(rows);
  std::string flipped = good, cut = good, headless = good;
  flipped[good.size() / 2] ^= 0x10;
  cut.resize(good.size() - 3);
  headless[0] = 'x';
  options.batchSize = 10;
  options.unpackInBackground = true;
  for (const std::string &second : {flipped, cut, headless})
    for (const std::string &bytes : {good + second, second}) {
      options.files = {putBytes("b.csv.gz", bytes)};
      EXPECT_THAT(errorOf(options), HasSubstr("b.csv.gz: ")) << bytes.size();
    }
  options.files = {putBytes("b.csv.gz", good + cut)};
  EXPECT_THAT(errorOf(options), HasSubstr("in the middle of member 2"));
  options.files = {putBytes("b.csv.gz", good + "rest")};
  EXPECT_THAT(errorOf(options), HasSubstr("follow its member 1"));
  options.files = {
      putBytes("b.csv.gz", good + std::string(300'000, '\0') + "rest")};
  EXPECT_THAT(errorOf(options), HasSubstr("follow its member 1"));
  // Only the checksum is wrong.
  std::string wrongSum = good;
  wrongSum[good.size() - 8] ^= 1;
  options.files = {putBytes("b.csv.gz", good + wrongSum)};
  EXPECT_THAT(errorOf(options), HasSubstr("cannot be decompressed"));
}

TEST_F(InputFileTest, NamesThatDoNotFitTheContent) {
  options.files = {putBytes("text.csv.gz", "1\n2\n")};
  EXPECT_THAT(errorOf(options), HasSubstr("gzip has not packed it"));
  options.files = {putBytes("empty.csv.gz", "")};
  EXPECT_THAT(errorOf(options), HasSubstr("it is empty"));
  options.files = {putBytes("packed.csv", packed("1\n"))};
  EXPECT_THAT(errorOf(options), HasSubstr("does not end in .gz"));
}

TEST_F(InputFileTest, AllFramesOfZstd) {
  // A frame to be skipped: its magic number, the number of its bytes, and
  // these.
  const std::string skipped("\x52\x2a\x4d\x18\x03\0\0\0abc", 11);
  const std::string all =
      packedByZstd("1\n2\n") + skipped + packedByZstd("") + packedByZstd("3\n");
  options.files = {putBytes("a.csv.zst", all)};
  EXPECT_THAT(readAll(), ElementsAre(1.f, 2.f, 3.f));
  options.files = {pipe("pipe.csv.zst", all)};
  EXPECT_THAT(readAll(), ElementsAre(1.f, 2.f, 3.f));
}

// The buffers for unpacked text have these sizes.
TEST_F(InputFileTest, FramesThatEndWhereTheRoomForThemDoes) {
  for (size_t size : {262144, 524288, 1048568, 1048576}) {
    std::string rows;
    while (rows.size() < size)
      rows += "1\n";
    options.batchSize = int64_t(size);
    options.files = {putBytes("a.csv.zst", packedByZstd(rows))};
    for (bool inBackground : {false, true}) {
      options.unpackInBackground = inBackground;
      EXPECT_THAT(readAll(), SizeIs(size / 2)) << size << ", " << inBackground;
    }
  }
}

// Above 1 MiB a quote counts as unclosed, however the text is divided into
// buffers.
TEST_F(InputFileTest, LongQuotedRowsEndWhereTheyDoInAnyBuffer) {
  options.maxBadRows = 10;
  options.batchSize = 1 << 20;
  for (int64_t bytes :
       {1'040'000, 1'048'572, 1'048'574, 1'048'576, 1'048'578, 1'300'000}) {
    std::string rows = "1\n\"";
    for (int64_t i = 0; i < bytes / 2; ++i)
      rows += "2\n";
    rows += "\"\n3\n";
    std::vector<size_t> counts;
    for (const char *name : {"a.csv", "a.csv.gz", "a.csv.zst"})
      for (bool inBackground : {false, true}) {
        options.files = {put(name, rows)};
        options.unpackInBackground = inBackground;
        counts.push_back(readAll().size());
      }
    EXPECT_THAT(counts, testing::Each(counts[0])) << bytes;
    if (bytes == 1'040'000)
      EXPECT_EQ(counts[0], 2U);
    if (bytes == 1'300'000)
      EXPECT_GT(counts[0], 600'000U);
  }
}

TEST_F(InputFileTest, DamageOfZstdIsAnError) {
  std::string rows;
  for (int i = 0; i < 1000; ++i)
    rows += std::to_string(i * 7919 % 10007) + "\n";
  const std::string good = packedByZstd(rows);
  const auto errorOfBytes = [&](const std::string &bytes) {
    options.files = {putBytes("b.csv.zst", bytes)};
    return errorOf(options);
  };
  for (bool inBackground : {false, true}) {
    options.unpackInBackground = inBackground;
    std::string flipped = good, wrongSum = good;
    flipped[good.size() / 2] ^= 0x10;
    wrongSum.back() ^= 1;
    EXPECT_THAT(errorOfBytes(good + flipped),
                HasSubstr("b.csv.zst: cannot be decompressed"));
    EXPECT_THAT(errorOfBytes(wrongSum), HasSubstr("checksum"));
    for (size_t cut : {size_t(1), size_t(5), good.size() - 2}) {
      EXPECT_THAT(errorOfBytes(good.substr(0, good.size() - cut)),
                  HasSubstr("in the middle of frame 1"));
      EXPECT_THAT(errorOfBytes(good + good.substr(0, good.size() - cut)),
                  HasSubstr("in the middle of frame 2"));
    }
    EXPECT_THAT(errorOfBytes(good + "rest"), HasSubstr("follow its frame 1"));
    EXPECT_THAT(errorOfBytes("1\n2\n"), HasSubstr("zstd has not packed it"));
    EXPECT_THAT(errorOfBytes(""), HasSubstr("it is empty"));
    EXPECT_EQ(errorOfBytes(good), "");
  }
  options.files = {putBytes("packed.csv", good)};
  EXPECT_THAT(errorOf(options), HasSubstr("does not end in .zst"));
}

// There are many pieces, and some of them wait. The text is the same, and so
// are the rows before damage.
TEST_F(InputFileTest, UnpackingInBackgroundChangesNothing) {
  std::string rows;
  for (int i = 0; i < 300'000; ++i)
    rows += std::to_string(i) + "\n";
  options.batchSize = 70'000;
  for (const char *name : {"a.csv.gz", "a.csv.zst"}) {
    const std::string path = put(name, rows);
    const std::string bytes = bytesOf(path);
    for (bool isCut : {false, true}) {
      if (isCut)
        putBytes(name, bytes.substr(0, bytes.size() - 5));
      options.files = {path};
      std::vector<std::vector<float>> batches[2];
      std::string errors[2];
      for (bool inBackground : {false, true}) {
        options.unpackInBackground = inBackground;
        auto source = open(options);
        ASSERT_TRUE(source);
        Batch batch;
        while (true) {
          auto more = source->next(0, batch);
          if (!more.ok())
            errors[inBackground] = more.status().message();
          if (!more.ok() || !*more)
            break;
          batches[inBackground].push_back(values<float>(batch, 0));
        }
      }
      EXPECT_EQ(batches[0], batches[1]);
      EXPECT_THAT(batches[0], SizeIs(isCut ? 4 : 5));
      EXPECT_EQ(errors[0], errors[1]);
      EXPECT_EQ(errors[0].empty(), !isCut);
    }
    // The rest is not read.
    put(name, rows);
    Batch batch;
    EXPECT_TRUE(*open(options)->next(0, batch));
  }
}

TEST_F(InputFileTest, APipeIsReadOnceAndWhole) {
  std::string rows;
  for (int i = 0; i < 100'000; ++i)
    rows += std::to_string(i) + "\n";
  options.files = {pipe("a.csv", rows)};
  options.batchSize = 200'000;
  auto source = open(options);
  ASSERT_NE(source, nullptr);
  // A trainer does this before its first epoch.
  ASSERT_TRUE(source->beginEpoch(0).ok());
  Batch batch;
  ASSERT_TRUE(*source->next(0, batch));
  ASSERT_EQ(batch.size(), 100'000);
  EXPECT_EQ(values<float>(batch, 0).back(), 99'999.f);
  EXPECT_FALSE(*source->next(0, batch));
  EXPECT_THAT(source->beginEpoch(1).message(),
              HasSubstr("a.csv: is a pipe or a device, which can be read but "
                        "once"));
}

// The end of the file is where it was at the start of the epoch.
TEST_F(InputFileTest, AFileThatGrowsOrShrinksWhileItIsRead) {
  std::string rows;
  for (int i = 0; i < 1'000'000; ++i)
    rows += std::to_string(i) + "\n";
  options.files = {put("a.csv", rows)};
  auto source = open(options);
  ASSERT_NE(source, nullptr);
  Batch batch;
  int64_t count = 0;
  ASSERT_TRUE(*source->next(0, batch));
  std::ofstream(options.files[0], std::ios::app) << "1\n2\n3\n";
  do
    count += batch.size();
  while (*source->next(0, batch));
  EXPECT_EQ(count, 1'000'000);

  put("a.csv", rows);
  source = open(options);
  ASSERT_TRUE(*source->next(0, batch));
  std::filesystem::resize_file(options.files[0], rows.size() / 2);
  Expected<bool> more = true;
  while (more.ok() && *more)
    more = source->next(0, batch);
  EXPECT_THAT(more.status().message(),
              HasSubstr("do not change a file that is read"));
}

TEST_F(InputFileTest, APackedPipeAndALaterFile) {
  options.files = {put("a.csv", "1\n2\n"),
                   pipe("b.csv.gz", packed("3\n") + packed("4\n"))};
  EXPECT_THAT(readAll(), ElementsAre(1.f, 2.f, 3.f, 4.f));
}

TEST_F(InputFileTest, WhatNeedsTwoPassesOverAPipeIsRefused) {
  const std::string path = pipe("a.csv", "1\n2\n");
  options.files = {path};
  options.rows = *RowRange::parse("0%:50%");
  EXPECT_THAT(errorOf(options), HasSubstr("has to count the rows first"));
  options.rows = {};
  auto shared = BatchSource::open(options, record.descriptor(),
                                  record.program(), /*groups=*/2);
  EXPECT_THAT(shared.status().message(), HasSubstr("2 groups of replicas"));
  options.files = {folder / "a.safetensors"};
  ASSERT_EQ(mkfifo(options.files[0].c_str(), 0600), 0);
  EXPECT_THAT(errorOf(options), HasSubstr("is a pipe or a device"));
  drain(path);
}

// A range of rows that is known without counting.
TEST_F(InputFileTest, RowsOfAPipe) {
  options.files = {pipe("a.csv", "1\n2\n3\n4\n")};
  options.rows = *RowRange::parse("1:3");
  EXPECT_THAT(readAll(), ElementsAre(2.f, 3.f));
}

} // namespace
