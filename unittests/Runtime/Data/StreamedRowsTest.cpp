//===- StreamedRowsTest.cpp - Rows that arrive one by one -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestRecord.h"

#include "gmock/gmock.h"

#include <atomic>
#include <chrono>
#include <fcntl.h>
#include <sys/stat.h>
#include <thread>

using namespace pdlrt;
using namespace pdlrt::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

namespace {

/// Writes to a named pipe, piece by piece.
class PipeEnd {
public:
  explicit PipeEnd(std::string name) : path(std::move(name)) {
    EXPECT_EQ(mkfifo(path.c_str(), 0600), 0);
    // Opened for reading too, so that it need not wait for a reader.
    file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    EXPECT_GE(file, 0);
  }
  ~PipeEnd() { close(); }
  PipeEnd(const PipeEnd &) = delete;
  PipeEnd &operator=(const PipeEnd &) = delete;

  void write(const std::string &bytes) const {
    EXPECT_EQ(::write(file, bytes.data(), bytes.size()), ssize_t(bytes.size()));
  }
  void close() {
    if (file >= 0)
      ::close(file);
    file = -1;
  }
  const std::string path;

private:
  int file;
};

class StreamedRowsTest : public DataTest {
protected:
  void SetUp() override {
    DataTest::SetUp();
    record.dense("x");
    options.batchSize = 1000;
    options.flushAfter = 1;
  }
  /// Returns the values of the next batch.
  std::vector<float> next(BatchSource &source) {
    Expected<bool> more = source.next(0, batch);
    EXPECT_TRUE(more.ok()) << more.status().message();
    if (!more)
      return {};
    EXPECT_EQ(*more, batch.size() > 0);
    return values<float>(batch, 0);
  }

