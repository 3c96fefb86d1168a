//===- KafkaRows.h - The rows of partitions of a topic ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each line of a message is a row, or the caller finds the rows of each
// message. The rows of a partition are in the order of its offsets. If an
// address names several partitions, the next message is the one with the lowest
// timestamp among the next messages of all partitions; if timestamps are equal,
// that of the partition with the lowest number. So the order depends on the
// messages alone as long as all partitions have a next message. A partition
// without one is waited for until the earliest message is older than
// `KafkaAddress::idleMs`.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_KAFKAROWS_H
#define LIB_RUNTIME_DATA_KAFKAROWS_H

#include "Data/KafkaClient.h"
#include "Data/RecordReader.h"

#include <compare>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pdlrt {

class KafkaMetrics;

/// Returns one address for each partition of `address`. If the address names no
/// partitions, asks the brokers for them. Replaces `end=end` by the offset at
/// which the partition ends now. Returns an error if the topic lacks a named
/// partition.
Expected<std::vector<std::string>>
expandKafkaAddress(const std::string &address);

/// Returns one address for several partitions. `addresses`: results of one call
/// of `expandKafkaAddress`. `places`: the place at which each starts.
Expected<std::string>
joinKafkaAddresses(const std::vector<std::string> &addresses,
                   std::vector<KafkaPlace> places);

/// Reads the rows of the partitions of an address. A place (`RowPlace`) has the
/// offset of a message plus 1 as its byte, and the line in that message. Not
/// thread-safe.
class KafkaRows {
public:
  /// Prepares reading. Brokers are not contacted yet.
  static Expected<std::unique_ptr<KafkaRows>> open(const std::string &address,
                                                   ReadWait *wait);
  ~KafkaRows();

  /// Moves to the next row, whose bytes are valid until the next call. Returns
  /// false at the end of all partitions. After an error with
  /// `ReadWait::isLate`, the next call searches for the same row.
  Expected<bool> next(std::string_view &row);
  /// Moves to the next message that has content, for messages whose rows are
  /// not lines. `passed`: the number of its rows that were read before.
  /// `takeRows` reports its further rows. Otherwise like `next`, instead of
  /// which it is called.
  Expected<bool> nextMessage(std::string_view &bytes, int64_t &passed);
  /// Makes row `number`, from 1, the current one. The message has `count` rows.
  /// If it has none, `number` is 0.
  void takeRows(int64_t number, int64_t count);
  /// Return the places of the current row and of the row after it in its
  /// partition.
  RowPlace current() const { return currentPlace; }
  RowPlace following() const;
  /// Continues at a place of the only partition. Returns false if there is no
  /// such place.
  Expected<bool> moveTo(const RowPlace &place);

  /// Returns the place after the rows that were read, for each partition.
  std::vector<KafkaPlace> places() const;
  /// Returns the sample number (pdl_draws) of the current row if the address
  /// has no end; otherwise none. It is made of the partition, the offset and
  /// the row's number in the message, so it does not depend on the process that
  /// reads the partition. If no row was taken, returns that of the first row.
  std::optional<int64_t> sample() const;
  /// Returns the place of the current row in messages, such as
  /// "kafka://host:9092/clicks[3]@1234".
  std::string placeText() const;

private:
  struct Partition {
    int32_t number = 0;
    KafkaPlace place;       ///< Of the next row.
    int64_t offset = -1;    ///< Of the next message.
    int64_t skipsLines = 0; ///< Lines of the next message that were read.
    std::optional<int64_t> endOffset;
    bool isDone = false;
    bool isAtEnd = false; ///< The broker has no further message now.
    std::unique_ptr<KafkaClient::Fetch> fetch;
    /// Messages that have arrived; those before `nextMessage` are null.
    std::vector<rd_kafka_message_t *> messages;
    size_t nextMessage = 0;
    int64_t arrival = 0; ///< Time at which they arrived.
    std::unique_ptr<KafkaMetrics> metrics;

    rd_kafka_message_t *head() const {
      return nextMessage < messages.size() ? messages[nextMessage] : nullptr;
    }
  };

  KafkaRows() = default;
  Status prepare(Partition &partition);
  Expected<int64_t> startOf(int32_t partition);
  Status receive(Partition &partition);
  Status handleError(Partition &partition, const rd_kafka_message_t &message);
  Status findMissing(Partition &partition);
  void checkEnd(Partition &partition) const;
  Status receiveWaiting();
  int64_t remainingWait() const;
  Expected<Partition *> choose();
  void beginMessage(Partition &partition);
  Status beginLines();
  bool takeLine(std::string_view &row);
  void drop(Partition &partition);

  std::unique_ptr<KafkaClient> client;
  /// Ascending by number. Does not change, so pointers to partitions are valid.
  std::vector<Partition> partitions;
  /// A partition that has a next message, which has timestamp `time`.
  struct Ready {
    int64_t time;
    Partition *partition;
    auto operator<=>(const Ready &) const = default;
  };
  /// Heap with the partition of the next message at its front: that with the
  /// lowest time, or of several the first one.
  std::vector<Ready> ready;
  /// Partitions without a next message that have not reached their end.
  std::vector<Partition *> waiting;
  /// The current message, its remaining lines, and its partition.
  rd_kafka_message_t *message = nullptr;
  Partition *active = nullptr;
  std::string_view lines;
  bool hasLines = false;
  int64_t line = 0; ///< Number of the current line in the message, from 1.
  RowPlace currentPlace;
  int64_t currentOffset = -1;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_KAFKAROWS_H
