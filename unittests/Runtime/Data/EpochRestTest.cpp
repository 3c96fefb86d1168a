//===- EpochRestTest.cpp - Epochs that are divided again ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestRecord.h"

#include "pdlrt/Data/EpochRest.h"
#include "gmock/gmock.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <sys/stat.h>
#include <utility>
#include <vector>

using namespace pdlrt;
using namespace pdlrt::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

using Numbers = std::vector<int64_t>;

/// Records contain their own number.
class EpochRestTest : public DataTest {
protected:
  void SetUp() override {
    DataTest::SetUp();
    record.ids("id").hash_kind = PDL_HASH_NONE;
    record.ids("other").hash_kind = PDL_HASH_NONE;
  }

  /// Writes rows with the numbers from `begin`; every `badEvery`th row is bad.
  std::string putRows(const std::string &name, int64_t begin, int64_t end,
                      int64_t badEvery = 0, bool header = false) {
    std::string text = header ? "id,other\n" : "";
    for (int64_t i = begin; i < end; ++i)
      text += badEvery > 0 && i % badEvery == 1
                  ? std::string("bad,0\n")
                  : std::to_string(i) + "," + std::to_string(i * 7919) + "\n";
    return put(name, text);
  }

  /// The groups of a job with one division of an epoch.
  struct Groups {
    int32_t count = 1, workers = 1;
    std::shared_ptr<const EpochRest> rest;
    std::vector<std::unique_ptr<BatchSource>> sources;

    DividedEpoch divided() const {
      DividedEpoch now;
      for (const auto &source : sources)
        now.positions.push_back(source->position());
      now.rest = rest;
      return now;
    }
  };
  Groups openGroups(const DataOptions &options, int32_t count, int32_t workers,
                    std::shared_ptr<const EpochRest> rest = nullptr) {
    Groups groups{count, workers, std::move(rest), {}};
    for (int32_t g = 0; g < count; ++g) {
      groups.sources.push_back(open(options, nullptr, count, g, workers));
      DataPosition begin;
      begin.epoch = 2;
      EXPECT_TRUE(groups.sources.back()->restore(begin, groups.rest).ok());
    }
    return groups;
  }
  /// Reads a round of all workers; empty at the end of the epoch.
  static std::vector<Numbers> round(Groups &groups) {
    std::vector<Numbers> batches;
    bool any = false;
    for (auto &source : groups.sources)
      for (int32_t w = 0; w < groups.workers; ++w) {
        Batch batch;
        auto more = source->next(w, batch);
        EXPECT_TRUE(more.ok()) << more.status().message();
        any |= more.ok() && *more;
        batches.push_back(more.ok() && *more ? values<int64_t>(batch, 0)
                                             : Numbers());
      }
    return any ? batches : std::vector<Numbers>();
  }
  static void readRounds(Groups &groups, int rounds, Numbers &into) {
    for (int i = 0; i < rounds; ++i)
      for (const Numbers &batch : round(groups))
        into.insert(into.end(), batch.begin(), batch.end());
  }
  static void readAll(Groups &groups, Numbers &into) {
    for (auto batches = round(groups); !batches.empty();
         batches = round(groups))
      for (const Numbers &batch : batches)
        into.insert(into.end(), batch.begin(), batch.end());
  }
  std::shared_ptr<const EpochRest> restOf(const DataOptions &options,
                                          const DividedEpoch &divided) {
    auto rest =
        restOfEpoch(options, record.descriptor(), record.program(), divided);
    EXPECT_TRUE(rest.ok()) << rest.status().message();
    return std::make_shared<const EpochRest>(rest.ok() ? *std::move(rest)
                                                       : EpochRest());
  }
  DataOptions options(std::vector<std::string> files, int64_t batchSize,
                      int64_t window) {
    DataOptions options;
    options.files = std::move(files);
    options.batchSize = batchSize;
    options.shuffleWindow = window;
    options.seed = 5;
    options.maxBadRows = 1000;
    return options;
  }
  static Numbers sorted(Numbers numbers) {
    std::ranges::sort(numbers);
    return numbers;
  }
};

