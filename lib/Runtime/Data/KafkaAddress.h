//===- KafkaAddress.h - Addresses of topics of Kafka ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An entry of --data such as
//
//   kafka://host:9092,host2:9092/clicks?partitions=0-3&start=offset:100&end=end
//
// names partitions of a topic of Kafka. Each partition acts like one file.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_KAFKAADDRESS_H
#define LIB_RUNTIME_DATA_KAFKAADDRESS_H

#include "pdlrt/Core/Status.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace pdlrt {

/// A place in a partition at which reading starts or ends.
struct KafkaBound {
  enum class Kind {
    None,      ///< As an end: never.
    Beginning, ///< The first message that the broker has.
    End,       ///< The end of the partition when it is opened.
    Offset,    ///< The offset `value`.
    Time,      ///< The first message with timestamp `value` or later.
  };
  Kind kind = Kind::None;
  /// Offset, or milliseconds since 1970.
  int64_t value = 0;
  bool operator==(const KafkaBound &) const = default;
};

/// The place of a row in a partition.
struct KafkaPlace {
  int64_t offset = -1; ///< Offset of its message; -1: the start of the address.
  int64_t line = 1;    ///< Number of its line or row in the message, from 1.
  /// Highest timestamp of the messages before it that were read, in
  /// milliseconds since 1970; 0: not known.
  int64_t time = 0;
  bool operator==(const KafkaPlace &) const = default;
};

/// A reader that may read partitions of a topic. Second base class of record
/// readers.
class PartitionReader {
public:
  virtual ~PartitionReader() = default;
  /// Returns the place after the rows that were read, for each partition; none
  /// for files.
  virtual std::vector<KafkaPlace> places() const = 0;
};

/// A parsed address. It has no secrets, because these are in `configFile`.
struct KafkaAddress {
  /// Addresses of brokers, separated by commas.
  std::string brokers;
  std::string topic;
  /// Ascending. Empty: all partitions of the topic.
  std::vector<int32_t> partitions;
  /// If not empty: the place at which each of `partitions` starts, instead of
  /// `start`.
  std::vector<KafkaPlace> places;
  KafkaBound start{KafkaBound::Kind::Beginning};
  KafkaBound end;
  /// Format of the messages: a value of --format whose rows are lines, or
  /// `arrow`. Empty: --format and --delimiter decide.
  std::string format;
  /// File with further properties of librdkafka, `name=value` on each line.
  /// Empty: none.
  std::string configFile;
  /// Properties of librdkafka.
  std::vector<std::pair<std::string, std::string>> properties;
  /// Maximum time for which a message waits for earlier messages of partitions
  /// that have no message.
  int64_t idleMs = 1000;
  /// Maximum time without an answer of a broker.
  int64_t deadlineMs = 300000;
  /// True if messages that retention has removed are skipped.
  bool skipsMissing = false;

  /// Parses an address. An error names the part that is wrong.
  static Expected<KafkaAddress> parse(const std::string &text);
  /// Returns the address as text, which `parse` accepts.
  std::string text() const;
  /// Returns the brokers and the topic, such as "kafka://host:9092/clicks".
  std::string topicName() const;
  /// Returns the name in messages, such as "kafka://host:9092/clicks[3]".
  std::string name() const;
};

/// Returns true if an entry of --data is such an address.
bool isKafkaAddress(const std::string &path);

/// Returns the name in messages of an address; the text itself if it cannot be
/// parsed.
std::string kafkaName(const std::string &address);

/// Returns the topic and the partitions, such as "clicks[3]". They identify the
/// data wherever the brokers are.
std::string kafkaIdentity(const std::string &address);

/// Returns true if the address has an end, so that reading ends there.
bool kafkaHasEnd(const std::string &address);

/// Returns the format that the address names; empty: none.
std::string kafkaFormat(const std::string &address);

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_KAFKAADDRESS_H
