//===- KafkaRowsTest.cpp - The rows of partitions of a topic --------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/KafkaRows.h"

#include "Data/RecordStream.h"
#include "pdlrt/Core/MetricRegistry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <librdkafka/rdkafka_mock.h>
#include <optional>
#include <string>
#include <vector>

using namespace pdlrt;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

/// A broker with the topic "clicks", which has three partitions.
class KafkaRowsTest : public testing::Test {
public:
  KafkaRowsTest() {
    owner = rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), nullptr, 0);
    cluster = rd_kafka_mock_cluster_new(owner, 1);
    rd_kafka_mock_topic_create(cluster, "clicks", 3, 1);
    rd_kafka_conf_t *const conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "bootstrap.servers",
                      rd_kafka_mock_cluster_bootstraps(cluster), nullptr, 0);
    producer = rd_kafka_new(RD_KAFKA_PRODUCER, conf, nullptr, 0);
  }
  ~KafkaRowsTest() override {
    rd_kafka_destroy(producer);
    rd_kafka_mock_cluster_destroy(cluster);
    rd_kafka_destroy(owner);
  }

  /// Sends a message; without `content`, one that has none. All earlier
  /// messages are written before it.
  void send(int32_t partition, std::optional<std::string> content,
            int64_t time) {
    char *const bytes = content ? content->data() : nullptr;
    const size_t size = content ? content->size() : 0;
    rd_kafka_producev(
        producer, RD_KAFKA_V_TOPIC("clicks"), RD_KAFKA_V_PARTITION(partition),
        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_VALUE(bytes, size),
        RD_KAFKA_V_TIMESTAMP(time), RD_KAFKA_V_END);
    rd_kafka_flush(producer, 10000);
  }

  std::string address(const std::string &parameters) const {
    return std::string("kafka://") + rd_kafka_mock_cluster_bootstraps(cluster) +
           "/clicks?" + parameters;
  }

  static std::unique_ptr<KafkaRows> open(const std::string &address) {
    auto rows = KafkaRows::open(address, nullptr);
    EXPECT_TRUE(rows.ok()) << rows.status().message();
    return rows ? *std::move(rows) : nullptr;
  }

  /// Reads up to `count` rows. Their error, if there is one, is the last row.
  static std::vector<std::string> read(KafkaRows &rows, size_t count = 1000) {
    std::vector<std::string> all;
    while (all.size() < count) {
      std::string_view row;
      auto more = rows.next(row);
      if (!more.ok() || !*more) {
        if (!more.ok())
          all.emplace_back(more.status().message());
        break;
      }
      all.emplace_back(row);
    }
    return all;
  }
  std::vector<std::string> rowsOf(const std::string &parameters,
                                  size_t count = 1000) const {
    return read(*open(address(parameters)), count);
  }

private:
  rd_kafka_t *owner, *producer;
  rd_kafka_mock_cluster_t *cluster;
};

} // namespace

TEST_F(KafkaRowsTest, ReadsTheLinesOfMessages) {
  send(0, "a\nb\r\nc\n", 1000);
  send(0, std::nullopt, 2000);
  send(0, "", 3000);
  send(0, "d", 4000);
  auto rows = open(address("partitions=0&end=end"));
  std::vector<std::string> places;
  std::vector<RowPlace> following;
  for (std::string_view row; *rows->next(row);) {
    const std::string place = rows->placeText();
    places.push_back(std::string(row) + place.substr(place.rfind('[')));
    following.push_back(rows->following());
  }
  EXPECT_THAT(places,
              ElementsAre("a[0]@0", "b[0]@0.2", "c[0]@0.3", "[0]@2", "d[0]@3"));
  EXPECT_EQ(following[0].byte, 1);
  EXPECT_EQ(following[0].line, 2);
  EXPECT_EQ(following[2].byte, 2);
  EXPECT_EQ(following[2].line, 1);
  // Each place continues with the next row.
  ASSERT_TRUE(*rows->moveTo(following[0]));
  EXPECT_THAT(read(*rows), ElementsAre("b", "c", "", "d"));
  ASSERT_TRUE(*rows->moveTo(following[3]));
  EXPECT_THAT(read(*rows), ElementsAre("d"));
}