TEST_F(EpochRestTest, WithoutBadRowsOrAShuffleItIsASuffix) {
  const auto opts = options({putRows("a.csv", 0, 100)}, 4, 0);
  Groups before = openGroups(opts, 3, 2);
  Numbers read;
  readRounds(before, 2, read);
  const auto rest = restOf(opts, before.divided());
  EXPECT_THAT(rest->runs, ElementsAre(RowRun{0, 48, RowRun::endOfFile}));
  ASSERT_EQ(rest->places.size(), 1u);
  EXPECT_EQ(rest->places[0].row, 48);
  // Remaining blocks go to the new groups in turn, starting with the first.
  Groups after = openGroups(opts, 2, 1, rest);
  EXPECT_THAT(round(after),
              ElementsAre(Numbers{48, 49, 50, 51}, Numbers{52, 53, 54, 55}));
}

TEST_F(EpochRestTest, FilesThatAreLeftGoToTheNewGroupsInTurn) {
  std::vector<std::string> files;
  for (int64_t i = 0; i < 6; ++i)
    files.push_back(putRows(std::to_string(i) + ".csv", 100 * i, 100 * i + 8));
  const auto opts = options(files, 4, 0);
  Groups before = openGroups(opts, 2, 1);
  Numbers read;
  readRounds(before, 3, read);
  // Files 0 and 1 are finished, 2 and 3 are half read.
  const auto rest = restOf(opts, before.divided());
  EXPECT_THAT(rest->runs, ElementsAre(RowRun{2, 4, RowRun::endOfFile},
                                      RowRun{3, 4, RowRun::endOfFile},
                                      RowRun{4, 0, RowRun::endOfFile},
                                      RowRun{5, 0, RowRun::endOfFile}));
  Groups four = openGroups(opts, 4, 1, rest);
  EXPECT_THAT(round(four), ElementsAre(Numbers{204, 205, 206, 207},
                                       Numbers{304, 305, 306, 307},
                                       Numbers{400, 401, 402, 403},
                                       Numbers{500, 501, 502, 503}));
  // With more groups than files, blocks of all files are distributed.
  Groups five = openGroups(opts, 5, 1, rest);
  Numbers all = read;
  readAll(five, all);
  EXPECT_EQ(all.size(), 48u);
}

