//===- KafkaAddressTest.cpp - Addresses of topics of Kafka ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/KafkaAddress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

using namespace pdlrt;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using Kind = KafkaBound::Kind;

namespace {

KafkaAddress parsed(const std::string &text) {
  auto address = KafkaAddress::parse(text);
  EXPECT_TRUE(address.ok()) << text << ": " << address.status().message();
  return address ? *address : KafkaAddress();
}

std::string errorOf(const std::string &text) {
  return KafkaAddress::parse(text).status().message();
}

} // namespace

TEST(KafkaAddress, HasDefaults) {
  const KafkaAddress address = parsed("kafka://one:9092,two:9093/clicks");
  EXPECT_EQ(address.brokers, "one:9092,two:9093");
  EXPECT_EQ(address.topic, "clicks");
  EXPECT_THAT(address.partitions, IsEmpty());
  EXPECT_EQ(address.start, KafkaBound{Kind::Beginning});
  EXPECT_EQ(address.end, KafkaBound{Kind::None});
  EXPECT_EQ(address.name(), "kafka://one:9092,two:9093/clicks");
  EXPECT_FALSE(kafkaHasEnd("kafka://one:9092/clicks"));
  EXPECT_FALSE(isKafkaAddress("clicks.csv"));
}

TEST(KafkaAddress, ReadsItsOwnText) {
  const std::string text =
      "kafka://b:1/clicks?partitions=7,0-2&start=timestamp:2026-11-30T12:00:00Z"
      "&end=offset:9&format=csv&idle=2s&deadline=5min&missing=skip"
      "&fetch.wait.max.ms=10&config=file&at=5.2,-,0,7.1.900";
  for (const std::string &each : {text, parsed(text).text()}) {
    const KafkaAddress address = parsed(each);
    EXPECT_THAT(address.partitions, ElementsAre(0, 1, 2, 7));
    EXPECT_EQ(address.start, (KafkaBound{Kind::Time, 1796040000000}));
    EXPECT_EQ(address.end, (KafkaBound{Kind::Offset, 9}));
    EXPECT_EQ(address.format, "csv");
    EXPECT_EQ(address.idleMs, 2000);
    EXPECT_EQ(address.deadlineMs, 300000);
    EXPECT_TRUE(address.skipsMissing);
    EXPECT_EQ(address.configFile, "file");
    EXPECT_THAT(address.properties,
                ElementsAre(Pair("fetch.wait.max.ms", "10")));
    EXPECT_THAT(address.places,
                ElementsAre(KafkaPlace{5, 2}, KafkaPlace{}, KafkaPlace{0, 1},
                            KafkaPlace{7, 1, 900}));
    EXPECT_EQ(address.name(), "kafka://b:1/clicks[0,1,2,7]");
  }
  EXPECT_EQ(kafkaIdentity(text), "clicks[0,1,2,7]");
  EXPECT_EQ(kafkaFormat(text), "csv");
  EXPECT_TRUE(kafkaHasEnd(text));
}

TEST(KafkaAddress, NamesThePartThatIsWrong) {
  const std::pair<std::string, std::string> cases[] = {
      {"kafka://b:1", "is no address of a topic"},
      {"kafka:///clicks", "is no address of a topic"},
      {"kafka://b:1/a b", "characters that Kafka does not allow"},
      {"kafka://b:1/c?start", "`start` has no value"},
      {"kafka://b:1/c?start=never", "start: 'never' is no place"},
      {"kafka://b:1/c?end=beginning", "end: 'beginning' is no place"},
      {"kafka://b:1/c?start=offset:-1", "start: "},
      {"kafka://b:1/c?end=timestamp:2026-13-01T00:00:00Z", "is no time"},
      {"kafka://b:1/c?end=timestamp:2026-02-30T00:00:00Z", "is no time"},
      {"kafka://b:1/c?partitions=0-3,2", "names a partition twice"},
      {"kafka://b:1/c?partitions=3-1", "partitions: "},
      {"kafka://b:1/c?idle=5", "'5' is no duration"},
      {"kafka://b:1/c?missing=maybe", "neither fail nor skip"},
      {"kafka://b:1/c?offset=5", "offset: it is unknown"},
      {"kafka://b:1/c?group.id=5", "is set by PDL"},
      {"kafka://b:1/c?partitions=1&at=7.1.2.3", "is no place"},
      {"kafka://b:1/c?partitions=1,2&at=7", "at= has 1 places"}};
  for (const auto &[text, part] : cases)
    EXPECT_THAT(errorOf(text), HasSubstr(part)) << text;
}

TEST(KafkaAddress, RefusesSecretsWithoutRepeatingThem) {
  for (const std::string name :
       {"sasl.password", "ssl.key.password", "ssl.key.pem",
        "sasl.oauthbearer.client.secret"}) {
    const std::string error = errorOf("kafka://b:1/c?" + name + "=hidden");
    EXPECT_THAT(error, HasSubstr("config=FILE"));
    EXPECT_THAT(error, testing::Not(HasSubstr("hidden")));
  }
}