TEST_F(KafkaRowsTest, ReadsMessagesWhoseRowsTheCallerFinds) {
  send(0, "first", 1000);
  send(0, std::nullopt, 2000);
  send(0, "none", 3000);
  send(0, "last", 4000);
  auto rows = open(address("partitions=0&end=end"));
  std::string_view bytes;
  int64_t passed = -1;
  ASSERT_TRUE(*rows->nextMessage(bytes, passed));
  EXPECT_EQ(bytes, "first");
  EXPECT_EQ(passed, 0);
  // Until rows are taken, the message is read again.
  EXPECT_EQ(rows->following().byte, 1);
  EXPECT_EQ(rows->following().line, 1);
  rows->takeRows(2, 5);
  EXPECT_THAT(rows->placeText(), testing::EndsWith("[0]@0.2"));
  EXPECT_EQ(rows->current().line, 2);
  const RowPlace within = rows->following();
  EXPECT_EQ(within.byte, 1);
  EXPECT_EQ(within.line, 3);
  rows->takeRows(5, 5);
  EXPECT_EQ(rows->following().byte, 2);
  EXPECT_EQ(rows->following().line, 1);
  ASSERT_TRUE(*rows->nextMessage(bytes, passed));
  EXPECT_EQ(bytes, "none");
  rows->takeRows(0, 0);
  EXPECT_EQ(rows->following().byte, 4);
  ASSERT_TRUE(*rows->nextMessage(bytes, passed));
  EXPECT_EQ(bytes, "last");
  rows->takeRows(1, 1);
  EXPECT_FALSE(*rows->nextMessage(bytes, passed));
  // A place within a message.
  ASSERT_TRUE(*rows->moveTo(within));
  ASSERT_TRUE(*rows->nextMessage(bytes, passed));
  EXPECT_EQ(bytes, "first");
  EXPECT_EQ(passed, 2);
  EXPECT_EQ(rows->following().line, 3);
}

TEST_F(KafkaRowsTest, StartsAndEndsWhereTheAddressSays) {
  for (int i = 0; i < 20; ++i)
    send(1, std::to_string(i), 1000 + 10 * i);
  EXPECT_THAT(rowsOf("partitions=1&start=offset:17&end=end"),
              ElementsAre("17", "18", "19"));
  EXPECT_THAT(rowsOf("partitions=1&end=offset:2"), ElementsAre("0", "1"));
  EXPECT_THAT(rowsOf("partitions=1&start=timestamp:1165&end=timestamp:1180"),
              ElementsAre("17"));
  EXPECT_THAT(rowsOf("partitions=1&start=timestamp:1170&end=timestamp:1171"),
              ElementsAre("17"));
  EXPECT_THAT(rowsOf("partitions=1&start=timestamp:5000&end=end"), IsEmpty());
  EXPECT_THAT(rowsOf("partitions=1&start=offset:5&end=offset:5"), IsEmpty());
  // An end in the past that no message has reached.
  EXPECT_THAT(
      rowsOf("partitions=1&start=offset:19&end=timestamp:9000&idle=1ms"),
      ElementsAre("19"));
  EXPECT_THAT(rowsOf("partitions=2&end=end"), IsEmpty());
}

TEST_F(KafkaRowsTest, ReadsPartitionsInOrderOfTime) {
  send(0, "a", 1000);
  send(0, "d", 4000);
  send(1, "b", 2000);
  send(1, "late", 500);
  send(1, "e", 4000);
  send(2, "c", 3000);
  auto rows = open(address("partitions=0-2&idle=1ms"));
  std::string_view row;
  const std::vector<std::string> expected = {"a", "b", "late", "c", "d", "e"};
  std::vector<std::vector<KafkaPlace>> places;
  for (const std::string &each : expected) {
    places.push_back(rows->places());
    ASSERT_TRUE(*rows->next(row));
    EXPECT_EQ(row, each);
  }
  EXPECT_EQ(*rows->sample(), (int64_t(1) << 40) + 2);
  // The time of a place is that of the newest message before it.
  EXPECT_EQ(places[3],
            (std::vector<KafkaPlace>{{1, 1, 1000}, {2, 1, 2000}, {}}));
  // Reading continues in the same way from each place.
  for (size_t i = 1; i < expected.size(); ++i) {
    const auto joined = joinKafkaAddresses({address("partitions=0&idle=1ms"),
                                            address("partitions=1&idle=1ms"),
                                            address("partitions=2&idle=1ms")},
                                           places[i]);
    ASSERT_TRUE(joined.ok()) << joined.status().message();
    EXPECT_EQ(read(*open(*joined), expected.size() - i),
              std::vector(expected.begin() + int64_t(i), expected.end()));
  }
}