// For any files, order, bad rows, and number of divisions.
TEST_F(EpochRestTest, EachRowIsReadExactlyOnce) {
  struct Deal {
    int32_t groups, workers;
    int rounds;
  };
  const std::vector<std::vector<Deal>> jobs = {
      {{1, 1, 3}, {3, 1, 2}, {1, 2, 0}},
      {{3, 2, 2}, {2, 1, 1}, {5, 1, 1}, {1, 1, 0}},
      {{2, 1, 0}, {3, 1, 4}, {3, 2, 1}, {2, 2, 0}},
      {{4, 1, 5}, {1, 1, 7}, {2, 3, 0}},
      {{2, 2, 40}, {3, 1, 0}}};
  struct Data {
    std::vector<std::string> names;
    std::vector<int64_t> sizes;
  };
  const std::vector<Data> layouts = {
      {{"a.csv"}, {150}},
      {{"a.csv", "b.csv.gz"}, {31, 122}},
      {{"a.csv", "b.csv.zst", "c.csv", "d.csv.gz", "e.csv"},
       {40, 3, 25, 61, 18}}};
  int cases = 0;
  for (const Data &layout : layouts)
    for (const int64_t window : {0, 5, 16, 64})
      for (const int64_t badEvery : {0, 7})
        for (const bool cached : {false, true})
          for (const bool header : {false, true})
            for (const auto &job : jobs) {
              const char *rows = !header ? ":" : cached ? "9:133" : "0%:80%";
              std::vector<std::string> files;
              Numbers expected;
              int64_t begin = 0;
              const int64_t last = std::accumulate(
                  layout.sizes.begin(), layout.sizes.end(), int64_t(0));
              for (size_t f = 0; f < layout.names.size(); ++f) {
                const int64_t end = begin + layout.sizes[f];
                files.push_back(
                    putRows(layout.names[f], begin, end, badEvery, header));
                for (int64_t i = begin; i < end; ++i)
                  if (!(badEvery > 0 && i % badEvery == 1) &&
                      (*rows == ':' ||
                       (cached ? i >= 9 && i < 133 : i < last * 80 / 100)))
                    expected.push_back(i);
                begin = end;
              }
              auto opts = options(files, 4, window);
              opts.header = header;
              opts.shuffleFiles = window == 5 || window == 64;
              opts.rows = *RowRange::parse(rows);
              if (cached)
                opts.cache =
                    (folder / ("cache" + std::to_string(cases++))).string();
              Numbers read;
              std::shared_ptr<const EpochRest> rest;
              std::string what;
              for (const Deal &deal : job) {
                what += std::to_string(deal.groups) + "x" +
                        std::to_string(deal.workers) + " ";
                Groups groups =
                    openGroups(opts, deal.groups, deal.workers, rest);
                if (deal.rounds == 0)
                  readAll(groups, read);
                readRounds(groups, deal.rounds, read);
                rest = restOf(opts, groups.divided());
              }
              ASSERT_EQ(sorted(read), expected)
                  << layout.names.size() << " files, window " << window
                  << ", bad rows " << badEvery << ", header " << header
                  << ", cache " << cached << ", rows " << rows << ", " << what;
              EXPECT_TRUE(rest->runs.empty() ||
                          rest->runs.back().end == RowRun::endOfFile);
            }
}

// Remaining rows are divided like an epoch, so a position in them can be
// resumed.
TEST_F(EpochRestTest, PositionsInARestAreRestored) {
  for (const int64_t window : {0, 5, 16})
    for (const bool cached : {false, true}) {
      auto opts =
          options({putRows("a.csv", 0, 90, 7), putRows("b.csv.gz", 90, 170, 5)},
                  4, window);
      if (cached)
        opts.cache = (folder / ("cached" + std::to_string(window))).string();
      Groups before = openGroups(opts, 4, 1);
      Numbers read;
      readRounds(before, 3, read);
      const auto rest = restOf(opts, before.divided());
      for (const int32_t count : {1, 2, 3}) {
        std::vector<DividedEpoch> positions;
        std::vector<std::vector<Numbers>> rounds;
        Groups after = openGroups(opts, count, 2, rest);
        while (true) {
          positions.push_back(after.divided());
          rounds.push_back(round(after));
          if (rounds.back().empty())
            break;
        }
        for (size_t i = 0; i < positions.size(); ++i) {
          Groups resumed = openGroups(opts, count, 2, rest);
          for (int32_t g = 0; g < count; ++g) {
            const DataPosition &position = positions[i].positions[size_t(g)];
            auto source = open(opts, nullptr, count, g, 2);
            const Status restored = source->restore(position, rest);
            ASSERT_TRUE(restored.ok()) << restored.message();
            EXPECT_EQ(source->position(), position);
            resumed.sources[size_t(g)] = std::move(source);
          }
          for (size_t j = i; j < rounds.size(); ++j)
            ASSERT_EQ(round(resumed), rounds[j])
                << "window " << window << ", " << count << " groups, from " << i
                << " in round " << j;
        }
      }
    }
}

// The permutation differs from those of the epoch's first windows.
TEST_F(EpochRestTest, WindowsAreNumberedOn) {
  const auto opts = options({putRows("a.csv", 0, 96)}, 4, 8);
  Groups before = openGroups(opts, 1, 1);
  Numbers read;
  readRounds(before, 4, read);
  const auto rest = restOf(opts, before.divided());
  EXPECT_EQ(rest->windows, 2);
  Groups after = openGroups(opts, 1, 1, rest);
  Numbers first, again;
  readRounds(after, 2, again);
  readRounds(before, 2, first);
  EXPECT_EQ(again, first);
}