  DataOptions options;
  Batch batch;
};

TEST_F(StreamedRowsTest, ABatchDoesNotWaitUntilItIsFull) {
  PipeEnd pipe(folder / "a.csv");
  options.files = {pipe.path};
  // Shorter than the magic numbers of archives.
  pipe.write("1\n");
  auto source = open(options);
  ASSERT_TRUE(source);
  EXPECT_THAT(next(*source), ElementsAre(1.f));
  EXPECT_EQ(source->settledRows(), 1);
  // Half a row is no row yet, and is not lost.
  pipe.write("2\n3\n4");
  EXPECT_THAT(next(*source), ElementsAre(2.f, 3.f));
  pipe.write("5\n");
  EXPECT_THAT(next(*source), ElementsAre(45.f));
  EXPECT_EQ(batch.index(), 2);
  EXPECT_EQ(batch.row(0), 3);
  pipe.write("6");
  pipe.close();
  EXPECT_THAT(next(*source), ElementsAre(6.f));
  EXPECT_THAT(next(*source), IsEmpty());
  EXPECT_TRUE(source->isAtEnd());
}

// An empty line is a row of one column like any other.
TEST_F(StreamedRowsTest, BlankLinesGetResponses) {
  record = {};
  pdl_field &x = record.dense("x");
  x.missing_kind = PDL_MISSING_VALUE;
  x.missing_value = -1;
  PipeEnd pipe(folder / "a.csv");
  options.files = {pipe.path};
  pipe.write("\n");
  auto source = open(options);
  ASSERT_TRUE(source);
  EXPECT_THAT(next(*source), ElementsAre(-1.f));
  pipe.write("2\n\n");
  EXPECT_THAT(next(*source), ElementsAre(2.f, -1.f));
  pipe.close();
  EXPECT_THAT(next(*source), IsEmpty());
}

// If rows have several cells, it is a bad row, once another row has arrived.
TEST_F(StreamedRowsTest, BlankLinesAmongSeveralColumns) {
  record.dense("y");
  PipeEnd pipe(folder / "a.csv");
  options.files = {pipe.path};
  options.maxBadRows = 1;
  pipe.write("1,2\n\n");
  auto source = open(options);
  ASSERT_TRUE(source);
  EXPECT_THAT(next(*source), ElementsAre(1.f));
  pipe.write("3,4\n \n\n");
  EXPECT_THAT(next(*source), ElementsAre(3.f));
  EXPECT_EQ(batch.row(0), 2);
  pipe.close();
  EXPECT_THAT(next(*source), IsEmpty());
  EXPECT_EQ(source->badRowCount(), 1);
  EXPECT_TRUE(source->isAtEnd());
}

// Available rows fill batches, whatever the waiting time is.
TEST_F(StreamedRowsTest, BatchesOfWhatIsThereAreFull) {
  std::string rows;
  for (int i = 0; i < 2500; ++i)
    rows += std::to_string(i) + "\n";
  PipeEnd pipe(folder / "a.csv");
  options.files = {pipe.path};
  for (int64_t milliseconds : {0, 50}) {
    options.flushAfter = milliseconds;
    pipe.write(rows);
    auto source = open(options);
    ASSERT_TRUE(source);
    std::vector<int64_t> sizes;
    for (int i = 0; i < 3; ++i)
      sizes.push_back(int64_t(next(*source).size()));
    EXPECT_THAT(sizes, ElementsAre(1000, 1000, 500)) << milliseconds;
  }
}

// The waiting time starts with the first row of a batch, not with the last one.
// Otherwise this test would not end.
TEST_F(StreamedRowsTest, TheFirstRowOfABatchSaysWhenItIsCut) {
  PipeEnd pipe(folder / "a.csv");
  options.files = {pipe.path};
  options.flushAfter = 100;
  options.batchSize = 1'000'000;
  pipe.write("1\n");
  std::atomic<bool> isOver{false};
  std::thread writer([&] {
    while (!isOver) {
      pipe.write("1\n");
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  });
  auto source = open(options);
  const size_t count = next(*source).size();
  isOver = true;
  writer.join();
  EXPECT_GE(count, 1U);
}

TEST_F(StreamedRowsTest, BadRowsDoNotWaitForGoodOnes) {
  record.ids("id");
  PipeEnd pipe(folder / "a.csv");
  options.files = {pipe.path};
  options.idField = "id";
  options.maxBadRows = 10;
  options.batchSize = 3;
  pipe.write("what,a\n,b\n");
  auto source = open(options, &record.program({0}));
  ASSERT_TRUE(source);
  EXPECT_THAT(next(*source), IsEmpty());
  EXPECT_FALSE(source->isAtEnd());
  EXPECT_EQ(source->settledRows(), 2);
  EXPECT_THAT(source->takeCopiedCellsOfBadRows(),
              ElementsAre(Pair(0, "a"), Pair(1, "b")));
  EXPECT_THAT(source->takeCopiedCellsOfBadRows(), IsEmpty());
  // One row of the next window is left: bad rows before it are settled, and
  // those after it are not.
  pipe.write("1,c\n2,d\nno,e\n4,f\nno,g\n6,h\nno,i\n");
  EXPECT_THAT(next(*source), ElementsAre(1.f, 2.f, 4.f));
  EXPECT_EQ(source->settledRows(), 7);
  EXPECT_THAT(source->takeCopiedCellsOfBadRows(),
              ElementsAre(Pair(4, "e"), Pair(6, "g")));
  EXPECT_THAT(next(*source), ElementsAre(6.f));
  EXPECT_EQ(source->settledRows(), 9);
  EXPECT_THAT(source->takeCopiedCellsOfBadRows(), ElementsAre(Pair(8, "i")));
  pipe.close();
  EXPECT_THAT(next(*source), IsEmpty());
  EXPECT_TRUE(source->isAtEnd());
}

/// Returns `text` as the next piece of a gzip stream, completely flushed.
std::string gzipPiece(z_stream &stream, std::string text, int flush) {
  std::string packed(text.size() + 100, '\0');
  stream.next_in = reinterpret_cast<Bytef *>(text.data()); // NOLINT
  stream.avail_in = uInt(text.size());
  stream.next_out = reinterpret_cast<Bytef *>(packed.data()); // NOLINT
  stream.avail_out = uInt(packed.size());
  deflate(&stream, flush);
  packed.resize(packed.size() - stream.avail_out);
  return packed;
}

TEST_F(StreamedRowsTest, WhatIsPackedComesAsItIsFlushed) {
  z_stream stream = {};
  ASSERT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, 0), Z_OK);
  PipeEnd pipe(folder / "a.csv.gz");
  options.files = {pipe.path};
  pipe.write(gzipPiece(stream, "1\n2\n", Z_SYNC_FLUSH));
  auto source = open(options);
  ASSERT_TRUE(source);
  EXPECT_THAT(next(*source), ElementsAre(1.f, 2.f));
  const std::string piece = gzipPiece(stream, "3\n", Z_SYNC_FLUSH);
  pipe.write(piece);
  EXPECT_THAT(next(*source), ElementsAre(3.f));
  pipe.write(gzipPiece(stream, "4\n", Z_FINISH));
  deflateEnd(&stream);
  EXPECT_THAT(next(*source), ElementsAre(4.f));
  // Another member, and zstd frames.
  pipe.close();
  EXPECT_THAT(next(*source), IsEmpty());
  PipeEnd frames(folder / "a.csv.zst");
  options.files = {frames.path};
  frames.write(packedByZstd("1\n2\n"));
  source = open(options);
  ASSERT_TRUE(source);
  EXPECT_THAT(next(*source), ElementsAre(1.f, 2.f));
  frames.write(packedByZstd("3\n"));
  EXPECT_THAT(next(*source), ElementsAre(3.f));
}