TEST_F(KafkaRowsTest, GivesEachRowOfAMessageItsOwnSample) {
  send(1, "a\nb\nc", 1000);
  send(1, "d\ne", 2000);
  auto rows = open(address("partitions=1&idle=1ms"));
  std::string_view row;
  std::vector<int64_t> samples;
  while (samples.size() < 5) {
    ASSERT_TRUE(*rows->next(row));
    samples.push_back(*rows->sample());
  }
  constexpr int64_t partition = int64_t(1) << 40;
  EXPECT_EQ(samples[0], partition);
  EXPECT_EQ(samples[3], partition + 1);
  for (size_t i = 0; i < samples.size(); ++i) {
    EXPECT_EQ(fileOfSample(samples[i]), 1);
    EXPECT_EQ(std::ranges::count(samples, samples[i]), 1);
  }
  // Rows that the caller finds have the numbers of lines.
  auto messages = open(address("partitions=1&idle=1ms"));
  int64_t passed = 0;
  ASSERT_TRUE(*messages->nextMessage(row, passed));
  EXPECT_EQ(*messages->sample(), samples[0]);
  messages->takeRows(2, 3);
  EXPECT_EQ(*messages->sample(), samples[1]);
}

TEST_F(KafkaRowsTest, WaitsForAnEmptyPartitionOnlyBriefly) {
  const auto nowMs = std::chrono::duration_cast<std::chrono::milliseconds>(
                         std::chrono::system_clock::now().time_since_epoch())
                         .count();
  // A timestamp in the future is not waited for.
  send(0, "a", nowMs + 3600000);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(rowsOf("partitions=0-1&idle=700ms", 1), ElementsAre("a"));
  EXPECT_GE(std::chrono::steady_clock::now() - begin,
            std::chrono::milliseconds(700));
}

TEST_F(KafkaRowsTest, ReportsMessagesThatWereRemoved) {
  // The broker keeps 5 MiB of a partition.
  for (int i = 0; i < 9; ++i)
    send(0, std::string(900000, char('a' + i)), 1000);
  const std::string error =
      rowsOf("partitions=0&start=offset:0&end=offset:9").back();
  EXPECT_THAT(error, HasSubstr("reading continues at offset 0, but the broker "
                               "has offsets"));
  EXPECT_THAT(error, HasSubstr("missing=skip"));
  const std::vector<std::string> left =
      rowsOf("partitions=0&start=offset:0&end=offset:9&missing=skip");
  ASSERT_FALSE(left.empty());
  EXPECT_LT(left.size(), 9u);
  EXPECT_EQ(left.back(), std::string(900000, 'i'));
  EXPECT_THAT(rowsOf("partitions=0&start=offset:99&end=offset:100").back(),
              HasSubstr("the topic is another one, or was created anew"));
}

TEST_F(KafkaRowsTest, CountsLagAndEventTime) {
  for (int i = 0; i < 10; ++i)
    send(2, "x", 5000 + i);
  auto rows = open(address("partitions=2"));
  EXPECT_EQ(read(*rows, 4).size(), 4u);
  const auto valueOf = [](const std::string &name) {
    for (const auto &family : processMetrics().collect())
      if (family.info.name == name)
        for (const MetricValue &value : family.values)
          if (value.labels == std::vector<std::string>{"2", "clicks"})
            return value.value();
    return -1.0;
  };
  EXPECT_GE(valueOf("pdl_data_kafka_messages_total"), 4);
  EXPECT_EQ(valueOf("pdl_data_kafka_next_offset"), 4);
  EXPECT_EQ(valueOf("pdl_data_kafka_high_watermark"), 10);
  EXPECT_EQ(valueOf("pdl_data_kafka_lag_messages"), 6);
  EXPECT_EQ(valueOf("pdl_data_kafka_event_time_seconds"), 5.003);
}

TEST_F(KafkaRowsTest, ExpandsATopicIntoItsPartitions) {
  send(1, "x", 1000);
  const auto files = expandKafkaAddress(address("end=end"));
  ASSERT_TRUE(files.ok()) << files.status().message();
  std::vector<int64_t> ends;
  for (const std::string &file : *files)
    ends.push_back(KafkaAddress::parse(file)->end.value);
  EXPECT_THAT(ends, ElementsAre(0, 1, 0));
  EXPECT_THAT(
      expandKafkaAddress(address("partitions=2,3&end=end")).status().message(),
      HasSubstr("clicks[3]: the topic has no such partition"));
}