TEST_F(EpochRestTest, OtherDataAreRefused) {
  auto opts = options({putRows("a.csv", 0, 96)}, 4, 0);
  Groups before = openGroups(opts, 2, 1);
  Numbers read;
  readRounds(before, 2, read);
  const DividedEpoch divided = before.divided();
  const auto errorOf = [&](const DividedEpoch &from) {
    return restOfEpoch(opts, record.descriptor(), record.program(), from)
        .status()
        .message();
  };
  DividedEpoch past = divided;
  past.positions[1].offset = 5;
  EXPECT_THAT(errorOf(past), HasSubstr("the data end before the position"));
  std::string text;
  for (int64_t i = 0; i < 96; ++i)
    text += std::to_string(i) + "," + std::to_string(i * 7919) + "\n";
  std::ranges::replace(text, '3', '4');
  put("a.csv", text);
  EXPECT_THAT(errorOf(divided), HasSubstr("another content"));
}

// A feeder distributes the lines of a log to pipes in turn, with more or fewer
// pipes after each resume. No line is read twice.
TEST_F(EpochRestTest, StreamsAreDealtToOtherPipes) {
  constexpr int64_t lines = 203;
  const auto isBad = [](int64_t line) { return line % 9 == 1; };
  int count = 0;
  for (const auto &job : std::vector<std::vector<std::pair<int, int>>>{
           {{3, 3}, {2, 5}, {4, 1}, {1, 0}},
           {{1, 7}, {5, 2}, {3, 0}},
           {{2, 0}, {3, 0}}})
    for (const int64_t window : {0, 4}) {
      Numbers read, expected;
      for (int64_t i = 0; i < lines; ++i)
        if (window > 0 || !isBad(i))
          expected.push_back(i);
      std::shared_ptr<const EpochRest> rest;
      int64_t filesBefore = 0;
      DividedEpoch divided;
      for (const auto &[files, rounds] : job) {
        auto opts = options({}, 4, window);
        auto pipes = opts;
        for (int64_t f = 0; f < files; ++f) {
          std::string text;
          for (int64_t i = f; i < lines; i += files)
            text += window == 0 && isBad(i) ? "bad,0\n"
                                            : std::to_string(i) + ",0\n";
          const std::string name = std::to_string(count++);
          opts.files.push_back(put(name + ".csv", text));
          pipes.files.push_back((folder / (name + ".pipe.csv")).string());
          ASSERT_EQ(mkfifo(pipes.files.back().c_str(), 0600), 0);
        }
        if (filesBefore > 0) {
          divided.files = filesBefore;
          rest = restOf(pipes, divided);
        }
        Groups groups = openGroups(opts, files, 1, rest);
        if (rounds == 0)
          readAll(groups, read);
        readRounds(groups, rounds, read);
        divided = groups.divided();
        filesBefore = files;
      }
      EXPECT_EQ(sorted(read), expected) << "window " << window;
    }
}

// Within a window it is not known which rows remain.
TEST_F(EpochRestTest, StreamsAreNotReadTwice) {
  auto opts = options({putRows("a.csv", 0, 96)}, 4, 6);
  Groups before = openGroups(opts, 1, 1);
  Numbers read;
  readRounds(before, 1, read);
  opts.files = {(folder / "pipe.csv").string(),
                (folder / "other.csv").string()};
  for (const std::string &file : opts.files)
    ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  DividedEpoch divided = before.divided();
  divided.files = 1;
  const auto errorOf = [&] {
    return restOfEpoch(opts, record.descriptor(), record.program(), divided)
        .status()
        .message();
  };
  EXPECT_THAT(errorOf(), HasSubstr("in the middle of a shuffle window"));
  divided.positions.resize(3);
  EXPECT_THAT(errorOf(), HasSubstr("each group has files of its own"));
}

} // namespace