// Text that compresses so well that its last bytes wait in the unpacker for
// memory after all compressed bytes were read.
TEST_F(StreamedRowsTest, NothingIsLeftInAnUnpacker) {
  // Size of the buffer for text.
  constexpr size_t room = (size_t(1) << 20) - 8;
  options.batchSize = 10'000'000;
  for (size_t more : {2, 60, 120, 240}) {
    std::string rows;
    while (rows.size() < room + more)
      rows += "1\n";
    z_stream stream = {};
    ASSERT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, 0), Z_OK);
    PipeEnd pipe(folder / (std::to_string(more) + ".csv.gz"));
    options.files = {pipe.path};
    pipe.write(gzipPiece(stream, rows, Z_PARTIAL_FLUSH));
    deflateEnd(&stream);
    auto source = open(options);
    ASSERT_TRUE(source);
    EXPECT_EQ(next(*source).size(), rows.size() / 2);
  }
}

// Waiting for a second pipe does not delay rows of the first one.
TEST_F(StreamedRowsTest, RowsDoNotWaitForTheNextFile) {
  PipeEnd first(folder / "a.csv"), second(folder / "b.csv");
  options.files = {first.path, second.path, put("c.csv", "5\n")};
  first.write("1\n2\n");
  auto source = open(options);
  ASSERT_TRUE(source);
  first.close();
  EXPECT_THAT(next(*source), ElementsAre(1.f, 2.f));
  second.write("3\n");
  EXPECT_THAT(next(*source), ElementsAre(3.f));
  second.write("4\n");
  second.close();
  // Opening a file takes no time.
  EXPECT_THAT(next(*source), ElementsAre(4.f, 5.f));
  EXPECT_THAT(next(*source), IsEmpty());
}

TEST_F(StreamedRowsTest, NobodyWaitsForEver) {
  PipeEnd pipe(folder / "a.csv");
  options.files = {pipe.path};
  options.flushAfter.reset();
  pipe.write("1\n2\n");
  auto source = open(options);
  ASSERT_TRUE(source);
  std::thread other([&] { source->endWaiting(); });
  Expected<bool> more = source->next(0, batch);
  other.join();
  EXPECT_THAT(more.status().message(),
              HasSubstr("a.csv: was not read to its end, because no"));
}

TEST_F(StreamedRowsTest, OneReplicaInTheOrderOfTheFiles) {
  options.files = {put("a.csv", "1\n")};
  for (int32_t workers : {1, 2})
    for (int64_t window : {0, 5}) {
      options.shuffleWindow = window;
      auto source = BatchSource::open(options, record.descriptor(),
                                      record.program(), 1, 0, workers);
      EXPECT_EQ(source.ok(), workers == 1 && window == 0);
      if (!source)
        EXPECT_THAT(source.status().message(), HasSubstr("for one replica"));
    }
}

} // namespace
